resource "digitalocean_database_kafka_topic" "orders" {
  cluster_id         = "c"
  name               = "orders"
  partition_count    = 3
  replication_factor = 2
  config {
    min_insync_replicas = 2
  }
}
