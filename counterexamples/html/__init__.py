"""Runs as one self-contained page: a stepper, the picture, the text of the model, and no network."""
