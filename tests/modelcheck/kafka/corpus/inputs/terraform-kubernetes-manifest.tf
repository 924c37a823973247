resource "kubernetes_manifest" "topic" {
  manifest = {
    apiVersion = "kafka.strimzi.io/v1beta2"
    kind       = "KafkaTopic"
    metadata   = { name = "orders", namespace = "kafka" }
    spec       = { partitions = 3, replicas = 3, config = { "min.insync.replicas" = "2" } }
  }
}
