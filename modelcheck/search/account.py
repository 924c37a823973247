"""The verdicts and counts of a search that has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Generic, TypeVar

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import (
    End,
    Extent,
    Findings,
    Holds,
    Result,
    Stats,
    Unknown,
    Unshown,
    Verdict,
    Violated,
)
from modelcheck.processes.memory import resident
from modelcheck.search.layers import LayeredSearch
from spec.model.ir import Guard, Property, PropertyKind


def unsearched(engine: str, task: Task, end: End, seconds: float) -> Findings:
    """The findings of a search that took `seconds` and decided no property."""
    results = tuple(Result(prop.name, prop.kind, Unknown(end.value)) for prop in task.properties)
    stats = Stats(0, 0, 0, (), {}, {}, (), (), seconds, resident())
    return Findings(engine, end, results, stats, symmetry=task.symmetry)


S = TypeVar("S", bound=LayeredSearch[Any, Any])
T = TypeVar("T")


class FindingsOfSearch(Generic[S]):
    """The findings of a search that has ended as in `end`.

    What follows the search may be ended too, by a limit or by Ctrl-C: `cut` is why.  It
    takes nothing from what the search has decided.
    """

    def __init__(self, search: S, end: End) -> None:
        self.search = search
        self.task = search.task
        self.end = end
        self.cut: End | None = None

    def findings(self, engine: str) -> Findings:
        """The verdicts, counts and traces of the search."""
        later = self.later()  # they need all states, which a search may let go to show a run
        known = {
            p.name: self._later_result(p, later[p.kind]) for p in self.task.properties if p.kind in later
        }
        results = tuple(known.get(prop.name) or self.result(prop) for prop in self.task.properties)
        error = self.shown(self.search.error) if self.end is End.ERROR else None
        end = self.end if self.end is End.ERROR else self.cut or self.end
        return Findings(
            engine,
            end,
            results,
            self._stats(),
            error,
            self.task.symmetry,
            partial_order=self.task.partial_order,
        )

    # ----------------------------------------------------------------- verdicts

    def result(self, prop: Property) -> Result:
        """The result for a property that the search checks as it proceeds."""
        faults = self._first_decided(prop)
        good = prop.kind is PropertyKind.REACHABLE
        verdict = self._undecided(good=good) if faults is None else self._decided(prop, faults, good=good)
        return Result(prop.name, prop.kind, verdict, self.by_faults(faults, good=good))

    def later(self) -> Mapping[PropertyKind, Callable[[Property], Verdict]]:
        """The functions that decide, by kind, properties that need the whole state graph."""
        return {}

    def _later_result(self, prop: Property, decide: Callable[[Property], Verdict]) -> Result:
        """The result for such a property; unknown if a limit or Ctrl-C ends the work."""
        if self.end is not End.COMPLETE or self.cut is not None:
            return Result(prop.name, prop.kind, Unknown(self._why))
        verdict = self.in_time(lambda: decide(prop))
        match verdict:
            case None:
                return Result(prop.name, prop.kind, self._stopped())
            case Violated(unshown=Unshown(least=least)):
                return Result(prop.name, prop.kind, verdict, (True,) * least)
            case _:
                first = verdict.extent.faults if isinstance(verdict, Violated) else None
                return Result(prop.name, prop.kind, verdict, self.by_faults(first, good=False))

    def _stopped(self) -> Unknown:
        """The verdict unknown because of the limit in `cut`."""
        assert self.cut is not None
        return Unknown(self.cut.value)

    def in_time(self, work: Callable[[], T]) -> T | None:
        """The result of work after the search; None, with why in `cut`, if a limit ends it."""
        try:
            return work()
        except Stopped as stopped:
            self.cut = stopped.end
        except KeyboardInterrupt:
            self.cut = End.INTERRUPTED
        except MemoryError:
            self.cut = End.MEMORY
        return None

    def shown(self, run: Callable[[], Trace | None]) -> Trace | None:
        """The trace that `run` makes; None, with the reason in `cut`, if it cannot be shown."""
        return self.in_time(run)

    def unshown(self, least: int) -> Unshown:
        """The note that a run of at least `least` faults exists but is not shown, and why."""
        assert self.cut is not None
        return Unshown(self.cut.value, least)

    def _first_decided(self, prop: Property) -> int | None:
        """The fewest faults of a run that decides a property; None when none is known.

        Of the runs that cost more than one to an error of the model, the search has seen some
        and not others, by the order of its states; so none of them is reported.
        """
        cost, limit = self.search.cost_of(prop.name), self.search.error_cost()
        if cost is None or (self.end is End.ERROR and limit is not None and cost > limit):
            return None
        return cost[0]

    def _decided(self, prop: Property, faults: int, *, good: bool) -> Verdict:
        """The verdict by a run: a violation, or (`good`) an example."""
        trace, extent = self.shown(lambda: self.search.trace_of(prop.name)), self.extent(faults)
        if trace is None:
            unshown = self.unshown(faults)
            return (
                Holds(extent, unshown=unshown)
                if good
                else Violated(extent, None, fewest=False, unshown=unshown)
            )
        if good:
            return Holds(extent, example=trace)
        return Violated(extent, trace, fewest=self._is_best(trace))

    def _is_best(self, trace: Trace) -> bool:
        """Whether there is no run of fewer faults, or as many and fewer steps.

        A search that ends early may have seen a violation by one fault more than it has been through; one
        that leaves steps for later may take others in between.
        """
        if self.task.partial_order:
            return False
        faults, depth = self.search.reached
        is_whole = not self.end.partial and not self._is_first
        return is_whole or (trace.faults, len(trace.steps)) <= (faults, depth + 1)

    def _undecided(self, *, good: bool) -> Verdict:
        """The verdict if no run to a violation (or, if `good`, to an example) was found."""
        if self.end in {End.COMPLETE, End.DECIDED} and not self._is_first:
            return Violated(self.whole(), None) if good else Holds(self.whole())
        return Unknown(self._why, self._searched())

    @property
    def _is_first(self) -> bool:
        """Whether the search ended because the first property was decided."""
        return self.end is End.DECIDED and self.task.at_first

    @property
    def _why(self) -> str:
        """The reason why undecided properties are undecided."""
        return "another property was decided first" if self._is_first else (self.cut or self.end).value

    def by_faults(self, first: int | None, *, good: bool) -> tuple[bool, ...]:
        """Whether the property holds with at most 0, 1, … faults; a run with `first` faults decides it."""
        done = len(self.search.layers)
        is_known = first is not None and (first <= done or not self.end.partial)
        known = max(done, first + 1) if first is not None and is_known else done
        return tuple((first is not None and faults >= first) == good for faults in range(known))

    def whole(self) -> Extent:
        """The extent of a complete search: any number of faults, if more than the last add nothing."""
        return Extent(self.task.scope, None if self.search.fixpoint else self.most(), self.task.budget.kinds)

    def most(self) -> int:
        """The greatest number of faults that the budget allows, or that reached new states."""
        total = self.task.budget.total
        return max(len(self.search.layers) - 1, 0) if total is None else total

    def extent(self, faults: int) -> Extent:
        """The extent of all runs of the scope with at most `faults` faults, within the budget."""
        return Extent(self.task.scope, faults, self.task.budget.kinds)

    def _searched(self) -> Extent | None:
        """The extent that the search has covered; None if no layer is complete."""
        done = len(self.search.layers)
        return self.extent(done - 1) if done else None

    # -------------------------------------------------------------------- counts

    def _stats(self) -> Stats:
        """The statistics of the search: states, steps, levels and time.

        What no state refuses or shows is not known where steps are left for later, and states with them.
        """
        search, counts = self.search, self.search.counts()
        complete = self.end is End.COMPLETE
        has_seen_all = complete and not self.task.partial_order
        allowed = self.task.budget.actions(self.task.model)
        guards = [
            (action.name, self.task.model.guard_name(guard), index)
            for action in allowed
            for index, guard in enumerate(action.head)
            if isinstance(guard, Guard)
        ]
        unrefused = [
            (action, name)
            for action, name, index in guards
            if counts.taken.get(action) and (action, index) not in counts.refused
        ]
        return Stats(
            states=counts.states,
            transitions=counts.transitions,
            levels=counts.levels,
            layers=tuple(search.layers),
            taken={action.name: counts.taken.get(action.name, 0) for action in allowed},
            cut={limit: count for limit, count in sorted(counts.cut.items()) if count},
            unused=tuple(a.name for a in allowed if not counts.taken.get(a.name)) if complete else (),
            unrefused=tuple(unrefused) if has_seen_all else (),
            seconds=monotonic() - search.started,
            memory=resident(),
            ready=search.ready,
            untested=tuple(
                each.part for each in self.task.witnesses if each.condition.name not in counts.seen
            )
            if has_seen_all
            else (),
            refused=frozenset(
                (action, name) for action, name, index in guards if (action, index) in counts.refused
            ),
        )
