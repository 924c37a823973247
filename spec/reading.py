"""The bytes of a file that a person names: never more than a limit, and never an endless wait."""

from __future__ import annotations

import stat
from errno import EINVAL
from pathlib import Path

OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # what the shell has opened for us


def bytes_of(path: Path, most: int) -> bytes:
    """The first bytes of a file, `most` of them at the most. Raises OSError.

    That is also raised for a device, which may have no end, and for a named pipe, into which
    may never be written.
    """
    mode = path.stat().st_mode
    is_file = stat.S_ISREG(mode) or stat.S_ISDIR(mode)  # a folder has an error of its own
    if not is_file and not str(path.absolute()).startswith(OPEN_ALREADY):
        raise OSError(EINVAL, f"it is {'a named pipe' if stat.S_ISFIFO(mode) else 'a device'}, and no file")
    with path.open("rb") as file:
        return file.read(most)
