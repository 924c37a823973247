"""All runs again, fewest faults first, over states and whether the run waits: which reach a home.

A node is a slot of the tables, or after all of these the number of a state without the goal,
where a run waits.  Nodes come by layers of faults and then by depth, as states do in the search.
It costs some ten bytes for each node.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from modelcheck.explicit.codegen.search.graphs import (
    DUE,
    DUE_COUNT,
    DUE_FROM,
    FIRST_ROUND,
    FIRST_STILL,
    FOUND,
    FOUND_COUNT,
    FROM,
    HOW,
    NONE,
    PAID,
    PLACES,
)
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.search.endless import AT_ONCE, Endless
from modelcheck.search.liveness import SHORTEST
from spec.frozen import frozen
from spec.meaning.semantics import State

ARRAYS = (FROM, HOW, FOUND, DUE, DUE_FROM)


@frozen
class Bucket:
    """Nodes of the same cost in faults and steps: the first, and how many."""

    faults: int
    depth: int
    first: int
    count: int


@frozen
class WaitingNode:
    """A node where a waiting run can remain forever: in one state, or on a cycle."""

    faults: int
    node: int
    stays: bool


class Waiting:
    """The search for waiting runs with at most `most` faults (None: any number), by cost.

    With `everywhere` a run begins to wait in each state without the goal, so none need be followed.
    All raise Stopped when a limit of the search is reached meanwhile, or after Ctrl-C.
    """

    def __init__(self, graph: Endless, most: int | None, *, everywhere: bool) -> None:
        self.graph = graph
        self._most = most
        self._waits = not everywhere
        nodes = graph.total + graph.count
        for name in ARRAYS:
            graph.room(name, nodes if name == HOW else 4 * nodes)
        graph.frame[FOUND_COUNT] = graph.frame[DUE_COUNT] = 0

    def close(self) -> None:
        """Free the memory."""
        self.graph.give_back(*ARRAYS)

    # ------------------------------------------------------------------ the search

    def _buckets(self) -> Iterator[Bucket]:
        """The nodes by cost."""
        graph, search = self.graph, self.graph.search
        faults, depth, first = 0, 0, 0
        for state in search.machine.initial():
            self._begin(state)
        entering: list[tuple[int, int, int]] = []
        while True:
            paid = bool(search.task.faults) and faults != self._most
            due: list[tuple[int, int, int]] = []
            while True:
                while entering and entering[0][0] == depth:
                    _, start, end = entering.pop(0)
                    graph.call["wake_due"](graph.address, start, end - start)
                count = graph.frame[FOUND_COUNT] - first
                if count:
                    yield Bucket(faults, depth, first, count)
                    before = graph.frame[DUE_COUNT]
                    self._expand_bucket(Bucket(faults, depth, first, count), paid=paid)
                    if graph.frame[DUE_COUNT] > before:
                        due.append((depth + 1, before, graph.frame[DUE_COUNT]))
                    first += count
                    depth += 1
                elif entering:
                    depth = entering[0][0]
                else:
                    break
            if not due:
                return
            entering, faults, depth = due, faults + 1, due[0][0]

    def _begin(self, state: State) -> None:
        """Add an initial state."""
        graph, kernel = self.graph, self.graph.search.kernel
        words = kernel.represent(state)
        place = graph.call["enter"](
            graph.space.address, graph.space.size, graph.address, (ctypes.c_uint64 * len(words))(*words)
        )
        if place < 0:
            raise AssertionError("a state to begin with was not found")
        graph.call["reach"](graph.address, place, NONE - 1)

    def _expand_bucket(self, bucket: Bucket, *, paid: bool) -> None:
        """Expand the nodes of a bucket by free steps, and, if `paid`, by faults."""
        graph, search = self.graph, self.graph.search
        worker = search.spare_workers()[0]
        for first in range(bucket.first, bucket.first + bucket.count, AT_ONCE):
            search.check_limits()
            search.tell(*search.reached, graph.total + graph.count - first)
            count = min(AT_ONCE, bucket.first + bucket.count - first)
            where = graph.space.address, graph.space.size, graph.address, first, count
            if not graph.call["wander"](worker.context, *where, paid, self._waits, worker.scratch.address):
                raise AssertionError("a state leads to one that was not found")

    # ------------------------------------------------------------------ what is found

    def first_home(self) -> WaitingNode | None:
        """The nearest node to remain in; a single state is preferred to a cycle if at most a step further."""
        best: WaitingNode | None = None
        most: tuple[int, int] | None = None
        for bucket in self._buckets():
            cost = bucket.faults, bucket.depth
            if most is not None and cost >= most:
                break
            self._settled(bucket)
            still, circle = self.graph.frame[FIRST_STILL], self.graph.frame[FIRST_ROUND]
            if still != NONE:
                return WaitingNode(bucket.faults, still, stays=True)
            if circle != NONE and best is None:
                best = WaitingNode(bucket.faults, circle, stays=False)
                most = bucket.faults, bucket.depth + SHORTEST
        return best

    def homes(self) -> int:
        """The number of states where a waiting run can remain forever."""
        return sum(self._settled(bucket) for bucket in self._buckets())

    def _settled(self, bucket: Bucket) -> int:
        """The number of such states in a bucket."""
        found: int = self.graph.graphs["settled"](self.graph.address, bucket.first, bucket.count)
        return found

    def path(self, node: int) -> list[tuple[Words, bool]]:
        """The path to a node: each state with a fault flag."""
        found = []
        while node != NONE - 1:
            source = self.graph.word(FROM, node) - 1
            if not self._is_the_same(source, node):
                found.append((self.words(node), self.graph.word(HOW, node, 1) == PAID))
            node = source
        return found[::-1]

    def _is_the_same(self, source: int, node: int) -> bool:
        """Whether a step between nodes only begins the wait, in the same state."""
        return source != NONE - 1 and source < self.graph.total <= node and self._place(node) == source

    def _place(self, node: int) -> int:
        """The slot of a node."""
        return node if node < self.graph.total else self.graph.word(PLACES, node - self.graph.total)

    def words(self, node: int) -> Words:
        """The state of a node."""
        return self.graph.words(self._place(node))
