"""What a partition that is not well can lose from the state that it is in, and the ways out of that state."""
