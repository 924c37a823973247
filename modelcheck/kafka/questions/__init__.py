"""Settings → a model of one partition, the searches about it, and their answers."""
