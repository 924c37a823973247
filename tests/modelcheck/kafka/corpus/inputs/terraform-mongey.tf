resource "kafka_topic" "orders" {
  name               = "orders"
  replication_factor = 3
  partitions         = 12
  config = {
    "min.insync.replicas" = "2"
  }
}
