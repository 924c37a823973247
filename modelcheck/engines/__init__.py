"""Two engines on one task."""
