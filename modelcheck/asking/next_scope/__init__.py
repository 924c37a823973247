"""The same checks with each bound of their scope one larger."""
