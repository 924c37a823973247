resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 3
  replication_factor = 3
  config             = merge(local.base, { "min.insync.replicas" = "1" })
}
