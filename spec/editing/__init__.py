"""What an editor wants to know of a text that is being written: what is where, and what could be."""
