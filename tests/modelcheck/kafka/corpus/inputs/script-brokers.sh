#!/bin/sh
kafka-topics.sh --bootstrap-server kafka:9092 --create --topic orders --replication-factor 2
kafka-configs.sh --bootstrap-server kafka:9092 --alter --entity-type brokers --entity-default --add-config 'min.insync.replicas=2'
