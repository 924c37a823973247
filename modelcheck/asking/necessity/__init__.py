"""Which parts of a protocol its checks need."""
