resource "helm_release" "kafka" {
  name  = "kafka"
  chart = "kafka"
  set {
    name  = "defaultReplicationFactor"
    value = "3"
  }
}
