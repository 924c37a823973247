variable "server_properties" {
  default = <<EOT
default.replication.factor=3
min.insync.replicas=2
EOT
}
resource "aws_msk_configuration" "c" {
  kafka_versions    = ["3.6.0"]
  server_properties = var.server_properties
}
