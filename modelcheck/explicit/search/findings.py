"""What an explicit search found: ways back are searched now, and runs whose predecessors were not kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from time import monotonic

from counterexamples.trace import Trace
from modelcheck.contract.result import End, Holds, Verdict, Violated
from modelcheck.explicit.search.again import Again
from modelcheck.explicit.search.liveness import Starved, starving
from modelcheck.explicit.search.recovery import PackedRecovery
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.runs import PackedRuns
from modelcheck.explicit.search.space import NoWay, PackedSpace
from modelcheck.search.account import FindingsOfSearch
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import OF_FAIR_RUNS


class PackedFindings(FindingsOfSearch[PackedSearch]):
    """The findings of an explicit search, including those that need the whole state graph."""

    def __init__(self, search: PackedSearch, end: End) -> None:
        super().__init__(search, end)
        self._is_looked_for = search.knows_ways  # the way to all that was found
        self._memory = ExitStack()

    def later(self) -> Mapping[PropertyKind, Callable[[Property], Verdict]]:
        """The functions that decide `recoverable` and liveness properties."""
        return {PropertyKind.RECOVERABLE: self._recoverable, **dict.fromkeys(OF_FAIR_RUNS, self._fair)}

    def _fair(self, prop: Property) -> Verdict:
        """The verdict on a liveness property."""
        found = starving(prop, self.search)
        if isinstance(found, Starved):
            return Violated(self.extent(found.faults), found.run)
        extent = self.whole() if found.unlimited else self.extent(self.most())
        return Holds(extent, beyond=found.beyond, vacuous=found.vacuous)

    def _recoverable(self, prop: Property) -> Verdict:
        """The verdict on a `recoverable`."""
        recovery = PackedRecovery(self.search)
        recovery.mark_goals(prop)
        trapped, beyond = recovery.spread()
        if not trapped:
            return Holds(self.whole(), beyond=beyond, renamed=self.task.symmetry)
        faults, run = self.in_time(lambda: recovery.trap(prop)) or (0, self.cut)
        if isinstance(run, Trace):
            return Violated(self.extent(faults), run)
        self.cut = run
        return Violated(self.extent(self.most()), None, fewest=False, unshown=self.unshown(faults))

    def shown(self, run: Callable[[], Trace | None]) -> Trace | None:
        """The trace that `run` makes; if predecessors were not kept, the search is repeated first."""
        if not self._is_looked_for:
            self._is_looked_for = True
            self.in_time(self._look_for_ways)
        with suppress(NoWay):
            return super().shown(run)
        return None

    def _look_for_ways(self) -> None:
        """Repeat the search with predecessors, as far as the finds; frees the states before."""
        search = self.search
        finds = (*search.tally.best.values(), search.tally.error)
        numbers = [find.number for find in finds if find is not None]
        search.space.let_go()
        space = self._memory.enter_context(closing(PackedSpace(search.kernel)))
        search.runs = PackedRuns(search.task, search.machine, search.kernel, space)
        with closing(Again(search, space, lambda: all(map(space.has, numbers)))) as again:
            if self.end is End.SECONDS:  # as long again to show what was found, at most
                again.started = again.since = monotonic()
            self.cut = again.ended()

    def close(self) -> None:
        """Free the memory of the repeated search."""
        self._memory.close()
