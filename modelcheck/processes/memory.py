"""How much memory this process uses, and how much the machine has left."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from spec.reading import bytes_of, text_of

MOST = 1 << 16  # bytes; the system's own files have fewer
SHARE = 0.8  # of the memory that is free, to leave room for the answer
CONTAINER = Path("/sys/fs/cgroup")
LIMIT_AND_USE = ("memory.max", "memory.current")
GIVEN_BACK = ("inactive_file", "active_file", "slab_reclaimable")


def resident() -> int:
    """The bytes of memory that this process uses; the peak if the system reports only that."""
    try:
        pages = int(bytes_of(Path("/proc/self/statm"), MOST, trusted=True).split()[1])
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory_limit(most: int | None) -> int | None:
    """The memory limit of this process: as given, by default most of what is free now."""
    free = available() if most is None else None
    return most if free is None else resident() + int(SHARE * free)


def available() -> int | None:
    """The bytes of free memory, within this container's limit; None if unknown."""
    known = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    """The free memory of the machine."""
    try:
        lines = text_of(Path("/proc/meminfo"), MOST, trusted=True).splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _of_container() -> int | None:
    """The bytes left below the limit of the control group (version 2); cached files count as free."""
    try:
        limit, used = (int(bytes_of(CONTAINER / name, MOST, trusted=True)) for name in LIMIT_AND_USE)
        uses = dict(
            line.split() for line in text_of(CONTAINER / "memory.stat", MOST, trusted=True).splitlines()
        )
        cached = sum(int(uses.get(name, 0)) for name in GIVEN_BACK)
    except (OSError, ValueError):
        return None
    return max(0, limit - max(0, used - cached))
