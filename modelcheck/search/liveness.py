"""Liveness: whether every fair run does in the end what is promised of it, for the properties of fair runs.

`leadsto p ~> q` is violated by a fair run that reaches a state with p and has
no q there nor ever after; `always eventually q` is `leadsto true ~> q`.  Such a
run waits: by actions, repairs and the faults that the budget allows it gets to a
home, where it can be for ever without the goal (see `modelcheck.search.fairness`): it
stays in one state, or goes round a circle of actions and repairs.  Faults are
before the circle only: they come to an end.

`eventually always q` is violated by a fair run that has no q again and again: one that
gets to a state without q which is in a home among all states.  It begins to wait there, and its
circle begins and ends there.

The run shown has the fewest faults, then the shortest way to a home.  A home to
stay in goes before a circle where it makes the whole run shorter however short the
circle is: where it is as near, or one step further.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from heapq import heapify, heappop, heappush

from modelcheck.search.fairness import FairGraph, Homes, Hop, circle, homes
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.space import NONE, FaultBudget
from spec.frozen import frozen
from spec.meaning.semantics import State, Step, Taken
from spec.model.ir import Budget, Property, PropertyKind

SHORTEST = 2  # steps of a circle


@frozen
class Starving:
    """A fair run that waits for its goal forever.

    After the shortest run to the state `start` it takes `hops`; the last `circle` of these
    repeat forever, or, if that is 0, the run stays in its last state.
    """

    faults: int
    start: int
    hops: tuple[Hop, ...]
    circle: int


@frozen
class Served:
    """No fair run waits for ever, with any number of faults if `unlimited`, else with those of the budget.

    In `beyond` states a run would wait for ever if a fair action whose step
    leaves the scope were not possible.  `vacuous`: no run ever begins to wait.
    """

    beyond: int
    unlimited: bool
    vacuous: bool


def starving(prop: Property, search: InterpretedSearch) -> Starving | Served:
    """The fair run with the fewest faults that never reaches the goal, if there is one.

    Costs a look at every state for the goal, a few at every edge, and where a
    run can wait for ever the faults of every state that it can wait in.
    Raises Stopped when a limit of the search is reached.
    """
    if search.edges is None:
        raise TypeError("liveness is asked of a search that has no edges")
    ways = FairGraph(search.task.model, search.edges, search.poll_limits)
    unserved = _unserved(prop, search)
    sources = _sources(prop, search, unserved)
    allowed = bytearray(b"\1") * ways.count if prop.kind is PropertyKind.EVENTUALLY_ALWAYS else unserved
    found = homes(ways, allowed, ways.possible)
    waits = prop.kind is PropertyKind.LEADSTO
    waiting = partial(_Waiting, search, ways, unserved, sources, waits=waits)
    first = _cheapest(waiting(search.budget), found)
    if first is not None:
        return first
    return Served(
        _beyond(waiting(search.budget), allowed),
        search.fixpoint and _cheapest(waiting(_unlimited_budget(search)), found) is None,
        waits and not sources,
    )


def run_of(found: Starving, search: InterpretedSearch) -> tuple[list[State], list[Step]]:
    """The states and steps of a waiting run, with its cycle once."""
    states, steps = search.space.path(found.start)
    for hop in found.hops:
        taken = _taken(search, states[-1], hop)
        states.append(taken.state)
        steps.append(taken.step)
    return states, steps


def _taken(search: InterpretedSearch, state: State, hop: Hop) -> Taken:
    """The first step of an action that leads to a state."""
    action = search.task.model.actions[hop.action].name
    _, after = search.space.node(hop.target)
    for found in search.machine.steps(state, actions=(action,)):
        if isinstance(found, Taken) and found.state == after:
            return found
    raise AssertionError(f"no step of {action} to state {hop.target}")  # the hop was found by one


# ---------------------------------------------------------------------- waiting


def _unserved(prop: Property, search: InterpretedSearch) -> bytearray:
    """A flag for each state: 1 if the goal, or what is to be stable, is false there."""
    machine, space = search.machine, search.space
    reached = machine.goal if prop.kind is PropertyKind.LEADSTO else machine.holds
    found = bytearray(len(space))
    for number in range(len(space)):
        search.poll_limits()
        found[number] = not reached(prop, space.node(number)[1])
    return found


def _sources(prop: Property, search: InterpretedSearch, unserved: bytearray) -> list[int]:
    """The states in which a run begins to wait for the goal."""
    machine, space = search.machine, search.space
    numbers = [number for number in range(len(space)) if unserved[number]]
    if prop.kind is not PropertyKind.LEADSTO:
        return numbers
    return [number for number in numbers if machine.holds(prop, space.node(number)[1])]


def _unlimited_budget(search: InterpretedSearch) -> FaultBudget:
    """A budget for any number of the faults of which the budget allows at least one."""
    return FaultBudget(search.task.model, Budget(None, search.task.budget.kinds))


class _Waiting:
    """The states in which a run can be waiting, in order of the faults and then the steps it costs.

    Unless it `waits` for what comes later, a run begins to wait in each state without the goal, so
    none need be followed.
    """

    def __init__(
        self,
        search: InterpretedSearch,
        ways: FairGraph,
        unserved: bytearray,
        sources: list[int],
        budget: FaultBudget,
        *,
        waits: bool,
    ) -> None:
        self.search = search
        self.ways = ways
        self._unserved = unserved
        self._sources = sources
        self._budget = budget
        self._waits = waits
        self._numbers = {action.name: i for i, action in enumerate(search.task.model.actions)}
        self._came: dict[int, tuple[int, int]] = {}  # from which state, by which action

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Each state once: its number, and the faults and steps until a run waits there."""
        heap = [(*self._cost(number), number, NONE, NONE) for number in self._sources]
        heapify(heap)
        while heap:
            self.search.poll_limits()
            faults, depth, number, before, action = heappop(heap)
            if number in self._came:
                continue
            self._came[number] = (before, action)
            yield number, faults, depth
            for cost, hop in self._next(number, faults) if self._waits else ():
                if self._unserved[hop.target] and hop.target not in self._came:
                    heappush(heap, (faults + cost, depth + 1, hop.target, number, hop.action))

    def way(self, number: int) -> tuple[int, list[Hop]]:
        """The state where a run begins to wait, and its path from there to a visited state."""
        hops = []
        while self._came[number][0] != NONE:
            before, action = self._came[number]
            hops.append(Hop(action, number))
            number = before
        return number, hops[::-1]

    def _cost(self, number: int) -> tuple[int, int]:
        """The faults and the steps of the shortest run to a state."""
        level = self.search.space.level(number)
        return level.faults, level.depth

    def _next(self, number: int, faults: int) -> Iterator[tuple[int, Hop]]:
        """The steps from a state, each with the number of faults of a run that takes it."""
        for hop in self.ways.hops(number):
            yield 0, hop
        if self._budget.allowed and faults != self._budget.total:
            for hop in self._faults(number):
                yield 1, hop

    def _faults(self, number: int) -> Iterator[Hop]:
        """The steps by faults from a state."""
        space = self.search.space
        spent, state = space.node(number)
        for step in self.search.machine.steps(state, actions=self._budget.affordable(spent)):
            if isinstance(step, Taken):
                paid = self._budget.pay(spent, step.step.action)
                yield Hop(self._numbers[step.step.action], space.index[space.key(paid, step.state)])


def _cheapest(waiting: _Waiting, found: Homes) -> Starving | None:
    """The waiting run of the least cost that ends where a fair run can remain forever."""
    if not found.any():
        return None
    best, most = None, None
    for number, faults, depth in waiting:
        if most is not None and (faults, depth) >= most:
            break
        if found.still[number]:
            start, hops = waiting.way(number)
            return Starving(faults, start, tuple(hops), 0)
        if found.circle[number] and best is None:
            start, hops = waiting.way(number)
            trip = circle(waiting.ways, found, number)
            best, most = Starving(faults, start, (*hops, *trip), len(trip)), (faults, depth + SHORTEST)
    return best


def _beyond(waiting: _Waiting, allowed: bytearray) -> int:
    """The number of states where a run could remain forever if steps beyond the scope were not possible."""
    ways = waiting.ways
    if ways.inside == ways.possible:
        return 0
    found = homes(ways, allowed, ways.inside)
    return sum(found.has(number) for number, _, _ in waiting) if found.any() else 0
