"""States between reachable ones, by which the strength of a lemma is measured.

A mixture takes each part of the state (a variable, or the entry of a map for one member) from one of two
reachable states.  Most are not reachable, and resemble those in which induction fails: of two
candidates, the one that excludes more of them is the stronger lemma (endive counts states so).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.reached import Reached
from modelcheck.asking.lemmas.valuations import StateTable
from modelcheck.asking.lemmas.vocabulary import Frame
from spec.meaning.semantics import Machine, State
from spec.model.renaming import rename_of
from spec.model.values import ModelError

COUNT = 1500  # mixtures
MANY = 100  # reachable states from which on a scope is large enough


def mixtures(model: ir.Model, reached: Reached, symmetric: Sequence[str], count: int = COUNT) -> list[State]:
    """Mixtures of the states of one scope, the same in each run, none of them known to be reachable."""
    random = Random(model.name)  # noqa: S311 - no secret
    known, found = set(reached.states), dict[State, None]()
    renamings = {name: [rename_of(one.type, t.Sort(name)) for one in model.variables] for name in symmetric}
    for _ in range(4 * count):
        if len(found) >= count:
            break
        one, other = random.choice(reached.states), random.choice(reached.states)
        for name, renames in renamings.items():
            order = list(range(len(reached.scope.sorts[name])))
            random.shuffle(order)
            other = tuple(
                value if rename is None else rename(value, tuple(order))
                for value, rename in zip(other, renames, strict=True)
            )
        share = random.choice((0.15, 0.3, 0.5))
        state = tuple(
            _mixed(variable.type, a, b, share, random)
            for variable, a, b in zip(model.variables, one, other, strict=True)
        )
        if state not in known:
            found[state] = None
    return list(found)


def _mixed(of: t.Type, one: ir.Value, other: ir.Value, share: float, random: Random) -> ir.Value:
    """A value with some of its parts from another."""
    if isinstance(of, t.Map):
        return tuple(_mixed(of.value, a, b, share, random) for a, b in zip(one, other, strict=True))
    return other if random.random() < share else one


class Strength:
    """How many mixtures a candidate excludes that the claims and lemmas so far do not."""

    def __init__(self, model: ir.Model, reached: Reached, symmetric: Sequence[str]) -> None:
        self._states = mixtures(model, reached, symmetric)
        self._machine = Machine(model, reached.scope)
        self._table = StateTable(model, reached.scope, self._states)
        self._alive = np.ones(len(self._states), dtype=bool)
        self._known: dict[Frame, tuple[NDArray[np.bool_], NDArray[np.int64]]] = {}
        self._asked: dict[str, NDArray[np.bool_]] = {}

    def assume(self, claims: Iterable[ir.Property]) -> None:
        """Count only states in which these claims are true."""
        alive = np.ones(len(self._states), dtype=bool)
        for each in claims:
            if each.expr is not None and each.kind in (ir.PropertyKind.INVARIANT, ir.PropertyKind.LEMMA):
                if each.name not in self._asked:
                    self._asked[each.name] = self._true(each)
                alive &= self._asked[each.name]
        self._alive = alive

    def of(self, frame: Frame, column: Sequence[bool], chosen: Sequence[int]) -> int:
        """The number of states that a clause excludes."""
        if frame not in self._known:
            self._known[frame] = self._table.rows(frame)
        values, states = self._known[frame]
        false = np.ones(len(values), dtype=bool)
        for n in chosen:
            false &= values[:, n] == column[n]
        out = np.zeros(len(self._states), dtype=bool)
        out[states[false]] = True
        return int((out & self._alive).sum())

    def _true(self, claim: ir.Property) -> NDArray[np.bool_]:
        """In which states a claim is true."""
        holds = self._machine.condition(claim)
        found = np.ones(len(self._states), dtype=bool)
        for n, state in enumerate(self._states):
            try:
                found[n] = holds(state)
            except ModelError:
                found[n] = False
        return found
