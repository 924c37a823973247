"""A syntax tree → the text as `modelcheck fmt` writes it."""
