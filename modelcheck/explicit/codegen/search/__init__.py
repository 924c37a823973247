"""Steps, properties and the state table → the kernel of a search."""
