#!/bin/sh
RF="${RF:-3}"
kafka-topics.sh --bootstrap-server kafka:9092 --create --topic orders --replication-factor "$RF" --config "min.insync.replicas=$MIN"
