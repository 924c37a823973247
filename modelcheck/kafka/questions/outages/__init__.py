"""What works while brokers are down, and again when they are back."""
