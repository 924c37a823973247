"""The files of deployment tools → settings of brokers, topics and clients."""
