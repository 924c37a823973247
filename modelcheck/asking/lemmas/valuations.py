"""Which conditions are true together: the columns of truth values that reachable states have.

A column has one bit for each condition of a frame, for one state and one way to bind the frame's
names.  Columns of all states and ways are collected, each kept once; there are few of them, and a
clause is true in all states where each column makes one of its literals true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.evaluation import Evaluation, NumberedStates, Numbers, Truths
from modelcheck.asking.lemmas.reached import Reached
from modelcheck.asking.lemmas.vocabulary import BoundName, Frame
from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.op import Op
from spec.model.values import members

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
    """States of one scope, and the columns of frames in them."""

    def __init__(self, model: ir.Model, scope: ir.Scope, states: Sequence[State]) -> None:
        self.scope, self.states = scope, states
        self._numbered = NumberedStates(model, scope, states)

    def columns(self, frame: Frame) -> Bytes:
        """The distinct columns of the frame, one a row, packed.  Costs a look at each state."""
        values, _ = self.rows(frame)
        return np.unique(np.packbits(values, axis=1), axis=0)

    def rows(self, frame: Frame) -> tuple[Truths, Numbers]:
        """The columns of the frame for each state and each way to bind its names, and which state it is."""
        names: list[list[ir.Value]] = []
        for each in frame.binders:
            names.append(self._values(each, names))
        evaluation = Evaluation(self._numbered, names)
        shape = (len(self.states), *map(len, names))
        present = np.ones(shape, dtype=bool)
        for each in frame.binders:
            if each.domain is not None:
                present &= evaluation.truths(_is_member(each, each.domain.expr))
        found = np.empty((int(present.sum()), len(frame.atoms)), dtype=bool)
        for n, atom in enumerate(frame.atoms):
            found[:, n] = np.broadcast_to(evaluation.truths(atom.expr), shape)[present]
        return found, np.nonzero(present)[0]

    def _values(self, one: BoundName, before: Sequence[Sequence[ir.Value]]) -> list[ir.Value]:
        """The values that a name may have: of its type, or those in its domain in some state."""
        if one.domain is None:
            return list(members(one.type, self.scope))
        found: dict[ir.Value, None] = {}
        for whole in Evaluation(self._numbered, before).of(one.domain.expr).values:
            for value in sorted(whole, key=repr):
                each = value[0] if isinstance(one.domain.type, t.Bag) else value
                if one.case is None or each[0] == one.case:
                    found[each] = None
        return list(found)


def _is_member(one: BoundName, domain: ir.Expr) -> ir.Expr:
    """The condition that the value of a name is in its domain."""
    return ir.Apply(Op.IN, (one.phrase.expr, domain), type=t.BOOL, span=domain.span)


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
