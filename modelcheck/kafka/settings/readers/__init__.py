"""One configuration file → a reading: its settings, topics and facts, each with its place."""
