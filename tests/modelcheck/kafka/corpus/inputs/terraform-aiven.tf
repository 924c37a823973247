resource "aiven_kafka_topic" "orders" {
  project      = "p"
  service_name = "kafka"
  topic_name   = "orders"
  partitions   = 3
  replication  = 2
  config {
    min_insync_replicas = 1
  }
}
