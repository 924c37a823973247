"""Syntax alone: text → trees of values with their places."""
