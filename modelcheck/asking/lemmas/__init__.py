"""The lemmas of a proof for every scope, found instead of written."""
