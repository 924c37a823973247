"""The safety frontier: how many faults each of many configurations survives, and which are better."""
