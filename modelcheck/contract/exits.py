"""The exit codes of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of commands."""

    EXPECTED = 0  # everything is as expected
    VIOLATED = 1  # a property is violated, or an expectation is not met
    WRONG = 2  # the input is wrong, or what is asked for cannot be written
    UNKNOWN = 3  # unknown, out of budget, or interrupted
    BUG = 70  # a bug in modelcheck


WORST_FIRST = (Exit.BUG, Exit.VIOLATED, Exit.WRONG, Exit.UNKNOWN, Exit.EXPECTED)


def worst(codes: Iterable[int]) -> Exit:
    """The worst of the exit codes."""
    found = set(codes)
    return next(code for code in WORST_FIRST if code in found)
