"""`modelcheck check`: its arguments, its questions, its cards and its files."""
