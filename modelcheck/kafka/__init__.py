"""Kafka: the losses that a cluster's configurations, files and logs allow."""
