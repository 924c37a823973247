"""A cluster that runs, asked by Kafka's admin protocol → readings like those of files. It is only read."""
