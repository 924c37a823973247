"""The different ways in which a property is violated."""
