module "topics" {
  source = "./modules/kafka-topics"
  topics = {
    orders = { partitions = 6, replication_factor = 2 }
  }
}
