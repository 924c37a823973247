"""Expressions in many states at once: each operator is applied once to each combination of its arguments.

Values are numbered, and a whole of them, by state and by the values of bound names, is an array of numbers
with an axis for the states, one for each name, and a last one for the member of a set in braces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import spec.model.ir as ir
from spec.frozen import frozen
from spec.meaning.evaluate import FrameLayout, compiled
from spec.meaning.semantics import State
from spec.model.op import Op, Quantifier
from spec.model.values import ModelError, members
from spec.model.walk import children, variables_in, walk, with_parts

SLOTS = 16  # more than a condition binds
Truths = NDArray[np.bool_]
Numbers = NDArray[np.int64]


class _Error:
    """The value of an expression that makes an error of the model."""


ERROR = _Error()


@frozen
class ManyValues:
    """Values by state and by the values of names: an array of places in a list of distinct values."""

    places: Numbers
    values: tuple[ir.Value, ...]


class NumberedStates:
    """States of one scope, with a number for each value of each variable."""

    def __init__(self, model: ir.Model, scope: ir.Scope, states: Sequence[State]) -> None:
        self.model, self.scope, self.states = model, scope, states
        self._numbered: dict[int, tuple[Numbers, tuple[ir.Value, ...]]] = {}

    def variable(self, index: int) -> tuple[Numbers, tuple[ir.Value, ...]]:
        """The number of a variable's value in each state, and the values."""
        if index not in self._numbered:
            known: dict[ir.Value, int] = {}
            numbers = [known.setdefault(state[index], len(known)) for state in self.states]
            self._numbered[index] = np.array(numbers, dtype=np.int64), tuple(known)
        return self._numbered[index]


class Evaluation:
    """Evaluates expressions over bound names in all states.

    `names` has the values of each name, by slot.  What expressions have in common is evaluated once.
    """

    def __init__(self, states: NumberedStates, names: Sequence[Sequence[ir.Value]]) -> None:
        self._states, self._names = states, names
        self._known: dict[tuple[ir.Expr, object], ManyValues] = {}
        self._inner: tuple[ir.Value, ...] = ()  # members that the braces around an expression range over

    def truths(self, expr: ir.Expr) -> Truths:
        """Where a condition is true, with an axis for states and one for each name; errors are false."""
        found = self.of(expr)
        true = np.array([value is True for value in found.values], dtype=bool)
        return np.asarray(true[found.places][..., 0], dtype=bool)

    def of(self, expr: ir.Expr) -> ManyValues:
        """The values of an expression."""
        key = expr, self._inner
        if key not in self._known:
            self._known[key] = self._computed(expr)
        return self._known[key]

    def _computed(self, expr: ir.Expr) -> ManyValues:
        """The values of an expression, from those of its parts."""
        match expr:
            case ir.Var(index=index):
                numbers, values = self._states.variable(index)
                return ManyValues(self._along(numbers, 0), values)
            case ir.Local(slot=slot):
                names = self._names[slot] if slot < len(self._names) else self._inner
                return ManyValues(self._along(np.arange(len(names)), slot + 1), tuple(names))
            case ir.Apply(
                op=Op.SIZE,
                args=(ir.Bind(quantifier=Quantifier.SET, domain=ir.Members(), where=where) as braces,),
            ) if where is not None and braces.slot == len(self._names):
                return self._counted(braces, where)
            case ir.Bind() | ir.Let() | ir.MapOf():
                return self._as_a_whole(expr)
            case _:
                parts = children(expr)
                holes = iter([ir.Local(n, type=each.type, span=each.span) for n, each in enumerate(parts)])
                apart = compiled(with_parts(expr, lambda _: next(holes)), FrameLayout(self._states.scope, 0))
                return self._combined([self.of(each) for each in parts], lambda args: apart([*args, *PAD]))

    def _along(self, numbers: Numbers, axis: int) -> Numbers:
        """Numbers along one axis."""
        shape = [1] * (len(self._names) + 2)
        shape[axis] = len(numbers)
        return numbers.reshape(shape)

    def _counted(self, braces: ir.Bind, where: ir.Expr) -> ManyValues:
        """The size of the set of the members of a sort for which a condition is true."""
        assert isinstance(braces.domain, ir.Members)
        outer = self._inner
        self._inner = tuple(members(braces.domain.of, self._states.scope))
        try:
            found = self.of(where)
            true = np.array([value is True for value in found.values], dtype=bool)[found.places]
            true = np.broadcast_to(true, (*true.shape[:-1], len(self._inner)))
            count = len(self._inner)
        finally:
            self._inner = outer
        return ManyValues(true.sum(axis=-1, keepdims=True).astype(np.int64), tuple(range(count + 1)))

    def _as_a_whole(self, expr: ir.Expr) -> ManyValues:
        """The values of an expression that binds names of its own, by the variables and names in it."""
        variables = sorted(variables_in(expr))
        last = len(self._names) + bool(self._inner)
        slots = sorted({each.slot for each in walk(expr) if isinstance(each, ir.Local) and each.slot < last})
        count = len(self._states.model.variables)
        evaluate = compiled(expr, FrameLayout(self._states.scope, count))
        leaves: list[ir.Expr] = [ir.Var(index, type=expr.type, span=expr.span) for index in variables]
        leaves += [ir.Local(slot, type=expr.type, span=expr.span) for slot in slots]

        def value(args: Sequence[ir.Value]) -> ir.Value:
            frame = [None] * (count + SLOTS)
            for index, each in zip(variables, args, strict=False):
                frame[index] = each
            for slot, each in zip(slots, args[len(variables) :], strict=True):
                frame[count + slot] = each
            return evaluate(frame)

        return self._combined([self.of(each) for each in leaves], value)

    def _combined(
        self, parts: Sequence[ManyValues], value: Callable[[Sequence[ir.Value]], ir.Value]
    ) -> ManyValues:
        """The values of an operator for each combination of those of its arguments."""
        shape = np.broadcast_shapes((1,) * (len(self._names) + 2), *(each.places.shape for each in parts))
        code = np.zeros(shape, dtype=np.int64)
        for each in parts:
            code = code * len(each.values) + each.places
        codes, inverse = np.unique(code, return_inverse=True)
        known: dict[ir.Value, int] = {}
        numbers = []
        for one in codes.tolist():
            args, left = [], one
            for each in reversed(parts):
                left, place = divmod(left, len(each.values))
                args.append(each.values[place])
            numbers.append(known.setdefault(_value(value, args[::-1]), len(known)))
        places = np.array(numbers, dtype=np.int64)[inverse.reshape(shape)]
        return ManyValues(places, tuple(known))


PAD = [None] * SLOTS


def _value(value: Callable[[Sequence[ir.Value]], ir.Value], args: Sequence[ir.Value]) -> ir.Value:
    """The value for some arguments; ERROR where there is none."""
    if any(each is ERROR for each in args):
        return ERROR
    try:
        return value(args)
    except ModelError:
        return ERROR
