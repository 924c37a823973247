"""A run of the model of Kafka, driven on a real cluster on this machine."""
