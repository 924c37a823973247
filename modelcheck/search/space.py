"""The visited set: each state stored once, as canonical bytes, with the state it was found from."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import pairwise

from modelcheck.search.symmetry import Orbits
from spec.frozen import frozen
from spec.meaning.ranks import Ranks
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.bounds import of_runs
from spec.model.ir import Budget, Model
from spec.model.values import least

NONE = -1


class FaultBudget:
    """The faults a budget allows; counters by kind are part of a state's key, as its first bytes."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.total = budget.total
        self.allowed = budget.allowed(model)
        counted = [(name, most) for name in model.faults if (most := budget.counted.get(name))]
        self._caps = {name: (place, most) for place, (name, most) in enumerate(counted)}
        self._affordable: dict[bytes, frozenset[str]] = {}
        self.empty = bytes(2 * len(self._caps))

    @property
    def width(self) -> int:
        """The number of bytes of counters in a key."""
        return len(self.empty)

    def affordable(self, spent: bytes) -> frozenset[str]:
        """The faults that the budget still allows."""
        if spent not in self._affordable:
            kept = [f for f in self.allowed if self._count(spent, f) < self._caps.get(f, (0, 1))[1]]
            self._affordable[spent] = frozenset(kept)
        return self._affordable[spent]

    def pay(self, spent: bytes, fault: str) -> bytes:
        """The counters after one more fault, which must be affordable."""
        if fault not in self._caps:
            return spent
        at = 2 * self._caps[fault][0]
        return spent[:at] + (self._count(spent, fault) + 1).to_bytes(2) + spent[at + 2 :]

    def _count(self, spent: bytes, fault: str) -> int:
        """The number of faults of a kind so far; 0 if the budget does not count the kind."""
        if fault not in self._caps:
            return 0
        at = 2 * self._caps[fault][0]
        return int.from_bytes(spent[at : at + 2])


@frozen
class Level:
    """The first number of the states of one layer and depth, which are adjacent."""

    start: int
    faults: int
    depth: int


class Space:
    """The visited set: states numbered in order of discovery, by faults and then by depth.

    Costs the canonical bytes of each state, an entry of a dictionary and a number.
    """

    def __init__(
        self,
        machine: Machine,
        budget: FaultBudget,
        symmetry: tuple[str, ...] = (),
        forgotten: frozenset[int] = frozenset(),
    ) -> None:
        self.machine = machine
        self._forgotten = {n: least(machine.model.variables[n].type, machine.scope) for n in forgotten}
        self.squeezed = Ranks(machine.model, machine.scope).squeezed
        self._names = Orbits(machine, symmetry).key if symmetry else machine.encode
        self.of_runs = Machine(machine.model, of_runs(machine.scope)) if machine.scope.unbounded else machine
        self.index: dict[bytes, int] = {}
        self.levels: list[Level] = []
        self._keys: list[bytes] = []
        self._predecessors = array("q")
        self._budget = budget
        self._free = frozenset(machine.model.free)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, predecessor: int) -> int:
        """Add a new state; returns its number."""
        number = len(self._keys)
        self._keys.append(key)
        self._predecessors.append(predecessor)
        self.index[key] = number
        return number

    def begin(self, faults: int, depth: int) -> None:
        """Begin a level: states added from here on are of that layer and depth."""
        if self.levels and self.levels[-1].start == len(self):
            self.levels.pop()
        self.levels.append(Level(len(self), faults, depth))

    def level(self, number: int) -> Level:
        """The level of a state."""
        return self.levels[bisect_right(self.levels, number, key=lambda level: level.start) - 1]

    def identity(self, state: State) -> bytes:
        """The canonical bytes of a state, squeezed and of its orbit."""
        return self._names(self.squeezed(state))

    def initial(self) -> tuple[State, ...]:
        """The states in which runs start, with the values that the model gives them."""
        return self.of_runs.initial()

    def key(self, spent: bytes, state: State) -> bytes:
        """The key of a state: the counters of faults, and the canonical bytes (of its orbit)."""
        return spent + self.identity(state)

    def remembered(self, state: State, *, last: bool) -> State:
        """The state, as the `last` layer keeps it if it is of that: NOTE(forgotten)."""
        fixed = self._forgotten
        return tuple(fixed.get(n, value) for n, value in enumerate(state)) if last and fixed else state

    def node(self, number: int) -> tuple[bytes, State]:
        """The counters of faults and the state with a number."""
        return self.split(self._keys[number])

    def split(self, key: bytes) -> tuple[bytes, State]:
        """The inverse of `key`."""
        return key[: self._budget.width], self.machine.decode(key[self._budget.width :])

    def path(self, number: int) -> tuple[list[State], list[Step]]:
        """The states and steps of the run that found a state. Costs the steps of each state on it."""
        numbers = [number]
        while (predecessor := self._predecessors[numbers[-1]]) != NONE:
            numbers.append(predecessor)
        numbers.reverse()
        start = self._keys[numbers[0]]
        states = [next(s for s in self.initial() if self.key(self._budget.empty, s) == start)]
        steps: list[Step] = []
        for before, after in pairwise(numbers):
            taken = self._taken(before, states[-1], after)
            states.append(taken.state)
            steps.append(taken.step)
        return states, steps

    def _taken(self, number: int, state: State, after: int) -> Taken:
        """The first step from a state to another (or its orbit), given by number.

        It is a fault exactly when the other state has one more.
        """
        spent, _ = self.node(number)
        faults = self.level(after).faults
        fault, last = self.level(number).faults != faults, 0 < faults == self._budget.total
        for found in self.of_runs.steps(
            state, actions=self._budget.affordable(spent) if fault else self._free
        ):
            if isinstance(found, Taken):
                paid = self._budget.pay(spent, found.step.action) if fault else spent
                if self.key(paid, self.remembered(found.state, last=last)) == self._keys[after]:
                    return found
        raise AssertionError(f"no step from state {number} to {after}")  # `after` was found by one
