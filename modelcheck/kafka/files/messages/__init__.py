"""The log lines of brokers and controllers: text → typed messages."""
