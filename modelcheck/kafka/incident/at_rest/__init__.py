"""`modelcheck at-rest`: what the directories of stopped brokers hold, and in which order to start them."""
