"""From the surface tree to the IR: names, types, expressions, statements, checks."""
