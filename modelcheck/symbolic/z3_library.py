"""z3, with the library that its package brings: on its own it would prefer `libz3.so` in the current folder.

See NOTE(safe-path).
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

PLACES = "Z3_LIB_DIRS"  # where z3 looks, as it is imported, for the folders to look in


@contextmanager
def _own_folders() -> Iterator[None]:
    """A context in which z3 looks for its library in its package, then in Python's folders."""
    package, given = find_spec("z3"), vars(builtins)
    if PLACES in given or package is None or package.origin is None:
        yield
        return
    folder = Path(package.origin).parent
    given[PLACES] = [str(each) for each in (folder, folder / "lib", Path(sys.prefix) / "lib")]
    try:
        yield
    finally:
        del given[PLACES]


with _own_folders():
    import z3

__all__ = ["z3"]
