"""Machine code: compiled, cached, loaded, and replaced by better code during a search."""
