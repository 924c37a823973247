variable "topics" {
  default = {
    orders = { partitions = 6, replication_factor = 2 }
  }
}
module "kafka_topics" {
  source = "./topics"
  topics = var.topics
}
