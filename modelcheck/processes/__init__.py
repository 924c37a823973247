"""Other processes, signals, memory, and limits that hold whatever is running."""
