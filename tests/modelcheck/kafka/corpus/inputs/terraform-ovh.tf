resource "ovh_cloud_project_database_kafka_topic" "orders" {
  service_name        = "s"
  cluster_id          = "c"
  name                = "orders"
  min_insync_replicas = 1
  partitions          = 3
  replication         = 2
}
