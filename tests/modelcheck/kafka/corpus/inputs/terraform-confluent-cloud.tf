resource "confluent_kafka_topic" "orders" {
  topic_name       = "orders"
  partitions_count = 6
  config = {
    "min.insync.replicas" = "2"
  }
}
