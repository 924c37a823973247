"""A crew that does jobs in this process: to start another takes longer than a few searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from modelcheck.asking.crew import CrewWork
from modelcheck.contract.engine import Limits
from modelcheck.processes.workers import Waits

T = TypeVar("T")


class OneProcess:
    """Does all jobs, or so many, as if Ctrl-C came then."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self.ended = ""

    def share(self, limits: Limits, _: int) -> Limits:
        return limits

    def done(
        self, work: CrewWork[T], count: int, _: Sequence[object] = (), waits: Waits = lambda: None
    ) -> Iterator[tuple[int, T]]:
        waits()
        for number in range(count if self._most is None else self._most):
            yield number, work(number)
