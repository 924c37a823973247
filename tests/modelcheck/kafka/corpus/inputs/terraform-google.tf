resource "google_managed_kafka_topic" "orders" {
  topic_id           = "orders"
  cluster            = "c"
  partition_count    = 2
  replication_factor = 3
  configs = {
    "min.insync.replicas" = "1"
  }
}
