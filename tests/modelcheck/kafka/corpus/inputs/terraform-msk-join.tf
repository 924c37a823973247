resource "aws_msk_configuration" "c" {
  kafka_versions = ["3.6.0"]
  server_properties = join("\n", [
    "default.replication.factor=3",
    "min.insync.replicas=2",
  ])
}
