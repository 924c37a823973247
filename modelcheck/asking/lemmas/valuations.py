"""Which conditions are true together: the columns of truth values that reachable states have.

A column has one bit for each condition of a frame, for one state and one way to bind the frame's
names.  Columns of all states and ways are collected, each kept once; there are few of them, and a
clause is true in all states where each column makes one of its literals true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.reached import Reached
from modelcheck.asking.lemmas.vocabulary import BoundName, Frame
from spec.frozen import frozen
from spec.meaning.evaluate import FrameLayout, compiled
from spec.meaning.semantics import State
from spec.model.op import Op
from spec.model.values import ModelError, members
from spec.model.walk import walk

SLOTS = 16  # more than a condition binds
Truths = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@frozen
class Valuations:
    """The columns of a frame in some states: for each condition the set of columns where it is true.

    Sets of columns are integers, one bit for each column.
    """

    count: int
    true: tuple[int, ...]

    @property
    def all(self) -> int:
        """Every column."""
        return (1 << self.count) - 1

    def unlike(self, column: Sequence[bool]) -> list[int]:
        """For each condition the columns in which it has another value than in this one."""
        every = self.all
        return [every ^ true if value else true for true, value in zip(self.true, column, strict=True)]


class StateTable:
    """States of one scope, with a number for each value of each variable, to evaluate nothing twice."""

    def __init__(self, model: ir.Model, scope: ir.Scope, states: Sequence[State]) -> None:
        self.model, self.scope, self.states = model, scope, states
        self._layout = FrameLayout(scope, len(model.variables))
        self.ids = np.zeros((len(states), len(model.variables)), dtype=np.int64)
        for index in range(len(model.variables)):
            known: dict[ir.Value, int] = {}
            for row, state in enumerate(states):
                self.ids[row, index] = known.setdefault(state[index], len(known))
        self._groups: dict[tuple[int, ...], tuple[list[int], Numbers]] = {}
        self._elements: dict[tuple[ir.Expr, int | None, tuple[BoundName, ...]], list[ir.Value]] = {}

    def columns(self, frame: Frame) -> Bytes:
        """The distinct columns of the frame, one a row, packed.  Costs a look at each state."""
        values, _ = self.rows(frame)
        return np.unique(np.packbits(values, axis=1), axis=0)

    def rows(self, frame: Frame) -> tuple[Truths, Numbers]:
        """The columns of the frame for each state and each way to bind its names, and which state it is."""
        values = [self._values(frame.binders, n) for n in range(len(frame.binders))]
        shape = (len(self.states), *map(len, values))
        present = np.ones(shape, dtype=bool)
        for each in frame.binders:
            if each.domain is not None:
                present &= self._member(each, frame.binders, values)
        found = np.empty((int(present.sum()), len(frame.atoms)), dtype=bool)
        for n, atom in enumerate(frame.atoms):
            found[:, n] = np.broadcast_to(self._evaluated(atom.expr, frame.binders, values), shape)[present]
        return found, np.nonzero(present)[0]

    def _values(self, binders: Sequence[BoundName], n: int) -> list[ir.Value]:
        """The values that a name may have."""
        one = binders[n]
        if one.domain is None:
            return list(members(one.type, self.scope))
        key = (one.domain.expr, one.case, tuple(binders[:n]))
        if key not in self._elements:
            self._elements[key] = self._found_elements(one, binders[:n])
        return self._elements[key]

    def _found_elements(self, one: BoundName, before: Sequence[BoundName]) -> list[ir.Value]:
        """The values that are in the domain of a name in some state."""
        assert one.domain is not None
        evaluate = compiled(one.domain.expr, self._layout)
        firsts, _ = self._projected(one.domain.expr)
        outer = [self._values(before, n) for n in range(len(before))]
        found: dict[ir.Value, None] = {}
        bag = isinstance(one.domain.type, t.Bag)
        for row in firsts:
            for args in product(*outer):
                inside = evaluate([*self.states[row], *args, *[None] * SLOTS])
                for value in sorted(inside, key=repr):
                    value = value[0] if bag else value  # noqa: PLW2901
                    if one.case is None or value[0] == one.case:
                        found[value] = None
        return list(found)

    def _member(
        self, one: BoundName, binders: Sequence[BoundName], values: Sequence[Sequence[ir.Value]]
    ) -> Truths:
        """Whether the value of a name is in its domain."""
        assert one.domain is not None
        inside = ir.Apply(Op.IN, (one.phrase.expr, one.domain.expr), type=t.BOOL, span=one.domain.expr.span)
        return self._evaluated(inside, binders, values)

    def _evaluated(
        self, expr: ir.Expr, binders: Sequence[BoundName], values: Sequence[Sequence[ir.Value]]
    ) -> Truths:
        """The truth values of a condition, by state and by the values of names."""
        slots = sorted(
            {each.slot for each in walk(expr) if isinstance(each, ir.Local) and each.slot < len(binders)}
        )
        firsts, inverse = self._projected(expr)
        evaluate = compiled(expr, self._layout)
        shape = (len(firsts), *(len(each) if n in slots else 1 for n, each in enumerate(values)))
        found = np.zeros(shape, dtype=bool)
        flat = found.reshape(len(firsts), -1)
        choices = [each if n in slots else (None,) for n, each in enumerate(values)]
        ways = list(product(*choices))
        pad = [None] * SLOTS
        for at, row in enumerate(firsts):
            state = list(self.states[row])
            for place, args in enumerate(ways):
                try:
                    flat[at, place] = evaluate([*state, *args, *pad])
                except (ModelError, TypeError, KeyError, IndexError):
                    flat[at, place] = False
        return np.asarray(found[inverse], dtype=bool)

    def _projected(self, expr: ir.Expr) -> tuple[list[int], Numbers]:
        """The variables in an expression, a state for each of their values, and which each state has."""
        used = tuple(sorted({each.index for each in walk(expr) if isinstance(each, ir.Var)}))
        if used not in self._groups:
            if used:
                found = np.unique(self.ids[:, used], axis=0, return_index=True, return_inverse=True)
                self._groups[used] = ([int(n) for n in found[1]], found[2].reshape(-1).astype(np.int64))
            else:
                self._groups[used] = ([0], np.zeros(len(self.states), dtype=np.int64))
        return self._groups[used]


class FrameValuations:
    """The columns of frames in reachable states, each computed when it is first asked for."""

    def __init__(self, model: ir.Model, found: Sequence[Reached]) -> None:
        self._tables = [StateTable(model, each.scope, each.states) for each in found]
        self._known: dict[Frame, Valuations] = {}

    def of(self, frame: Frame) -> Valuations:
        """The columns of a frame in all states."""
        if frame not in self._known:
            rows = np.unique(np.concatenate([each.columns(frame) for each in self._tables]), axis=0)
            bits = np.unpackbits(rows, axis=1, count=len(frame.atoms))
            true = tuple(
                int.from_bytes(np.packbits(bits[:, n], bitorder="little").tobytes(), "little")
                for n in range(len(frame.atoms))
            )
            self._known[frame] = Valuations(len(rows), true)
        return self._known[frame]


def columns_of(model: ir.Model, scope: ir.Scope, state: State, frame: Frame) -> Iterator[tuple[bool, ...]]:
    """The distinct columns of a frame in one state."""
    rows = StateTable(model, scope, [state]).columns(frame)
    for row in np.unpackbits(rows, axis=1, count=len(frame.atoms)):
        yield tuple(bool(each) for each in row)
