"""Rates: how often something happens by chance, in units of time."""

from __future__ import annotations

from spec.frozen import frozen
from spec.source import Node

DAY = 86_400.0
YEAR = 365.25 * DAY
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": DAY, "y": YEAR}  # in seconds


@frozen
class Rate(Node):
    """The rate of a fault or repair: `times` in `every` units of time, for each choice of parameters.

    Only questions about time look at it: a search takes any step at any moment.
    """

    action: str
    times: int
    every: int
    unit: str
