"""When two runs are one way to go wrong: by the names of members, and by the order of steps, they may differ.

NOTE(shape): the shape of a run is its start and its steps, with interchangeable members
renamed so that the start comes first among all that it can be renamed to, and the steps
brought into the first order that there is.  Two neighbours change places where either
order leads to the same state.  The last step stays the last where it is what is wrong.
(Where another order goes wrong sooner, fewer steps do, and the whole is no way of its own.)
Where it depends on the state whether neighbours may change places, one way may have two shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import factorial

from counterexamples.reorder import Neighbours
from counterexamples.trace import BadAssert, BadStep, Trace
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import Value
from spec.model.renaming import Renaming, renamed
from spec.model.types import Type
from spec.model.values import Encoder, encode

MOST_RENAMINGS = 1_000  # of a run, such as those of six members; those of further sorts keep their names
Label = tuple[str, tuple[bytes, ...]]
Chosen = tuple[tuple[str, Renaming], ...]


class Shape:
    """A run up to renaming of interchangeable members and reordering of independent steps.

    `key` is equal for two runs of one shape.  Costs the steps of a state for each pair of
    steps, and all renamings of the start.
    """

    def __init__(self, run: Trace, sorts: Sequence[str]) -> None:
        machine = Machine(run.model, run.scope)
        labels = _Labels(run, machine, sorts)
        self._start, renamings = labels.first_starts()
        order = _Order(run, machine)
        self._steps = [[labels.of(step, chosen) for step in run.steps] for chosen in renamings]
        self._least = min(order.first(steps) for steps in self._steps)

    @property
    def key(self) -> tuple[bytes, tuple[Label, ...]]:
        """The start and the steps in normal form."""
        return self._start, self._least

    def contains(self, other: Shape) -> bool:
        """Whether a run has all steps of another from the same start, and more."""
        if self._start != other._start or len(self._least) <= len(other._least):
            return False
        own = Counter(self._least)
        return any(Counter(steps) <= own for steps in other._steps)


class _Labels:
    """Encodes steps and states under renamings as comparable bytes."""

    def __init__(self, run: Trace, machine: Machine, sorts: Sequence[str]) -> None:
        self._run = run
        self._machine = machine
        self._sizes = [(name, len(run.scope.sorts[name])) for name in sorts]
        self._encoders: dict[Type, Encoder] = {}
        self._params = {action.name: [param.type for param in action.params] for action in run.model.actions}

    def first_starts(self) -> tuple[bytes, list[Chosen]]:
        """The least encoding of the start, and all renamings that give it."""
        found: dict[bytes, list[Chosen]] = {}
        for chosen in self._renamings():
            found.setdefault(self._machine.encode(self._state(self._run.states[0], chosen)), []).append(
                chosen
            )
        least = min(found)
        return least, found[least]

    def of(self, step: Step, chosen: Chosen) -> Label:
        """The encoding of a step after a renaming."""
        args = zip(self._params[step.action], step.args, strict=False)
        choices = ((choice.type, choice.value) for choice in step.choices)
        return step.action, tuple(self._bytes(of, value, chosen) for of, value in (*args, *choices))

    def _bytes(self, of: Type, value: Value, chosen: Chosen) -> bytes:
        """The encoding of a value after a renaming."""
        if of not in self._encoders:
            self._encoders[of] = encode(of, self._run.scope)
        return self._encoders[of](_renamed(of, value, chosen))

    def _state(self, state: State, chosen: Chosen) -> State:
        """The state after a renaming."""
        pairs = zip(self._run.model.variables, state, strict=True)
        return tuple(_renamed(variable.type, value, chosen) for variable, value in pairs)

    def _renamings(self) -> Iterator[Chosen]:
        """All renamings of as many sorts as is feasible."""
        kept, many = [], 1
        for name, size in sorted(self._sizes, key=lambda each: each[1]):
            many *= factorial(size)
            if many <= MOST_RENAMINGS:
                kept.append((name, size))
        for each in product(*(permutations(range(size)) for _, size in kept)):
            yield tuple((name, renaming) for (name, _), renaming in zip(kept, each, strict=True))


def _renamed(of: Type, value: Value, chosen: Chosen) -> Value:
    """The value after a renaming."""
    for name, renaming in chosen:
        value = renamed(of, name, value, renaming)
    return value


class _Order:
    """The reorderings of a run's steps by exchanges of independent neighbours."""

    def __init__(self, run: Trace, machine: Machine) -> None:
        self._run = run
        self._neighbours = Neighbours(machine)
        self._fixed = isinstance(run.ending, BadStep | BadAssert)

    def first(self, labels: Sequence[Label]) -> tuple[Label, ...]:
        """The least sequence of labels among the reorderings."""
        left = list(zip(labels, self._run.steps, strict=True))
        states, found = self._run.states, list[Label]()
        last = left.pop() if self._fixed else None
        while left:
            at, states = min(self._next(states, left), key=lambda each: left[each[0]][0])
            found.append(left.pop(at)[0])
        return (*found, *([] if last is None else [last[0]]))

    def _next(
        self, states: Sequence[State], left: Sequence[tuple[Label, Step]]
    ) -> Iterator[tuple[int, tuple[State, ...]]]:
        """The steps that can come first, by index, with the states that follow."""
        for at, (_, step) in enumerate(left):
            moved = list(states)
            for before in range(at - 1, -1, -1):
                between = self._neighbours.exchanged(moved[before], left[before][1], step, moved[before + 2])
                if between is None:
                    break
                moved[before + 1] = between
            else:
                yield at, tuple(moved[1:])
