"""The text of a model file → its syntax tree, every part with its place."""
