"""What is read and written: streams, files that people name, and what is kept for later runs."""
