"""A wrong change of our own code, and what is to find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A wrong change: what is wrong, in which file, which text it replaces by which, and what looks for it.

    `by` is a look of the fuzzer at models, or a test.
    """

    what: str
    file: str
    old: str
    new: str
    by: str
