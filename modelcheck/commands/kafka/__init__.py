"""The commands about Kafka: arguments → printed answers."""
