"""Amounts as people type them: 5M states, 90 seconds, 4G of memory."""

from __future__ import annotations

import argparse

MOST_THREADS = 256
MOST_WAYS = 1_000


def count(text: str) -> int:
    """Parse a number such as 20000 or 5M.

    >>> count("20000"), count("5M")
    (20000, 5000000)
    """
    return int(_scaled(text, {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}, "a number above 0, such as 20000 or 5M"))


def threads(text: str) -> int:
    """Parse a number of threads."""
    if not text.isdecimal() or not 0 < int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 to {MOST_THREADS}")
    return int(text)


def ways(text: str) -> int:
    """Parse the greatest number of ways to show."""
    if not text.isdecimal() or not 0 < int(text) <= MOST_WAYS:
        hint = f"`{text}` is not a number from 1 to {MOST_WAYS:,}; write a file before --all"
        raise argparse.ArgumentTypeError(hint)
    return int(text)


def seconds(text: str) -> float:
    """Parse a time such as 90, 90s, 5m or 2h, as seconds.

    >>> seconds("90"), seconds("5m"), seconds("2h")
    (90.0, 300.0, 7200.0)
    """
    return _scaled(text, {"": 1, "s": 1, "m": 60, "h": 3600}, "a time such as 90, 90s, 5m or 2h")


def bytes_(text: str) -> int:
    """Parse an amount of memory such as 800M or 4G, as bytes."""
    return int(_scaled(text, {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}, "an amount such as 800M or 4G"))


def _scaled(text: str, units: dict[str, float], what: str) -> float:
    """Parse a number with an optional unit."""
    number = text.rstrip("".join(units) + "".join(units).upper())
    unit = text[len(number) :].lower()
    try:
        value = float(number) * units.get(unit, float("nan"))
    except ValueError:
        value = float("nan")
    if not 0 < value < 1e18:
        raise argparse.ArgumentTypeError(f"`{text}` is not {what}")
    return value


def add_limits(parser: argparse.ArgumentParser, states: int | None = None) -> None:
    """Add `--max-states`, `--max-time` and `--max-memory`; `states` is the default of the first."""
    add = parser.add_argument
    most = "" if states is None else f" ({states:,})"
    add(
        "--max-states",
        type=count,
        default=states,
        metavar="N",
        help=f"give up each search after N states{most}",
    )
    add("--max-time", type=seconds, metavar="T", help="give up each search after this time")
    add("--max-memory", type=bytes_, metavar="M", help="give up each search above this much memory")
