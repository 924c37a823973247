resource "helm_release" "kafka" {
  name  = "kafka"
  chart = "kafka"
  values = [<<EOT
extraConfigYaml:
  default.replication.factor: 3
  min.insync.replicas: 2
EOT
  ]
}
