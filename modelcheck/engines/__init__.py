"""The engines by name, and two of them on one task."""
