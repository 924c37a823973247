"""Configuration files → the settings of a topic, each with its origin, and the behaviour they cause."""
