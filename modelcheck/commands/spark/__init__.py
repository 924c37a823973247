"""The commands about runs on Spark: a run's place or options of Spark → lines of text."""
