await producer.send({
  topic: 'orders',
  acks: 1,
  messages: [{ value: 'x' }],
})
