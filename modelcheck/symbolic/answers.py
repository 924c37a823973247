"""What engines that ask a solver have in common: what they refuse, how long they ask, what they answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.contract.engine import UNCOUNTED, Refusal, Task, not_asked, not_without_bounds
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.result import End, Extent, Findings, Holds, Result, Stats, Unknown, Verdict, Violated
from modelcheck.processes.memory import resident
from modelcheck.symbolic.interrupts import interruptible
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import OF_RUNS

NOT_PLAIN = OF_RUNS | {PropertyKind.DEADLOCK_FREE}  # what is no claim about one state or one step


class Over(Exception):  # noqa: N818 - an answer
    """Raised where the search ends early; it has the reason."""

    def __init__(self, end: End) -> None:
        self.end = end


def refusals_of(
    task: Task, encode: Callable[[Task], object], symmetry: Refusal = UNCOUNTED
) -> tuple[Refusal, ...]:
    """What a solver cannot check of a task: kinds of properties, symmetry, what it cannot encode."""
    refused = [*not_asked(task, NOT_PLAIN, symmetry), *not_without_bounds(task)]
    if not refused:
        try:
            encode(task)
        except Inexpressible as problem:
            refused = [Refusal(each.what, "explicit") for each in problem.constructs]
    return tuple(refused)


def claims_of(task: Task) -> tuple[Property, ...]:
    """The properties of a task, and every lemma of the model, in the order of the model."""
    asked = {prop.name for prop in task.properties}
    return tuple(p for p in task.model.properties if p.name in asked or p.kind is PropertyKind.LEMMA)


# -------------------------------------------------------------------------- searching


class ReadySearch(Protocol):
    """A search that is ready to run."""

    def findings(self) -> Findings:
        """Run the search, up to a limit or Ctrl-C, and return its findings."""
        ...


STOPS = (Over, KeyboardInterrupt, MemoryError)


def end_of(stop: Over | KeyboardInterrupt | MemoryError) -> End:
    """The reason for the end of a search that one of `STOPS` ended early."""
    if isinstance(stop, Over):
        return stop.end
    return End.MEMORY if isinstance(stop, MemoryError) else End.INTERRUPTED


def searched(name: str, task: Task, make: Callable[[], ReadySearch]) -> Findings:
    """The findings of the search that `make` prepares; none decided if that is stopped before."""
    clock = Clock(task, None)
    try:
        with interruptible() as look_up:
            search = make()
            look_up()
    except STOPS as stop:
        end = end_of(stop)
        results = tuple(Result(p.name, p.kind, Unknown(end.value)) for p in task.properties)
        return Findings(name, end, results, clock.stats(), depth=0)
    return search.findings()


# ----------------------------------------------------------------------------- time


class Clock:
    """The time a search has used, and the seconds left for its next question to the solver."""

    def __init__(self, task: Task, seconds: float | None) -> None:
        self._limit, self._each = task.limits.seconds, seconds
        self._started = monotonic()
        self._ready = 0.0

    def ready(self) -> None:
        """Record that preparation ends and the search begins."""
        self._ready = self.seconds

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return monotonic() - self._started

    @property
    def is_late(self) -> bool:
        """Whether the time limit of the task has passed."""
        return self._limit is not None and self.seconds >= self._limit

    def left(self) -> float | None:
        """The seconds the next question may take; None without a limit. Raises Over if no time is left."""
        if self.is_late:
            raise Over(End.SECONDS)
        left = None if self._limit is None else self._limit - self.seconds
        return min((each for each in (left, self._each) if each is not None), default=None)

    def stats(self, levels: int = 0) -> Stats:
        """The statistics of a search that counts no states."""
        return Stats(
            states=0,
            transitions=0,
            levels=levels,
            layers=(),
            taken={},
            cut={},
            unused=(),
            unrefused=(),
            seconds=self.seconds - self._ready,
            memory=resident(),
            ready=self._ready,
        )


# --------------------------------------------------------------------------- verdicts


def is_good(prop: Property) -> bool:
    """Whether a run that decides the property makes it hold (`reachable`), and does not violate it."""
    return prop.kind is PropertyKind.REACHABLE


def by_run(task: Task, prop: Property, run: Trace) -> Verdict:
    """The verdict on a property by a run that decides it, which may not be the shortest."""
    extent = replace(_whole(task), faults=run.faults)
    return Holds(extent, example=run) if is_good(prop) else Violated(extent, run, fewest=False)


def by_none(task: Task, prop: Property) -> Verdict:
    """The verdict on a property if no run decides it."""
    return Violated(_whole(task), None) if is_good(prop) else Holds(_whole(task))


def _whole(task: Task) -> Extent:
    """The extent of a proof: all runs of the scope within the budget of faults."""
    return Extent(task.scope, task.budget.total, task.budget.kinds)
