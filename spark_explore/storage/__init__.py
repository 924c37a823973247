"""What a search keeps on disk: states in pieces, and how far it came."""
