"""The keys of Kafka: their types, defaults by release, and whether they decide the answer."""
