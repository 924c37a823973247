"""The commands about the protocols that come with modelcheck."""
