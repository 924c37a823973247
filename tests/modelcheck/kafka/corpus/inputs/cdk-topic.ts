new KafkaTopic(this, 'Orders', {
  topicName: 'orders',
  partitions: 6,
  replicationFactor: 2,
});
