"""A model within a scope in LLVM IR: packed states, expressions, steps, loops of a search."""
