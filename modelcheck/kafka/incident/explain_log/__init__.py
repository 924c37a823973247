"""`modelcheck explain-log`: the run of the model of Kafka that explains what brokers left in their files."""
