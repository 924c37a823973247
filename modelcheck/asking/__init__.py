"""Ways to ask: which models and checks, with what changed, and many questions at once."""
