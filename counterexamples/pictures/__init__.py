"""Pictures of a run: drawn once without a format, then in each format."""
