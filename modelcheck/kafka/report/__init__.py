"""A review → text, a page, JSON, SARIF and JUnit."""
