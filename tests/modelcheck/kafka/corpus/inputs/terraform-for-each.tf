locals {
  topics = {
    orders = { partitions = 6, replication_factor = 3, config = { "min.insync.replicas" = "2" } }
    clicks = { partitions = 3, replication_factor = 1, config = {} }
  }
}
resource "kafka_topic" "all" {
  for_each           = local.topics
  name               = each.key
  partitions         = each.value.partitions
  replication_factor = each.value.replication_factor
  config             = each.value.config
}
