"""The files of stopped brokers → what is lost, which broker to start first, and how it came to that."""
