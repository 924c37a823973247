"""Which sentences of textbooks are true, by searches of the protocols that come with it."""
