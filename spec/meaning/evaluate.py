"""What an expression means: each becomes, once, a function from a frame to a value.

A frame is a list: the state's variables, then the local slots, then what its
owner puts after them.  Everything a bound name needs is its slot, so a nested
quantifier costs no new frame.

NOTE(errors): a quantifier has a value only if it has one at every member, whether
or not another member decides it.  An early end would hide the errors that come
later, and what comes later depends on names that mean nothing: a state would make
an error and the same state with its members renamed would not.  So an early end
is left to where nothing can go wrong.  Of several errors the first in canonical
order (NOTE(order) in `spec/model/values.py`) is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import assert_never

from spec.frozen import frozen
from spec.meaning.fits import fits
from spec.meaning.operators import NoValue, operation
from spec.model.ir import (
    And,
    Apply,
    Bind,
    Config,
    Const,
    Did,
    Expr,
    Fit,
    If,
    Implies,
    Is,
    Let,
    Local,
    Make,
    MapOf,
    Members,
    Old,
    Or,
    Part,
    Scope,
    Value,
    Var,
)
from spec.model.op import Op, Quantifier
from spec.model.totality import Totality
from spec.model.types import Bag, Case, Map, Nat, Set, Union, tells_apart
from spec.model.values import Misfit, ModelError, in_order, members
from spec.model.values_in_use import InUse, makes_value
from spec.source import Span

Frame = list[Value]
Evaluator = Callable[[Frame], Value]
Walker = Callable[[Frame], Iterable[Value]]

BEFORE = -4  # where the frame of an action keeps the state before the step
NOT_GREATEST = "R0609"  # the code of the error that `x + 1` is no new value


@frozen
class FrameLayout:
    """Where a frame has its values: variables from `variables` on, local slots from `locals` on.

    `old` is where the variables from before the step are and `step` the step
    itself; both are -1 where there is no step.  In an action, `in_use` lists for each nat without a bound
    its values in the state before the step, which the frame has at `BEFORE`.
    """

    scope: Scope
    locals: int
    variables: int = 0
    old: int = -1
    step: int = -1
    in_use: Mapping[str, InUse] | None = None


def compiled(expr: Expr, layout: FrameLayout) -> Evaluator:  # noqa: C901 - a dispatch over a union, one line each
    """A function that evaluates an expression in a frame; it raises `ModelError` for an error."""
    match expr:
        case Const(value=value):
            return lambda _: value
        case Config(name=name):
            given = layout.scope.config[name]
            return lambda _: given
        case Var(index=index):
            return itemgetter(layout.variables + index)
        case Local(slot=slot):
            return itemgetter(layout.locals + slot)
        case Apply():
            return _apply(expr, layout)
        case And(parts=parts):
            return _conjunction([compiled(part, layout) for part in parts])
        case Or(parts=parts):
            return _disjunction([compiled(part, layout) for part in parts])
        case Implies(left=left, right=right):
            return _implication(compiled(left, layout), compiled(right, layout))
        case If():
            test, then, other = (compiled(part, layout) for part in (expr.test, expr.then, expr.other))
            return _choice(test, then, other)
        case Let(slot=slot):
            return _let(layout.locals + slot, compiled(expr.value, layout), compiled(expr.body, layout))
        case Members(of=of):
            everything = frozenset(members(of, layout.scope))
            return lambda _: everything
        case Bind():
            return _bind(expr, layout)
        case MapOf():
            return _map_of(expr, layout)
        case Make():
            return _make(expr, layout)
        case Part():
            return _part(expr, layout)
        case Is(of=of, case=case):
            union = compiled(of, layout)
            return lambda frame: union(frame)[0] == case
        case Fit():
            return _fit(expr, layout)
        case Old(of=of):
            return compiled(of, replace(layout, variables=layout.old))
        case Did():
            return _did(expr, layout)
        case _:
            assert_never(expr)


def walked(domain: Expr, case: int | None, layout: FrameLayout) -> Walker:
    """A function that yields a domain's members in canonical order, or those of one case of a union."""
    walk = _walk(domain, layout)
    if case is None:
        return walk
    return lambda frame: [value for value in walk(frame) if value[0] == case]


def _walk(domain: Expr, layout: FrameLayout) -> Walker:
    """A function that yields a domain's members in canonical order."""
    match domain:
        case Members(of=of):
            everything = members(of, layout.scope)
            return lambda _: everything
        case Apply(op=Op.RANGE, args=(lo, hi)):
            first, last = compiled(lo, layout), compiled(hi, layout)
            return lambda frame: range(first(frame), last(frame) + 1)
        case _:
            value, walk = compiled(domain, layout), in_order(domain.type)
            return lambda frame: walk(value(frame))


# ----------------------------------------------------------- operations, logic


def _apply(expr: Apply, layout: FrameLayout) -> Evaluator:
    """The evaluator of an operator."""
    if layout.in_use and makes_value(expr, layout.in_use):
        return _next(expr, layout)
    function = operation(expr.op, [arg.type for arg in expr.args])
    span = expr.span
    match [compiled(arg, layout) for arg in expr.args]:
        case [only]:

            def unary(frame: Frame) -> Value:
                try:
                    return function(only(frame))
                except NoValue as refusal:
                    raise ModelError(refusal.code, refusal.message, span) from None

            return unary
        case [left, right]:

            def binary(frame: Frame) -> Value:
                try:
                    return function(left(frame), right(frame))
                except NoValue as refusal:
                    raise ModelError(refusal.code, refusal.message, span) from None

            return binary
        case _:
            raise TypeError(f"{expr.op} of {len(expr.args)} arguments")


def _next(expr: Apply, layout: FrameLayout) -> Evaluator:
    """`x + 1` of a nat without a bound: an error where a value above x is in use; see NOTE(ordinals)."""
    assert layout.in_use is not None
    assert isinstance(expr.type, Nat)
    one, two = (compiled(arg, layout) for arg in expr.args)
    nat, span = expr.type.name, expr.span
    in_use = layout.in_use[nat]

    def after(frame: Frame) -> Value:
        made = one(frame) + two(frame)
        greatest = max(in_use(frame[BEFORE]), default=0)
        if made <= greatest:
            why = f"{made - 1} + 1 is no new {nat} where {greatest} is in use, so {nat} needs a bound here"
            raise ModelError(NOT_GREATEST, why, span)
        return made

    return after


def _conjunction(parts: list[Evaluator]) -> Evaluator:
    """The evaluator of `and`."""

    def conjunction(frame: Frame) -> bool:
        for part in parts:  # noqa: SIM110 - a loop is faster
            if not part(frame):
                return False
        return True

    return conjunction


def _disjunction(parts: list[Evaluator]) -> Evaluator:
    """The evaluator of `or`."""

    def disjunction(frame: Frame) -> bool:
        for part in parts:  # noqa: SIM110 - a loop is faster
            if part(frame):
                return True
        return False

    return disjunction


def _implication(left: Evaluator, right: Evaluator) -> Evaluator:
    """The evaluator of `implies`."""
    return lambda frame: not left(frame) or right(frame)


def _choice(test: Evaluator, then: Evaluator, other: Evaluator) -> Evaluator:
    """The evaluator of `if`."""
    return lambda frame: then(frame) if test(frame) else other(frame)


def _let(slot: int, value: Evaluator, body: Evaluator) -> Evaluator:
    """The evaluator of `let`."""

    def let(frame: Frame) -> Value:
        frame[slot] = value(frame)
        return body(frame)

    return let


# ------------------------------------------------------------------ quantifiers


def _bind(expr: Bind, layout: FrameLayout) -> Evaluator:
    """The evaluator of a quantifier."""
    each = bound(expr, layout)
    body = compiled(expr.body, layout)
    match expr.quantifier:
        case Quantifier.FORALL:
            return _quantified(each, body, decisive=False, to_the_end=_may_fail(expr))
        case Quantifier.EXISTS:
            return _quantified(each, body, decisive=True, to_the_end=_may_fail(expr))
        case Quantifier.SUM:
            return lambda frame: sum([body(frame) for _ in each(frame)])
        case Quantifier.SET:
            return lambda frame: frozenset([body(frame) for _ in each(frame)])
        case Quantifier.MAX:
            return _extreme(max, each, body, expr.span)
        case Quantifier.MIN:
            return _extreme(min, each, body, expr.span)
        case Quantifier.ARGMAX | Quantifier.ARGMIN:
            return _arg_extreme(expr, each, body)
        case _:
            assert_never(expr.quantifier)


def bound(expr: Bind, layout: FrameLayout) -> Walker:
    """A function that yields a quantifier's members, each put into its slot."""
    slot, walk = layout.locals + expr.slot, walked(expr.domain, expr.case, layout)
    where = None if expr.where is None else compiled(expr.where, layout)

    def each(frame: Frame) -> Iterator[Value]:
        for value in walk(frame):
            frame[slot] = value
            if where is None or where(frame):
                yield value

    return each


def _may_fail(expr: Bind) -> bool:
    """Whether evaluating a quantifier's body or condition may be an error."""
    totality = Totality()
    return not (totality.of(expr.body) and (expr.where is None or totality.of(expr.where)))


def _quantified(each: Walker, body: Evaluator, *, decisive: bool, to_the_end: bool) -> Evaluator:
    """The evaluator of forall or exists: `decisive` is the value that ends it; see NOTE(errors)."""

    def first(frame: Frame) -> bool:
        for _ in each(frame):
            if body(frame) == decisive:
                return decisive
        return not decisive

    def some(frame: Frame) -> bool:
        found = [body(frame) for _ in each(frame)]
        return decisive if decisive in found else not decisive

    return some if to_the_end else first


def _extreme(pick: Callable[[list[Value]], Value], each: Walker, body: Evaluator, span: Span) -> Evaluator:
    """The evaluator of min or max of the body's values."""

    def extreme(frame: Frame) -> Value:
        values = [body(frame) for _ in each(frame)]
        if not values:
            raise ModelError("R0604", f"`{pick.__name__}` of nothing", span)
        return pick(values)

    return extreme


def _arg_extreme(expr: Bind, each: Walker, body: Evaluator) -> Evaluator:
    """The evaluator of argmin or argmax: the first best member; on a sort a tie is an error."""
    pick: Callable[[list[Value]], Value] = max if expr.quantifier is Quantifier.ARGMAX else min
    word, span, unordered = expr.quantifier.value, expr.span, tells_apart(expr.domain.type)

    def arg_extreme(frame: Frame) -> Value:
        found = [(value, body(frame)) for value in each(frame)]
        if not found:
            raise ModelError("R0604", f"`{word}` of nothing", span)
        best = pick([score for _, score in found])
        first, *others = [value for value, score in found if score == best]
        if unordered and others:
            raise ModelError("R0606", f"`{word}` is a tie between {1 + len(others)} members", span)
        return first

    return arg_extreme


def _map_of(expr: MapOf, layout: FrameLayout) -> Evaluator:
    """The evaluator of a map comprehension."""
    if not isinstance(expr.type, Map):
        raise TypeError(f"{expr.type} is no map")
    keys, slot = members(expr.type.key, layout.scope), layout.locals + expr.slot
    body = compiled(expr.body, layout)

    def map_of(frame: Frame) -> Value:
        values = []
        for key in keys:
            frame[slot] = key
            values.append(body(frame))
        return tuple(values)

    return map_of


# ------------------------------------------------------------ parts and wholes


def _make(expr: Make, layout: FrameLayout) -> Evaluator:
    """The evaluator of a literal."""
    parts = [compiled(part, layout) for part in expr.parts]
    case = expr.case
    if case is not None:
        return lambda frame: (case, *[part(frame) for part in parts])
    if isinstance(expr.type, Set):
        return lambda frame: frozenset([part(frame) for part in parts])
    if isinstance(expr.type, Bag):
        return lambda frame: frozenset(Counter([part(frame) for part in parts]).items())
    return lambda frame: tuple([part(frame) for part in parts])


def _part(expr: Part, layout: FrameLayout) -> Evaluator:
    """The evaluator of a field."""
    whole = compiled(expr.of, layout)
    if not isinstance(expr.of.type, Union | Case):
        index = expr.index
        return lambda frame: whole(frame)[index]
    at, case, span = expr.index + 1, expr.case, expr.span  # a union's first item is its case
    if case is None:
        return lambda frame: whole(frame)[at]

    def part(frame: Frame) -> Value:
        value = whole(frame)
        if value[0] != case:
            raise ModelError("R0607", f"the value is another case of {expr.of.type}", span)
        return value[at]

    return part


def _fit(expr: Fit, layout: FrameLayout) -> Evaluator:
    """The evaluator of a value to be stored, which checks that it fits."""
    value, check, span = compiled(expr.of, layout), fits(expr.type, layout.scope), expr.span
    if check is None:
        return value

    def fit(frame: Frame) -> Value:
        fitting = value(frame)
        try:
            check(fitting)
        except Misfit as misfit:
            raise ModelError("R0601", str(misfit), span) from None
        return fitting

    return fit


# --------------------------------------------------------------- about a step


def _did(expr: Did, layout: FrameLayout) -> Evaluator:
    """The evaluator of `did`."""
    at, action, args = layout.step, expr.action, [compiled(arg, layout) for arg in expr.args]

    def did(frame: Frame) -> bool:
        step = frame[at]
        return step.action == action and all(
            arg(frame) == given for arg, given in zip(args, step.args, strict=False)
        )

    return did
