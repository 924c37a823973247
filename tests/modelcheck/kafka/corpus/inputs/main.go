config := sarama.NewConfig()
config.Producer.RequiredAcks = sarama.WaitForLocal
