#!/usr/bin/env bash
set -euo pipefail

# kafka-topics --create --topic old --replication-factor 1
docker compose exec kafka1 kafka-topics --create --if-not-exists \
  --bootstrap-server kafka1:9092 \
  --topic orders \
  --replication-factor 3 \
  --partitions 12 \
  --config "min.insync.replicas=2"
kafka-configs.sh --bootstrap-server kafka1:9092 --alter --entity-type topics --entity-name orders \
  --add-config unclean.leader.election.enable=true,retention.ms=60000
