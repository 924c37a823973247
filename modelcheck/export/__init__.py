"""A model as a text for another checker: one target, one module (and its parts)."""
