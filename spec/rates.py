"""Rates: how often something happens by chance, in units of time."""

from __future__ import annotations

DAY = 86_400.0
YEAR = 365.25 * DAY
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": DAY, "y": YEAR}  # in seconds
