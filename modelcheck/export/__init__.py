"""A model as a text for somebody else's checker: one target, one module (and its parts)."""
