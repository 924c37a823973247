"""The values of terms and shapes under known values of the plain variables."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from modelcheck.grounding.shapes import Shape, value_of
from modelcheck.grounding.terms import GroundTerm, Sign
from spec.model.ir import Value

Values = Sequence[int]
OF_ARGS: dict[Sign, Callable[..., int]] = {
    Sign.NOT: operator.not_,
    Sign.AND: lambda *args: all(args),
    Sign.OR: lambda *args: any(args),
    Sign.EQ: operator.eq,
    Sign.LT: operator.lt,
    Sign.ADD: operator.add,
    Sign.SUB: operator.sub,
    Sign.MUL: operator.mul,
    Sign.DIV: operator.floordiv,
    Sign.MOD: operator.mod,
    Sign.ITE: lambda test, a, b: a if test else b,
}


def term_value(term: GroundTerm, values: Values, known: dict[GroundTerm, int] | None = None) -> int:
    """The value of a term under an assignment of the variables; 1 or 0 for a Boolean.

    Costs a look at each part once; `known` keeps them for other terms over the same values.
    """
    found = {} if known is None else known
    stack = [term]
    while stack:
        top = stack[-1]
        if top in found:
            stack.pop()
            continue
        waiting = [arg for arg in top.args if arg not in found]
        if waiting:
            stack.extend(waiting)
            continue
        found[top] = _leaf(top, values) if not top.args else int(OF_ARGS[top.sign](*map(found.get, top.args)))
        stack.pop()
    return found[term]


def _leaf(term: GroundTerm, values: Values) -> int:
    """The value of a variable or constant."""
    return int(values[term.value]) if term.sign is Sign.VAR else term.lo


def decoded(shape: Shape, values: Values) -> Value:
    """The value of a stored shape under an assignment of the flat variables."""
    return value_of(shape, lambda term: term_value(term, values))
