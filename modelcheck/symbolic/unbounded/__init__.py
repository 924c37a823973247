"""Proofs for every scope at once: any number of members, any bound, runs of any length."""
