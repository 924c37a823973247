"""Processes that answer jobs until the time is up, Ctrl-C comes, or one of them is killed.

None of them outlives this one, however it ends: they leave Ctrl-C to it,
and leave by themselves when it is gone.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, Self, TypeVar

from modelcheck.children import Child, started
from modelcheck.cores import cores

T = TypeVar("T")
Job = Callable[[float], T]  # given so many seconds

GENEROUS = 4  # even shares of the time that one job may use
SLICE = 0.1  # seconds between looks at the clock and at Ctrl-C
GRACE = 2  # seconds for a job that has been told to end

INTERRUPTED = "interrupted"
KILLED = "a worker process was killed, perhaps for want of memory"


class Gone(Exception):  # noqa: N818 - it is told, in other words
    """A process is there no more."""


class Workers:
    """A process for each core; use it as a context.

    Within it the first Ctrl-C only ends the work, so that what was found by
    then can be told; the second one is a KeyboardInterrupt as usual.
    """

    def __init__(self) -> None:
        self._most = cores()
        self.ended = ""  # why nothing more is done, when it is not the time
        self._idle: list[Child] = []
        self._busy: dict[Connection, tuple[Child, int, float]] = {}  # its job, and the seconds given
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
        latest = until()
        try:
            while (waiting or self._busy) and not self.ended and time.monotonic() < latest + GRACE:
                while waiting and len(self._busy) < self._most and (left := until() - time.monotonic()) > 0:
                    share = min(left, GENEROUS * self._most * left / (len(waiting) + len(self._busy)))
                    number = waiting.popleft()
                    self._submit(number, jobs[number], share)
                if not self._busy:
                    return
                for pipe in wait(list(self._busy), SLICE):
                    assert isinstance(pipe, Connection)
                    yield self._result(pipe)
        except Gone:
            self.ended = self.ended or KILLED
        finally:
            if self._busy or self.ended:
                self._discard()

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.ended == INTERRUPTED:
            raise KeyboardInterrupt
        self.ended = INTERRUPTED

    def _submit(self, number: int, job: Job[Any], share: float) -> None:
        worker = self._idle.pop() if self._idle else started(_serve)
        self._busy[worker.pipe] = worker, number, share
        with _gone():
            worker.pipe.send((job, share))

    def _result(self, pipe: Connection) -> tuple[int, float, Any]:
        """What has come through a pipe."""
        with _gone():
            result, error = pipe.recv()
        worker, number, share = self._busy.pop(pipe)
        self._idle.append(worker)
        if error is not None:
            raise error
        return number, share, result

    def _discard(self) -> None:
        """End the processes at once: what they would still find is not waited for."""
        workers = [*self._idle, *(worker for worker, _, _ in self._busy.values())]
        self._idle, self._busy = [], {}
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.end()


@contextmanager
def _gone() -> Iterator[None]:
    """What a pipe says when there is nobody at its other end."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise Gone from error


def _serve(pipe: Connection) -> None:
    """In a new process: do the jobs that come."""
    while True:
        try:
            job, share = pipe.recv()
        except EOFError:
            return
        answer: tuple[Any, Exception | None]
        try:
            answer = job(share), None
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent shall have it
            answer = None, error
        pipe.send(answer)
