"""`modelcheck kafka explain-log`: files of brokers → the run of the model of Kafka that explains them."""
