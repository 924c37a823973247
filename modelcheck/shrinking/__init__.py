"""Smaller runs that show the same."""
