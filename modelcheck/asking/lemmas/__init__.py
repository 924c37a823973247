"""Lemmas that a proof for every scope needs, found instead of written."""
