"""What a search that has ended says about each property, and what it counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.engine import Task
from modelcheck.memory import resident
from modelcheck.result import End, Extent, Findings, Holds, Layer, Result, Stats, Unknown, Verdict, Violated
from modelcheck.space import Purse
from spec.ir import Guard, Kind, Property, PropertyKind
from spec.values import ModelError


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted: distinct states, levels, steps by action, cut ones by limit, guards that said no."""

    states: int
    transitions: int
    levels: int
    taken: Mapping[str, int]
    cut: Mapping[str, int]
    refused: frozenset[tuple[str, int]]


class Searched(Protocol):
    """A fault-layered search that has ended."""

    task: Task
    purse: Purse
    layers: list[Layer]
    fixpoint: bool
    started: float
    ready: float  # seconds that it took to get ready, before it started
    reached: tuple[int, int]  # the layer and depth of the last level that is known as a whole

    def faults_of(self, prop: str) -> int | None:
        """The fewest faults of a run that decides a property; None when none was found."""
        ...

    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property."""
        ...

    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one."""
        ...

    def counts(self) -> Counts:
        """What was counted."""
        ...


class Account:
    """The findings of a search that has ended."""

    def __init__(self, search: Searched, end: End) -> None:
        self.search = search
        self.task = search.task
        self.end = end

    def findings(self, engine: str) -> Findings:
        """All that the search says."""
        results = tuple(map(self.result, self.task.properties))
        error = self.search.error() if self.end is End.ERROR else None
        return Findings(engine, self.end, results, self._stats(), error, self.task.symmetry)

    # ----------------------------------------------------------------- verdicts

    def result(self, prop: Property) -> Result:
        """What is known of a property that the search looks at as it goes."""
        faults = self.search.faults_of(prop.name)
        good = prop.kind is PropertyKind.REACHABLE
        verdict = self._undecided(good=good) if faults is None else self._decided(prop, faults, good=good)
        return Result(prop.name, prop.kind, verdict, self.by_faults(faults, good=good))

    def later(self, prop: Property, decide: Callable[[Property], Verdict]) -> Result:
        """What is known of a property that needs all states; Ctrl-C meanwhile leaves it unknown."""
        verdict: Verdict = Unknown(self.end.value, None)
        if self.end is End.COMPLETE:
            try:
                verdict = decide(prop)
            except ModelError as error:
                verdict = Unknown(f"{prop.name} makes an error: {error.message}")
            except KeyboardInterrupt:
                self.end = End.INTERRUPTED
                verdict = Unknown(self.end.value, None)
        if isinstance(verdict, Unknown):
            return Result(prop.name, prop.kind, verdict)
        first = verdict.extent.faults if isinstance(verdict, Violated) else None
        return Result(prop.name, prop.kind, verdict, self.by_faults(first, good=False))

    def _decided(self, prop: Property, faults: int, *, good: bool) -> Verdict:
        trace, extent = self.search.trace_of(prop.name), self.extent(faults)
        if good:
            return Holds(extent, example=trace)
        return Violated(extent, trace, fewest=self._is_best(trace))

    def _is_best(self, trace: Trace) -> bool:
        """Whether there is no run of fewer faults, or as many and fewer steps.

        A search that ends early may have seen a violation by one fault more than it has been through.
        """
        faults, depth = self.search.reached
        return not self.end.partial or (trace.faults, len(trace.steps)) <= (faults, depth + 1)

    def _undecided(self, *, good: bool) -> Verdict:
        """No run to a violation (or to an example) was found."""
        if self.end in {End.COMPLETE, End.DECIDED}:
            return Violated(self.whole(), None) if good else Holds(self.whole())
        return Unknown(self.end.value, self._searched())

    def by_faults(self, first: int | None, *, good: bool) -> tuple[bool, ...]:
        """Whether the property holds with at most 0, 1 … faults, by the first for which it was decided."""
        done = len(self.search.layers)
        is_known = first is not None and (first <= done or not self.end.partial)
        known = max(done, first + 1) if first is not None and is_known else done
        return tuple((first is not None and faults >= first) == good for faults in range(known))

    def whole(self) -> Extent:
        """All that the search was for: any number of faults, where more add nothing."""
        return Extent(self.task.scope, None if self.search.fixpoint else self.most(), self.task.budget.kinds)

    def most(self) -> int:
        """How many faults the budget allows together, or how many the search found use for."""
        total = self.task.budget.total
        return max(len(self.search.layers) - 1, 0) if total is None else total

    def extent(self, faults: int) -> Extent:
        """Runs with at most so many faults."""
        return Extent(self.task.scope, faults, self.task.budget.kinds)

    def _searched(self) -> Extent | None:
        done = len(self.search.layers)
        return self.extent(done - 1) if done else None

    # -------------------------------------------------------------------- counts

    def _stats(self) -> Stats:
        search, counts = self.search, self.search.counts()
        complete = self.end is End.COMPLETE
        allowed = [
            a for a in self.task.model.actions if a.kind is not Kind.FAULT or a.name in search.purse.allowed
        ]
        unrefused = [
            (action.name, guard.name or self.task.model.source.at(guard.span))
            for action in allowed
            if counts.taken.get(action.name)
            for index, guard in enumerate(action.head)
            if isinstance(guard, Guard) and (action.name, index) not in counts.refused
        ]
        return Stats(
            states=counts.states,
            transitions=counts.transitions,
            levels=counts.levels,
            layers=tuple(search.layers),
            taken={action.name: counts.taken.get(action.name, 0) for action in allowed},
            cut={limit: count for limit, count in sorted(counts.cut.items()) if count},
            unused=tuple(a.name for a in allowed if not counts.taken.get(a.name)) if complete else (),
            unrefused=tuple(unrefused) if complete else (),
            seconds=monotonic() - search.started,
            memory=resident(),
            ready=search.ready,
        )
