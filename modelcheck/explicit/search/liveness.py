"""Liveness: whether every fair run does in the end what is promised of it, for the properties of fair runs.

What is asked, and which run is shown, is as described in `modelcheck.search.liveness`; only the way round
a circle may be another one, and of another length.
"""

from __future__ import annotations

from contextlib import closing

from counterexamples.trace import Lasso, Trace
from modelcheck.explicit.codegen.search.graphs import INSIDE, POSSIBLE
from modelcheck.explicit.search.endless import Endless
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.runs import PackedRuns
from modelcheck.explicit.search.waiting import Waiting, WaitingNode
from modelcheck.search.liveness import Served
from spec.frozen import frozen
from spec.model.ir import Property, PropertyKind


@frozen
class Starved:
    """A fair run that waits forever, and its number of faults."""

    faults: int
    run: Trace


def starving(prop: Property, search: PackedSearch) -> Starved | Served:
    """The fair run with the fewest faults that waits forever, if any; the search must be complete.

    Costs a step of each state without the goal, and where a run can wait for ever somewhere, a search
    of all runs again.  Raises Stopped when a limit of the search is reached, or after Ctrl-C.
    """
    with search.at_work(), closing(Endless(search, prop)) as graph:
        return _Question(prop, search, graph).answer()


class _Question:
    """One liveness question about a complete search."""

    def __init__(self, prop: Property, search: PackedSearch, graph: Endless) -> None:
        self.prop = prop
        self.search = search
        self.graph = graph
        self._everywhere = prop.kind is not PropertyKind.LEADSTO

    def answer(self) -> Starved | Served:
        """The waiting run, or that there is none."""
        graph, search = self.graph, self.search
        graph.build()
        vacuous = not self._everywhere and not graph.is_waited_in()
        unlimited = search.fixpoint
        if graph.look_for_homes(POSSIBLE):
            total = search.budget.total
            found = self._first(total)
            if found is not None:
                return found
            unlimited = unlimited and (total is None or not self._is_waiting_with_more())
        return Served(self._beyond(), unlimited, vacuous)

    def _first(self, most: int | None) -> Starved | None:
        """The cheapest waiting run with at most `most` faults (None: any number)."""
        with closing(self._waiting(most)) as waiting:
            home = waiting.first_home()
            return None if home is None else Starved(home.faults, self._run(waiting, home))

    def _is_waiting_with_more(self) -> bool:
        """Whether some fair run with any number of faults waits forever."""
        with closing(self._waiting(None)) as waiting:
            return waiting.first_home() is not None

    def _beyond(self) -> int:
        """The number of states where a run could wait if no step led beyond the scope."""
        _, _, cut, _ = self.search.tally.sums()
        if not cut or not self.graph.look_for_homes(INSIDE):
            return 0
        with closing(self._waiting(self.search.budget.total)) as waiting:
            return waiting.homes()

    def _waiting(self, most: int | None) -> Waiting:
        """The search for waiting runs with at most `most` faults."""
        return Waiting(self.graph, most, everywhere=self._everywhere)

    def _run(self, waiting: Waiting, home: WaitingNode) -> Trace:
        """The trace of the run to a node and once around its cycle."""
        search, graph = self.search, self.graph
        path = waiting.path(home.node)
        trip = [] if home.stays else graph.circle(home.node - graph.total)
        free, faults = frozenset(search.task.model.free), search.task.faults
        ways = [(words, faults if by_fault else free) for words, by_fault in path[1:]]
        ways += [(waiting.words(graph.total + hop.target), graph.names(hop.action)) for hop in trip]
        runs = PackedRuns(search.task, search.machine, search.kernel, search.space)
        return runs.along(path[0][0], ways, Lasso(len(path) - 1), self.prop.name)
