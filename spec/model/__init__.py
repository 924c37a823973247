"""A protocol as engines see it: declarations, types, expressions, statements, and walks through them."""
