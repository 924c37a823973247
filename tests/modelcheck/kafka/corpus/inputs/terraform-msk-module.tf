module "msk_kafka_cluster" {
  source                 = "terraform-aws-modules/msk-kafka-cluster/aws"
  name                   = "prod"
  kafka_version          = "3.5.1"
  number_of_broker_nodes = 3
  configuration_server_properties = {
    "auto.create.topics.enable"      = true
    "default.replication.factor"     = 2
    "min.insync.replicas"            = 1
    "unclean.leader.election.enable" = true
  }
}
