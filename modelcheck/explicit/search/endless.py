"""The states without a goal as a graph of numbers, and where in it a fair run can stay for ever.

It costs for each of them some 80 bytes, and five for each step between them.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from modelcheck.explicit.codegen.search.context import fair, of_fair_runs
from modelcheck.explicit.codegen.search.graphs import (
    ACTIVE,
    AHEAD,
    AT,
    BASES,
    BEGINS,
    BY,
    CALLS,
    CAME,
    CIRCLE,
    CLASSES,
    CODES,
    IN_CIRCLES,
    INSIDE,
    LAST,
    LATER,
    LOW,
    MASKS,
    NEXT,
    NONE,
    NUMBERS,
    OPEN,
    ORDER,
    PART,
    PLACES,
    POSSIBLE,
    QUEUE,
    SIZE,
    STARTS,
    STRONG,
    TARGETS,
    TOTAL,
    UNSERVED,
    WEAK,
)
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.search.rounds import SLOTS_AT_ONCE, PackedSearch, Worker
from modelcheck.search.fairness import Hop, round_trip
from spec.model.ir import Fairness, Property

AT_ONCE = 1 << 12  # states whose ways out are written down between two looks at the limits
STEPS = 1 << 20  # of the search for components, between two looks
NO_HOME = NONE


class Endless:
    """The graph for a liveness property: states without the goal, their edges, and fair cycles.

    All raise Stopped when a limit of the search is reached meanwhile, or after Ctrl-C.
    """

    def __init__(self, search: PackedSearch, prop: Property) -> None:
        self.search = search
        self.space = search.space
        self.call = search.kernel.call
        self.graphs = search.kernel.graphs()
        self._prop = prop
        self._regions: dict[int, Region] = {}
        self.frame = (ctypes.c_uint64 * SIZE)()
        self.address = ctypes.addressof(self.frame)
        self._parts = list(self.space.parts(SLOTS_AT_ONCE))
        bases = [0, *accumulate(shard.slots for shard in self.space.shards)]
        for shard, base in enumerate(bases[:-1]):
            self.frame[BASES + shard] = base
        self.total = bases[-1]
        promised = fair(search.task.model.actions)
        self.weak, self.strong = (
            sum(1 << i for i, action in enumerate(promised) if action.fairness is kind)
            for kind in (Fairness.WEAK, Fairness.STRONG)
        )
        self.frame[WEAK], self.frame[STRONG] = self.weak, self.strong
        self._codes = [frozenset(a.name for a in search.task.model.actions if a.name in self._unfair())]
        self._codes += [frozenset({action.name}) for action in promised]
        self.count = 0
        self.stills = 0

    def _unfair(self) -> set[str]:
        """The names of actions without a fairness assumption."""
        model = self.search.task.model
        return set(model.free) - {action.name for action in fair(model.actions)}

    def names(self, code: int) -> frozenset[str]:
        """The actions of an edge with this code: a fair one, or all without a fairness assumption."""
        return self._codes[code]

    def close(self) -> None:
        """Free all memory."""
        for region in self._regions.values():
            region.close()
        self._regions.clear()

    def room(self, name: int, size: int) -> Region:
        """A new zeroed array of `size` bytes, entered in the frame under its name."""
        if name in self._regions:
            self._regions.pop(name).close()
        self._regions[name] = region = Region(size)
        self.frame[name] = region.address
        return region

    def give_back(self, *names: int) -> None:
        """Free arrays."""
        for name in names:
            self._regions.pop(name).close()

    def words(self, place: int) -> Words:
        """The state in a slot, by its index among all slots."""
        shard = self.space.shards[bisect_right(self.frame[BASES:TOTAL], place) - 1]
        layout = self.search.kernel.layout
        at = layout.slot * (place - self.frame[BASES + shard.number])
        return layout.in_slot(shard.table.read(at, layout.slot))

    def word(self, name: int, place: int, size: int = 4) -> int:
        """A number of an array."""
        return int.from_bytes(self._regions[name].read(size * place, size), "little")

    # ------------------------------------------------------------------ the graph

    def build(self) -> None:
        """Build the graph: find the states without the goal and their edges."""
        self._sort_out()
        self._link()

    def is_waited_in(self) -> bool:
        """Whether a run begins to wait in some state; valid until the classes are freed."""
        classes = self._regions[CLASSES]
        pieces = range(0, self.total, SLOTS_AT_ONCE)
        return any(
            (UNSERVED | BEGINS) in classes.read(first, min(SLOTS_AT_ONCE, self.total - first))
            for first in pieces
        )

    def _sort_out(self) -> None:
        """Classify the states, and number those without the goal."""
        which = of_fair_runs(self.search.task).index(self._prop)
        classes = self.room(CLASSES, self.total)
        places = [self.frame[BASES + part.shard.number] + part.first for part in self._parts]

        def ask(_: Worker, at: int) -> int:
            part, place = self._parts[at], classes.address + places[at]
            found: int = self.call["sort_out"](part.address, part.slots, which, place)
            return found

        found = self._shared(len(self._parts), ask, SLOTS_AT_ONCE)
        self.count = sum(found)
        if self.total + self.count >= NONE - 1:
            raise MemoryError("more states than there are numbers")
        self.frame[TOTAL] = self.total
        self.room(NUMBERS, 4 * self.total)
        self.room(PLACES, 4 * max(self.count, 1))
        firsts = [0, *accumulate(found)]

        def number(_: Worker, at: int) -> int:
            self.graphs["number"](self.address, places[at], self._parts[at].slots, firsts[at])
            return 0

        self._shared(len(self._parts), number, SLOTS_AT_ONCE)

    def _link(self) -> None:
        """Write the edges between these states, on all cores."""
        workers, count = self.search.spare_workers(), max(self.count, 1)
        free, _, _, _ = self.search.tally.sums()
        most = free + self.count  # each state has one more, after its last
        self.room(TARGETS, 4 * most * len(workers))
        self.room(CODES, most * len(workers))
        for name in (STARTS, POSSIBLE, INSIDE):
            self.room(name, 8 * count)
        ends = [most * number for number in range(len(workers))]

        def link(worker: Worker, at: int) -> int:
            first, own = AT_ONCE * at, workers.index(worker)
            some = min(AT_ONCE, self.count - first)
            end: int = self.call["link"](
                worker.context,
                self.space.address,
                self.space.size,
                self.address,
                first,
                some,
                ends[own],
                worker.scratch.address,
            )
            if end < 0:
                raise AssertionError("a state leads to one that was not found")
            ends[own] = end
            return 0

        self._shared(-(-self.count // AT_ONCE), link, AT_ONCE)

    def _shared(self, count: int, ask: Callable[[Worker, int], int], each: int) -> list[int]:
        """Call `ask` for the numbers below `count` on all cores; the answers in order."""
        search, found = self.search, [0] * count
        workers = search.spare_workers()

        def share(worker: Worker) -> None:
            first = workers.index(worker)
            for number in range(first, count, len(workers)):
                search.check_limits()
                if not first:  # only one thread may report
                    search.tell(*search.reached, each * (count - number))
                found[number] = ask(worker, number)

        search.together(share, workers)
        return found

    # ------------------------------------------------------------------ homes

    def look_for_homes(self, masks: int) -> bool:
        """Find where fair runs can remain forever, given which actions are possible where."""
        for name in (ORDER, LOW, AHEAD, PART, CIRCLE, CALLS, OPEN, ACTIVE, LATER):
            self.room(name, 4 * max(self.count, 1))
        self.frame[MASKS] = self._regions[masks].address
        self.stills = self.graphs["begin"](self.address, self.count)
        left = self.count
        while left:
            while self.graphs["components"](self.address, STEPS):
                self._poll_limits(left - self.frame[AT])
            left = self.graphs["again"](self.address)
            self._poll_limits(left)
        self.give_back(ORDER, LOW, AHEAD, PART, CALLS, OPEN, ACTIVE, LATER)
        return bool(self.stills or self.frame[IN_CIRCLES])

    def _poll_limits(self, left: int) -> None:
        """Check the limits, and report how many states are left. Raises Stopped."""
        self.search.check_limits()
        self.search.tell(*self.search.reached, left)

    # ------------------------------------------------------------------ circles

    def circle(self, start: int) -> list[Hop]:
        """A path from a state back to it on its cycle that violates no fairness; `action` is a code."""

        def way(end: int, owed: int) -> list[Hop]:
            return self._way(end, NO_HOME if owed else start, owed)

        return round_trip(start, self._owed_by, way)

    def _owed_by(self, trip: list[Hop]) -> int:
        """The fair actions whose fairness repeating the path would violate."""
        everywhere, anywhere, taken = -1, 0, 0
        for hop in trip:
            possible = self.word(POSSIBLE, hop.target, 8)
            everywhere &= possible
            anywhere |= possible
            taken |= (1 << hop.action) >> 1
        return (everywhere & self.weak | anywhere & self.strong) & ~taken

    def _way(self, start: int, home: int, owed: int) -> list[Hop]:
        """The shortest path on a cycle that pays an owed action, or leads to `home`."""
        self._poll_limits(0)
        self.room(CAME, 4 * self.count)
        self.room(QUEUE, 4 * self.count)
        if not self.graphs["way"](self.address, start, home, owed):
            raise AssertionError("a circle has no way to what it was found to have")
        number = self.frame[LAST]
        hops = [Hop(self.frame[BY], self.frame[NEXT])]
        while number != start:
            before = self.word(CAME, number) - 1
            hops.append(Hop(self._code(before, number), number))
            number = before
        self.give_back(CAME, QUEUE)
        return hops[::-1]

    def _code(self, number: int, target: int) -> int:
        """The code of the first step from a state to another."""
        at = self.word(STARTS, number, 8)
        while (found := self.word(TARGETS, at)) != target:
            assert found != NONE
            at += 1
        return self.word(CODES, at, 1)
