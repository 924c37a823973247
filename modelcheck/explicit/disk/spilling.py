"""A search that memory ended, once more with its states on disk: whether it can be, and in which folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import inf
from pathlib import Path

from modelcheck.contract.engine import CannotStart, Keep, Task
from modelcheck.explicit.disk.compression import compressed
from modelcheck.explicit.disk.folder import is_free, is_of_disk

PREFIX = "spill-"
LEAST = 100_000_000  # bytes of memory, with fewer of which the search on disk would end soon, too
HALF = 2  # of what is free on disk is left for others


def why_not(task: Task, refused: Sequence[str], before: int) -> str | None:
    """Why the search of a task cannot continue on disk, and what to try; None if it can.

    `refused` is what the search on disk cannot do, and `before` what the process uses without a search.
    """
    if refused:
        return f"it cannot do {', '.join(refused)}: leave that out (--property), or allow more (--max-memory)"
    if task.partial_order:
        return "it has no partial-order reduction: leave out --partial-order, or allow more (--max-memory)"
    if task.limits.memory is not None and task.limits.memory - before < LEAST:
        return f"it needs {(before + LEAST) / 1e6:.0f} MB itself: allow more (--max-memory)"
    try:
        compressed(b"")
    except CannotStart as problem:
        return str(problem)
    return None


@contextmanager
def spilled(task: Task) -> Iterator[Task]:
    """A context with the task of a search whose states are on disk. Raises OSError.

    They are in the folder of its checkpoints, or in one of their own, which is removed at the end; within
    half of what is free on disk where no limit is given.
    """
    keep, parent = task.keep, task.spill
    assert parent is not None
    if keep is not None:
        yield _within(task, replace(keep, resume=False, states=True))
        return
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        yield _within(task, Keep(folder, inf, states=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _within(task: Task, keep: Keep) -> Task:
    """The task with its states in a folder, and a limit on disk."""
    most = task.limits.disk
    if most is None:
        keep.folder.mkdir(parents=True, exist_ok=True)
        most = shutil.disk_usage(keep.folder).free // HALF
    return replace(task, keep=keep, limits=replace(task.limits, disk=most))


def _sweep(parent: Path) -> None:
    """Remove what searches left that were killed; ignores errors."""
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            if is_of_disk(folder) and is_free(folder):
                shutil.rmtree(folder, ignore_errors=True)
