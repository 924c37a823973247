"""Whether every state can still get to where a property holds: AG EF, over actions and repairs alone.

No edge is kept.  States that have reached the goal are marked in the table of
states; then each unmarked state is expanded again, and marked when a step leads
to a marked one, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from counterexamples.trace import Trace, Trapped
from modelcheck.account import Account
from modelcheck.explicit.runs import Runs
from modelcheck.explicit.runtime import LOCAL, LOCAL_BITS
from modelcheck.explicit.search import Search, Worker
from modelcheck.explicit.space import Shard
from modelcheck.layers import Stopped
from modelcheck.report import Silent
from modelcheck.result import End, Holds, Result, Verdict, Violated
from spec.ir import Property, PropertyKind


class FullAccount(Account):
    """The findings of an explicit search; a way back is looked for only now."""

    def __init__(self, search: Search, end: End) -> None:
        super().__init__(search, end)
        self.run = search

    def result(self, prop: Property) -> Result:
        """What is known of a property."""
        if prop.kind is PropertyKind.RECOVERABLE:
            return self.later(prop, self._recoverable)
        return super().result(prop)

    def _recoverable(self, prop: Property) -> Verdict:
        recovery = Recovery(self.run)
        recovery.mark_goals(prop)
        trapped, beyond = recovery.spread()
        if not trapped:
            return Holds(self.whole(), beyond=beyond)
        faults, trace = recovery.trap(prop)
        return Violated(self.extent(faults), trace)


class Recovery:
    """Looks for ways back in the states that a search has found."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.space = search.space
        self.call = search.kernel.call
        self._properties = [p for p in search.task.properties if p.kind is PropertyKind.RECOVERABLE]

    def mark_goals(self, prop: Property) -> None:
        """Mark the states that have what the property asks for. Raises ModelError when asking makes one."""
        which = self._properties.index(prop)
        for shard in self.space.shards:
            if self.call["mark_goal"](shard.table.address, shard.slots, which) & 1:
                self._ask(prop, shard)

    def spread(self) -> tuple[int, int]:
        """How many states can never get to the goal, and how many perhaps, beyond the scope."""
        for name in ("spread_fine", "spread_beyond"):
            while self._once(self.call[name]):
                pass
        counts = [self.call["count_marks"](shard.table.address, shard.slots) for shard in self.space.shards]
        return sum(count & (1 << 32) - 1 for count in counts), sum(count >> 32 for count in counts)

    def _once(self, spread: Callable[..., int]) -> int:
        """Look at every state once, on all cores."""
        space = self.space
        workers = self.search.spare_workers()

        def over(worker: Worker, shard: Shard) -> int:
            return spread(
                worker.context,
                space.address,
                space.size,
                shard.table.address,
                shard.slots,
                worker.scratch.address,
            )

        def share(number: int) -> int:
            return sum(over(workers[number], shard) for shard in space.shards[number :: len(workers)])

        with ThreadPoolExecutor(len(workers)) as pool:
            return sum(pool.map(share, range(len(workers))))

    def trap(self, prop: Property) -> tuple[int, Trace]:
        """The first run to a state without a way back: another search, which stops at it; and its faults."""
        first = self.search
        task = replace(first.task, stop_early=False)
        search = Search(task, first.machine, first.kernel, Silent(), len(first.workers))
        found: list[int] = []

        def watch(counts: list[int]) -> None:
            for shard, count in zip(search.space.shards, counts, strict=True):
                states = shard.frontiers[0].address
                place = self.call["first_trapped"](self.space.address, self.space.size, states, count)
                if place >= 0:
                    start = search.space.word(shard, LOCAL) - count
                    found.append(shard.number << LOCAL_BITS | start + place)
            if found:
                raise Stopped(End.DECIDED)

        search.watch = watch
        try:
            search.run()
            number = min(found)
            runs = Runs(first.task, first.machine, first.kernel, search.space)
            return search.space.level(number).faults, runs.to(number, Trapped(), prop.name)
        finally:
            search.close()

    def _ask(self, prop: Property, shard: Shard) -> None:
        """Ask for a property in each state of a shard, which makes an error."""
        for state in self.space.states(shard):
            self.search.machine.holds(prop, state)
        raise AssertionError(f"{prop.name} makes no error")  # the kernel found one
