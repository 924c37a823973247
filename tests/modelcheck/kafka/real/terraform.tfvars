kafka_version       = "2.6.2"
kafka_broker_number = 2
kafka_custom_config_auto_create_topics         = true
kafka_custom_config_default_replication_factor = 2
kafka_custom_config_min_insync_replicas        = 1
