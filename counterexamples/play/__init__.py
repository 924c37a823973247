"""A page in which a model can be played: its state as a picture, its steps as buttons."""
