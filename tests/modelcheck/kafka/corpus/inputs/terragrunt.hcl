terraform {
  source = "git::https://example.com/msk.git"
}
inputs = {
  kafka_version = "3.5.1"
  server_properties = {
    "default.replication.factor" = "2"
  }
}
