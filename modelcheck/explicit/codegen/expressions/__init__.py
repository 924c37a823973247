"""Expressions → machine code."""
