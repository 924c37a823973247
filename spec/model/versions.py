"""The versions of the real system that a model speaks of, in their order."""

from __future__ import annotations

import re

from spec.model.ir import ConfigEntry, Value

_VERSION = re.compile(r"(?P<numbers>[0-9]+(\.[0-9]+)*)(-(?P<stage>[A-Za-z]+)(?P<number>[0-9]+))?")

Order = tuple[tuple[int, ...], bool, str, int]
"""What versions compare by: `2.0` is `2.0.0`, and what leads up to it, `2.0-rc1`, comes before."""


def order(text: str) -> Order | None:
    """A sort key for a version; None if the text is none.

    >>> order("2.0-IV1") < order("2.0.0") == order("2.0") < order("2.0.1")
    True
    """
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    numbers = [int(part) for part in found["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), found["stage"] is None, found["stage"] or "", int(found["number"] or 0)


def default_of(entry: ConfigEntry, release: str) -> Value | None:
    """The default of a configuration entry in a release; None if the model has none for it."""
    now = order(release)
    values = [value for first, value in entry.defaults if now is not None and _is_up_to(first, now)]
    return values[-1] if values else None


def _is_up_to(first: str, now: Order) -> bool:
    """Whether a version is at most another."""
    begins = order(first)
    return begins is not None and begins <= now
