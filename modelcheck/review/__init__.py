"""Reviewing a Kafka configuration: what its files say, and what that makes Kafka do."""
