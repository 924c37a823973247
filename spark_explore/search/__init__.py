"""The fault-layered search, each level a job of Spark."""
