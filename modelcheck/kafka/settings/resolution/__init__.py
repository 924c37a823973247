"""Readings → one value for each setting, by Kafka's precedence."""
