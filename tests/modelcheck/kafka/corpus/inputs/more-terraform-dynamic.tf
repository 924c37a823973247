resource "aws_msk_configuration" "c" {
  kafka_versions    = ["3.6.0"]
  server_properties = templatefile("server.properties.tpl", { rf = 3 })
}
