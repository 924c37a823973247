"""Machine code: compiled, kept, loaded, and made better while a search goes on."""
