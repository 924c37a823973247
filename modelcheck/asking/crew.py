"""Who does many jobs at once: the interface, and the processes of this machine."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from modelcheck.contract.engine import Limits
from modelcheck.processes.cores import cores
from modelcheck.processes.memory import SHARE, available, resident
from modelcheck.processes.workers import Waits, Workers

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class CrewWork(Protocol[T_co]):
    """The interface of what is done for the job of a number, in any process that has it as a pickle."""

    @property
    def kinds(self) -> Sequence[Hashable]:
        """For each job what it has in common with those that share what a process makes; empty if nothing."""
        ...

    def __call__(self, number: int) -> T_co:
        """The result of a job."""
        ...

    def failed(self, number: int, problem: str) -> T_co:
        """The result of a job that failed for good."""
        ...


class Crew(Protocol):
    """The interface of what does jobs in parallel; `ended` is why some were not done, empty else."""

    ended: str

    def share(self, limits: Limits, searches: int) -> Limits:
        """The limits of each of several parallel searches."""
        ...

    def done(
        self, work: CrewWork[T], count: int, shared: Sequence[object] = (), waits: Waits = ...
    ) -> Iterator[tuple[int, T]]:
        """The number and result of jobs 0 … `count` - 1, as they are ready; fewer after an interrupt.

        Results name the `shared` objects, such as models, and do not copy them.
        `waits` is called now and then while none comes.
        """
        ...


class Processes:
    """Does jobs in a process per core of this machine."""

    def __init__(self) -> None:
        self.ended = ""

    def share(self, limits: Limits, searches: int) -> Limits:
        """The limits with the memory of this machine divided."""
        return shared_out(limits, searches)

    def done(
        self, work: CrewWork[T], count: int, shared: Sequence[object] = (), waits: Waits = lambda: None
    ) -> Iterator[tuple[int, T]]:
        """The number and result of each job, as they are ready."""
        with Workers(work, shared, work.kinds) as workers:
            yield from workers.each(count, waits)
            self.ended = workers.ended


def shared_out(limits: Limits, searches: int) -> Limits:
    """The limits of each of several parallel searches on this machine, with memory divided."""
    free = available()
    if limits.memory is not None or free is None:
        return limits
    return replace(limits, memory=resident() + int(SHARE * free / min(cores(), searches)))
