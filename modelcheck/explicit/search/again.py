"""A search repeated to learn the predecessors of some states, which get the same numbers again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from modelcheck.contract.report import Event, Progress, Reporter, Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import PackedSpace


class Again(PackedSearch):
    """Repeats a search until `is_enough` is true at the end of a level, and ends with `DECIDED`.

    It has the limits of the first one, but for that of states; their time counts on.
    """

    def __init__(self, first: PackedSearch, space: PackedSpace, is_enough: Callable[[], bool]) -> None:
        limits = replace(first.task.limits, states=None)
        task = replace(first.task, limits=limits, keep=None, ways=True)
        reporter = _StillThere(first.reporter, first.reached)
        super().__init__(task, space, first.machine, reporter, len(first.workers))
        self.started = self.since = first.started
        self._is_enough = is_enough

    def ended(self) -> End | None:
        """Run the search; return why it ended too early, or None."""
        end = self.run()
        if end is End.COMPLETE:
            raise AssertionError("the same search has found less")
        return None if end is End.DECIDED else end

    def _note(self, faults: int, depth: int) -> None:
        """End the search if that is enough."""
        self.reached = faults, depth
        if self._is_enough():
            raise Stopped(End.DECIDED)


class _StillThere:
    """A reporter that passes on only progress, at the depth of the first search."""

    def __init__(self, reporter: Reporter, reached: tuple[int, int]) -> None:
        self._reporter = reporter
        self._reached = reached

    def tell(self, event: Event) -> None:
        """Pass progress on, at the depth that the first search reached."""
        if isinstance(event, Progress):
            faults, depth = self._reached
            self._reporter.tell(replace(event, faults=faults, depth=depth))
