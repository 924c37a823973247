"""Work that threads share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait


def together(tasks: Sequence[Callable[[], object]], pool: ThreadPoolExecutor | None) -> None:
    """Do the first task in this thread, the others in a pool, and wait; without one the first alone."""
    first, *rest = tasks
    others = [] if pool is None else [pool.submit(task) for task in rest]
    try:
        first()
    finally:
        wait(others)
    for other in others:
        other.result()
