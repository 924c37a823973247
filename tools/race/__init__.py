"""One machine, every checker: how fast each searches it and how much memory it takes."""
