"""A model and a scope → the layout of a state, and its canonical form under renaming."""
