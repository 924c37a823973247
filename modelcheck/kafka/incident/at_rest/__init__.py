"""`modelcheck kafka inspect`: the log directories of stopped brokers → their state, and a start order."""
