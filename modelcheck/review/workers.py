"""Processes that answer jobs until the time is up, Ctrl-C comes, or one of them is killed.

None of them outlives the review, however it ends: they leave Ctrl-C to it,
and leave by themselves when it is gone.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from types import FrameType
from typing import Self, TypeVar

T = TypeVar("T")
Job = Callable[[float], T]  # given so many seconds

CORES = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
GENEROUS = 4  # even shares of the time that one job may use
SLICE = 0.1  # seconds between looks at the clock and at Ctrl-C
GRACE = 2  # seconds for a job that has been told to end

INTERRUPTED = "interrupted"
KILLED = "a worker process was killed, perhaps for want of memory"


class Workers:
    """A process for each core; use it as a context.

    Within it the first Ctrl-C only ends the work, so that what was found by
    then can be told; the second one is a KeyboardInterrupt as usual.
    """

    def __init__(self) -> None:
        self.ended = ""  # why nothing more is done, when it is not the time
        self._pool: ProcessPoolExecutor | None = None
        self._before: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self._discard()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def each(self, jobs: Sequence[Job[T]], *, until: Callable[[], float]) -> Iterator[tuple[int, float, T]]:
        """Results as they come: the job's number, the seconds that it was given, what it found.

        A job starts when a process is free, with a few times its even share of the time until then,
        since most need far less.  Jobs that the time does not suffice for have no result.  `until` is asked
        anew for each job.
        """
        waiting = deque(range(len(jobs)))
        running: dict[Future[T], tuple[int, float]] = {}
        latest = until()
        try:
            while (waiting or running) and not self.ended and time.monotonic() < latest + GRACE:
                while waiting and len(running) < CORES and (left := until() - time.monotonic()) > 0:
                    share = min(left, GENEROUS * CORES * left / (len(waiting) + len(running)))
                    number = waiting.popleft()
                    running[self._submit(jobs[number], share)] = number, share
                if not running:
                    return
                for future in wait(running, SLICE, FIRST_COMPLETED).done:
                    yield (*running.pop(future), future.result())
        except BrokenExecutor:
            self.ended = self.ended or KILLED
        finally:
            if running or self.ended:
                self._discard()

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.ended == INTERRUPTED:
            raise KeyboardInterrupt
        self.ended = INTERRUPTED

    def _submit(self, job: Job[T], share: float) -> Future[T]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(CORES, get_context("spawn"), initializer=_begin)
        with _no_interrupts():  # what a process that starts inherits
            return self._pool.submit(job, share)

    def _discard(self) -> None:
        """End the processes at once: what they would still find is not waited for."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - there is no public way
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Ctrl-C waits; where the system cannot do that, it does not."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """In a new process: leave Ctrl-C to the parent, and leave with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
