resource "kafka_topic" "one" {
  name               = "my-topic"
  partitions         = 3
  replication_factor = 1

  config = {
    "retention.ms" = "86400000"
  }
}
