resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 3
  replication_factor = var.env == "prod" ? 3 : 1
}
