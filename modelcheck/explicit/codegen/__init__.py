"""A model within a scope in LLVM's language: packed states, expressions, steps, loops of a search."""
