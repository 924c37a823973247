"""What some work costs, for tests of how a cost grows."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least seconds of CPU that a piece of work takes.

    The collector rests meanwhile: its walk over what thousands of other tests keep alive is not the work's,
    and grew what is linear 35 times where eight were right.
    """
    return min(_once(work) for _ in range(times))


def _once(work: Callable[[], object]) -> float:
    gc.disable()
    try:
        begun = time.process_time()
        work()
        return time.process_time() - begun
    finally:
        gc.enable()
