"""Kafka: from what its configurations, brokers and logs say to what a cluster can lose."""
