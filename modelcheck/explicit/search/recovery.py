"""Whether every state can still get to where a property holds: AG EF, over actions and repairs alone.

No edge is kept.  States that have reached the goal are marked in the table of
states; then each unmarked state is expanded again, and marked when a step leads
to a marked one, until nothing changes.  Where some are left, the search goes
through its states once more, until it reaches one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from counterexamples.trace import Trace, Trapped
from modelcheck.contract.result import End
from modelcheck.explicit.search.again import Again
from modelcheck.explicit.search.rounds import SLOTS_AT_ONCE, PackedSearch, Worker
from modelcheck.explicit.search.runs import PackedRuns
from modelcheck.explicit.search.space import SlotRange
from spec.model.ir import Property, PropertyKind


class PackedRecovery:
    """Checks, for each `recoverable` property, whether every state of a finished search can get to its goal.

    For one after the other: `mark_goals`, `spread`, then `trap` for a run to a state that cannot.
    Each raises Stopped when a limit of the search is reached meanwhile, or after Ctrl-C.
    """

    def __init__(self, search: PackedSearch) -> None:
        self.search = search
        self.space = search.space
        self.call = search.kernel.call
        self._properties = [p for p in search.task.properties if p.kind is PropertyKind.RECOVERABLE]
        self._parts = list(self.space.parts(SLOTS_AT_ONCE))

    def mark_goals(self, prop: Property) -> None:
        """Mark the goal states of a property."""
        which = self._properties.index(prop)

        def mark(_: Worker, part: SlotRange) -> int:
            self.call["mark_goal"](part.address, part.slots, which)
            return part.slots

        self._of_parts(mark)

    def spread(self) -> tuple[int, int]:
        """Mark the states with a way to a goal; how many have none, and how many only out of the scope."""
        for name in ("spread_fine", "spread_beyond"):
            while any(self._of_parts(self._spreading(self.call[name]))):
                pass
        counts = self._of_parts(lambda _, part: self.call["count_marks"](part.address, part.slots))
        return sum(count & (1 << 32) - 1 for count in counts), sum(count >> 32 for count in counts)

    def _spreading(self, spread: Callable[..., int]) -> Callable[[Worker, SlotRange], int]:
        """The call of a spreading function on a part of a table."""
        space = self.space
        return lambda worker, part: spread(
            worker.context, space.address, space.size, part.address, part.slots, worker.scratch.address
        )

    def _of_parts(self, ask: Callable[[Worker, SlotRange], int]) -> list[int]:
        """The results of `ask` for each part of the tables, on all cores."""
        search, parts, found = self.search, self._parts, [0] * len(self._parts)
        workers = search.spare_workers()

        def share(worker: Worker) -> None:
            first = workers.index(worker)
            for number in range(first, len(parts), len(workers)):
                search.check_limits()
                if not first:  # only one thread may report
                    search.tell(*search.reached, SLOTS_AT_ONCE * (len(parts) - number))
                found[number] = ask(worker, parts[number])

        with search.at_work():
            search.together(share, workers)
        return found

    def trap(self, prop: Property) -> tuple[int, Trace | End]:
        """The fewest faults to a state without a way back, and the run, or why it is not shown.

        Where the search for it was ended, why; and how many faults there are at least.
        """
        first, space = self.search, self.space
        with space.once_more(), closing(Again(first, space, lambda: bool([*space.trapped()]))) as again:
            if end := again.ended():
                return len(again.layers), end
            number = min(space.trapped())
            runs = PackedRuns(first.task, first.machine, first.kernel, space)
            return space.level(number).faults, runs.to(number, Trapped(), prop.name)
