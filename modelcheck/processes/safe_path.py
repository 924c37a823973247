"""A Python that this program starts imports what this one does, and nothing that lies in the current folder.

NOTE(safe-path): that folder may be a pull request's, or a student's.  Python puts it before its own library
for `-m` and `-c`, which is how multiprocessing starts its children too, so a file `json.py` there would run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SAFE = "PYTHONSAFEPATH"  # a child of the child has it too


def python(*arguments: str) -> tuple[str, ...]:
    """The command line that starts Python without the current folder on its path."""
    return (sys.executable, "-P", *arguments)


def environment() -> dict[str, str]:
    """Environment variables with which that Python finds the packages that this one does."""
    return {**os.environ, SAFE: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@contextmanager
def for_children() -> Iterator[None]:
    """A context in which every Python that libraries start has a safe path."""
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before
