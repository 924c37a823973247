"""A model and a state → the steps that are possible, the states after them, and what is true there."""
