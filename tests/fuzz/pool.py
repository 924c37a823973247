"""Jobs on all cores: each in a process that may die or take too long without ending the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from modelcheck.processes.children import Child, started
from tests.fuzz.findings import Answer

LOOK = 0.5  # seconds between looks at who takes too long
Serve = Callable[[Connection], None]


class Job(Protocol):
    """Something to be done in so many seconds."""

    @property
    def patience(self) -> float:
        """How many."""


J = TypeVar("J", bound=Job)


@dataclass(frozen=True)
class Lost:
    """Why a job has no answer."""

    why: str


class Queue(Generic[J]):
    """Jobs that are made when they are wanted, up to a time; what is urgent comes first, and always."""

    def __init__(self, jobs: Iterable[J], until: float | None = None) -> None:
        self._jobs, self._until = iter(jobs), until
        self._urgent: deque[J] = deque()

    def add(self, job: J) -> None:
        """A job that does not wait."""
        self._urgent.append(job)

    def take(self) -> J | None:
        """The next job, if there is one."""
        if self._urgent:
            return self._urgent.popleft()
        return None if self._until is not None and monotonic() > self._until else next(self._jobs, None)


def answer_each(pipe: Connection, run: Callable[[Any], Answer]) -> None:
    """Answer jobs until there are none."""
    try:
        while True:
            pipe.send(run(pipe.recv()))
    except EOFError:
        return


@dataclass
class _Busy(Generic[J]):
    """A process at work, on which job, and until when it may be."""

    child: Child
    job: J
    until: float


def answers(serve: Serve, queue: Queue[J], most: int) -> Iterator[tuple[J, Answer | Lost]]:
    """Each job with its answer, as they come; `serve` reads jobs from its pipe and sends answers."""
    idle: list[Child] = []
    busy: dict[Connection, _Busy[J]] = {}
    try:
        while True:
            while len(busy) < most and (job := queue.take()) is not None:
                child = idle.pop() if idle else started(serve)
                child.pipe.send(job)
                busy[child.pipe] = _Busy(child, job, monotonic() + job.patience)
            if not busy:
                return
            for pipe in wait(list(busy), LOOK):
                assert isinstance(pipe, Connection)
                at = busy.pop(pipe)
                answer = _answer(at.child)
                if isinstance(answer, Answer):
                    idle.append(at.child)
                yield at.job, answer
            for late in [each for each in busy.values() if monotonic() > each.until]:
                del busy[late.child.pipe]
                late.child.end()
                yield late.job, Lost(f"took more than {late.job.patience:.0f} seconds")
    finally:
        for child in [*idle, *(at.child for at in busy.values())]:
            child.end()


def _answer(child: Child) -> Answer | Lost:
    try:
        answer: Answer = child.pipe.recv()
    except (EOFError, OSError):
        child.process.join()
        code = child.process.exitcode
        child.end()
        return Lost(f"ended the process, with {code}")
    return answer
