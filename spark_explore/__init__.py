"""The same search on many workers; nothing runs here yet (see README.md)."""
