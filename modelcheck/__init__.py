"""Does the property hold?  Engines, what runs on them, and the command line; begin with `modelcheck.api`."""
