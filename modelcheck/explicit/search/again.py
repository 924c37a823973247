"""The same search once more, as far as it takes to know the way to some states; it finds the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from modelcheck.contract.report import Event, Progress, Reporter, Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import PackedSpace


class Again(PackedSearch):
    """A search that was made before, up to the level where it is enough: then it ends in `DECIDED`.

    It has the limits of the first one, whose clock goes on, but for that of states.
    """

    def __init__(self, first: PackedSearch, space: PackedSpace, is_enough: Callable[[], bool]) -> None:
        limits = replace(first.task.limits, states=None)
        task = replace(first.task, limits=limits, keep=None, ways=True)
        reporter = _StillThere(first.reporter, first.reached)
        super().__init__(task, space, first.machine, reporter, len(first.workers))
        self.started = self.since = first.started
        self._is_enough = is_enough

    def ended(self) -> End | None:
        """Search; why it was ended before it was enough, if it was."""
        end = self.run()
        if end is End.COMPLETE:
            raise AssertionError("the same search has found less")
        return None if end is End.DECIDED else end

    def _note(self, faults: int, depth: int) -> None:
        """What is found was found before; so it ends when that is enough, and nowhere else."""
        self.reached = faults, depth
        if self._is_enough():
            raise Stopped(End.DECIDED)


class _StillThere:
    """Reports that the search goes on, and nothing that was reported before."""

    def __init__(self, reporter: Reporter, reached: tuple[int, int]) -> None:
        self._reporter = reporter
        self._reached = reached

    def tell(self, event: Event) -> None:
        """Pass progress on; what has been seen is as much as before."""
        if isinstance(event, Progress):
            faults, depth = self._reached
            self._reporter.tell(replace(event, faults=faults, depth=depth))
