"""Types and values → bit fields, and the code that reads and writes them."""
