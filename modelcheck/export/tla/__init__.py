"""TLA+, for TLC: the model as a module that reads like it."""
