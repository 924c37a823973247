#!/bin/sh
for topic in orders payments; do
  kafka-topics.sh --bootstrap-server kafka:9092 --create --topic "$topic" --replication-factor 2
done
