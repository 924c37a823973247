"""What an editor wants to know of a text that is being written: what stands where, and what could."""
