"""Where a run can continue forever without breaking a promise of fairness.

The promise of `fair` is broken by a run in which the action stays possible from
some moment on and is never taken again; that of `strong fair` by one in which it
is possible again and again and never taken again.  Decisions, which `certify`
shares:

- fairness is the action's, not of each choice of its parameters: taking it with
  any parameters keeps the promise;
- an action is possible where it has a step that changes the state, and is taken
  by such a step only, as with `<A>_vars` in TLA+: a step that changes nothing is
  no different from staying;
- a step that leaves the scope counts as possible and is never taken, since
  where it leads was not explored: so a run that is found to be fair within
  the scope is fair without one;
- faults are never fair and come to an end: a run that only faults keep going
  shows nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

from modelcheck.search.interpreted import Edges
from spec.frozen import frozen
from spec.model.ir import Fairness, Model

DONE = 1 << 62  # the order of a state whose component is known: greater than any
Masks = Sequence[int]  # of each state, the fair actions that are possible there, a bit for each


@frozen
class Hop:
    """A step of a run as numbers: the action by its index in the model, and the state it leads to."""

    action: int
    target: int


class FairGraph:
    """The actions and repairs that change the state, and which fair ones are possible where.

    Costs one look at every edge and a number or two for each state.  `poll_limits` is asked whenever a state
    is looked at; what it raises ends the work.
    """

    def __init__(self, model: Model, edges: Edges, poll_limits: Callable[[], None]) -> None:
        names = edges.names
        if names is None:
            raise TypeError("fairness is asked of edges that have no names")
        self.poll_limits = poll_limits
        self.count = len(edges.starts)
        self.starts = array("q", edges.starts)
        self.starts.append(len(edges.targets))
        self.targets = edges.targets
        self.actions = names.actions
        self.weak = sum(1 << i for i, a in enumerate(model.actions) if a.fairness is Fairness.WEAK)
        self.strong = sum(1 << i for i, a in enumerate(model.actions) if a.fairness is Fairness.STRONG)
        self.bits = [(1 << i) & (self.weak | self.strong) for i in range(len(model.actions))]
        self.inside: Masks = [self._inside(number) for number in range(self.count)]
        self.possible: Masks = self._with_cut(names.cut)

    def hops(self, number: int) -> Iterator[Hop]:
        """The edges from a state."""
        self.poll_limits()
        for at in range(self.starts[number], self.starts[number + 1]):
            if self.targets[at] != number:
                yield Hop(self.actions[at], self.targets[at])

    def owed(self, states: Sequence[int], taken: int, possible: Masks) -> int:
        """The fair actions, as bits, whose fairness a run that cycles through `states` would violate."""
        everywhere, anywhere = -1, 0
        for number in states:
            everywhere &= possible[number]
            anywhere |= possible[number]
        return (everywhere & self.weak | anywhere & self.strong) & ~taken

    def _inside(self, number: int) -> int:
        """The fair actions, as bits, with a step from a state that stays within the scope."""
        found = 0
        for hop in self.hops(number):
            found |= self.bits[hop.action]
        return found

    def _with_cut(self, cut: Mapping[int, set[int]]) -> Masks:
        """For each state the fair actions, as bits, with a step, within the scope or beyond it."""
        masks = list(self.inside)
        for number, actions in cut.items():
            for action in actions:
                masks[number] |= self.bits[action]
        return masks


# -------------------------------------------------------------- staying for ever


@frozen
class Homes:
    """Where a fair run can remain forever: `still` in a state, or in the cycle with a number; 0 is none."""

    still: bytearray
    circle: array[int]

    def has(self, number: int) -> bool:
        """Whether a run that reaches a state can remain there, or on its cycle, forever."""
        return bool(self.still[number] or self.circle[number])

    def any(self) -> bool:
        """Whether there is any state where a fair run can remain forever."""
        return any(self.still) or any(self.circle)


def homes(ways: FairGraph, allowed: bytearray, possible: Masks) -> Homes:
    """The states and cycles, within the allowed states, where a fair run can remain forever.

    It may stay in a state where no fair action is possible.
    """
    still = bytearray(ways.count)
    circle = array("q", bytes(8 * ways.count))
    for number in range(ways.count):
        still[number] = allowed[number] and not possible[number]
    for name, states in enumerate(_fair_cycles(ways, allowed, possible), 1):
        for number in states:
            circle[number] = name
    return Homes(still, circle)


def _fair_cycles(ways: FairGraph, allowed: bytearray, possible: Masks) -> Iterator[list[int]]:
    """The maximal sets of two or more states through which a fair run can cycle forever.

    Emerson and Lei 1987, "Modalities for model checking": in a strongly connected
    component that owes a fair action, look again without the states where that one
    is possible; for a weakly fair one these are all.
    """
    components = _ComponentSearch(ways)
    waiting = [[number for number in range(ways.count) if allowed[number]]]
    while waiting:
        for states in components.of(waiting.pop()):
            owed = ways.owed(states, _actions_between(ways, states), possible)
            if owed:
                waiting.append([number for number in states if not possible[number] & owed])
            else:
                yield states


def _actions_between(ways: FairGraph, states: list[int]) -> int:
    """The fair actions, as bits, with a step between two of the states."""
    members, found = set(states), 0
    for number in states:
        for hop in ways.hops(number):
            found |= ways.bits[hop.action] if hop.target in members else 0
    return found


class _ComponentSearch:
    """Strongly connected components of parts of the graph, without recursion.

    Tarjan 1972, "Depth-first search and linear graph algorithms".
    """

    def __init__(self, ways: FairGraph) -> None:
        self._ways = ways
        self._part = array("q", bytes(8 * ways.count))  # the last part asked about that a state was in
        self._order = array("q", bytes(8 * ways.count))  # when a state was first seen; 0: not yet
        self._low = array("q", bytes(8 * ways.count))
        self._next = array("q", bytes(8 * ways.count))  # the edge to follow next
        self._parts = self._seen = 0
        self._open: list[int] = []

    def of(self, states: Sequence[int]) -> list[list[int]]:
        """The strongly connected components of two or more states in the subgraph of `states`."""
        self._parts += 1
        self._seen = 0
        for number in states:
            self._part[number], self._order[number] = self._parts, 0
        return [found for root in states if not self._order[root] for found in self._from(root)]

    def _from(self, root: int) -> Iterator[list[int]]:
        """The components reached from a state, of two or more states each, by Tarjan's algorithm."""
        calls = [root]
        self._enter(root)
        while calls:
            here = calls[-1]
            ahead = self._ahead(here)
            if ahead is not None:
                self._enter(ahead)
                calls.append(ahead)
                continue
            calls.pop()
            if calls:
                self._low[calls[-1]] = min(self._low[calls[-1]], self._low[here])
            if self._low[here] == self._order[here]:
                found = self._closed(here)
                if len(found) > 1:
                    yield found

    def _enter(self, number: int) -> None:
        """Visit a state: number it and push it on the stack."""
        self._ways.poll_limits()
        self._seen += 1
        self._order[number] = self._low[number] = self._seen
        self._next[number] = self._ways.starts[number]
        self._open.append(number)

    def _ahead(self, number: int) -> int | None:
        """The next unvisited successor; None if there is none. Updates the low link on the way."""
        for at in range(self._next[number], self._ways.starts[number + 1]):
            target = self._ways.targets[at]
            if self._part[target] != self._parts:
                continue
            if not self._order[target]:
                self._next[number] = at + 1
                return target
            self._low[number] = min(self._low[number], self._order[target])
        self._next[number] = self._ways.starts[number + 1]
        return None

    def _closed(self, root: int) -> list[int]:
        """The component whose first state is `root`, in ascending order."""
        found: list[int] = []
        while not found or found[-1] != root:
            found.append(self._open.pop())
            self._order[found[-1]] = DONE
        return sorted(found)


# --------------------------------------------------------------- round a circle


def round_trip(
    start: int, owed_by: Callable[[list[Hop]], int], way: Callable[[int, int], list[Hop]]
) -> list[Hop]:
    """A path from a state of a cycle back to it that violates no fairness.

    It is made of shortest ways to what is owed still, nearest first; it may not be the
    shortest of all.  `owed_by` gives what a way owes, and `way` goes from a state to a step
    that pays something owed, or where nothing is, back to `start`.
    """
    walk: list[Hop] = []
    while True:
        end = walk[-1].target if walk else start
        back = [] if walk and end == start else way(end, 0)
        trip = [*walk, *back]
        owed = owed_by(trip)
        if not owed:
            return trip
        walk += way(end, owed)


def circle(ways: FairGraph, found: Homes, start: int) -> list[Hop]:
    """A path from `start` back to it, on its cycle, that violates no fairness."""

    def way(end: int, owed: int) -> list[Hop]:
        return _shortest_path(
            ways, found, end, _is_payment(ways, owed) if owed else lambda hop: hop.target == start
        )

    return round_trip(start, lambda trip: _owed_by(ways, trip), way)


def _owed_by(ways: FairGraph, trip: list[Hop]) -> int:
    """The fair actions whose fairness repeating the path forever would violate."""
    taken = 0
    for hop in trip:
        taken |= ways.bits[hop.action]
    return ways.owed([hop.target for hop in trip], taken, ways.possible)


def _is_payment(ways: FairGraph, owed: int) -> Callable[[Hop], bool]:
    """A test whether a step is of an owed action, or leads where an owed weakly fair one is not enabled."""
    weak = owed & ways.weak
    return lambda hop: bool(ways.bits[hop.action] & owed or weak & ~ways.possible[hop.target])


def _shortest_path(ways: FairGraph, found: Homes, start: int, wanted: Callable[[Hop], bool]) -> list[Hop]:
    """The shortest path of at least one step within a cycle whose last step is wanted."""
    came: dict[int, tuple[int, Hop]] = {}
    for here in (queue := [start]):
        for hop in ways.hops(here):
            if found.circle[hop.target] != found.circle[start]:
                continue
            if wanted(hop):
                return [*_traced(came, start, here), hop]
            if hop.target != start and hop.target not in came:
                came[hop.target] = (here, hop)
                queue.append(hop.target)
    raise AssertionError("a circle has no way to what it was found to have")


def _traced(came: Mapping[int, tuple[int, Hop]], start: int, number: int) -> list[Hop]:
    """The path by which a state was reached."""
    hops = []
    while number != start:
        number, hop = came[number]
        hops.append(hop)
    return hops[::-1]
