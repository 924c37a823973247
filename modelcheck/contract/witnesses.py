"""What a state has to show for a part of a property to be put to the test at all.

`forall m in sent. …` says nothing where `sent` never has a member, and `a implies b` nothing where `a`
is never true.  For each such part of a property there is a condition of states, a *witness*: that the
evaluation of the property comes to that part, and that the set has a member there, or that the condition
is true.  Where no reachable state is a witness, the part holds of nothing.

NOTE(witnesses): a witness is a `reachable` under a name of its own, so a search asks for it as for any
other.  It evaluates what the property evaluates up to that part, so it makes no error that the property
does not make.  Of a `step`, what mixes the states before and after the step is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import spec.model.ir as ir
from modelcheck.contract.engine import Witness
from modelcheck.contract.result import UntestedPart
from spec.model.op import Op, Quantifier
from spec.model.types import BOOL, Map, Set
from spec.model.walk import children, with_parts
from spec.source import Span

MOST = 63  # properties and witnesses that an engine asks of a state
NO_CONDITION = {ir.PropertyKind.ASSERT, ir.PropertyKind.DEADLOCK_FREE}  # that every state is asked
QUANTIFIERS = {Quantifier.FORALL, Quantifier.EXISTS}

Within = Callable[[ir.Expr], ir.Expr]  # that the evaluation comes somewhere, and a condition is true there


def witnesses(properties: Sequence[ir.Property]) -> tuple[Witness, ...]:
    """The witnesses for all parts of properties. Costs a look at each expression.

    There are none where they are more than an engine can ask about besides the properties.
    """
    found = tuple(each for prop in properties for each in _of_property(prop))
    return found if len(found) + len(properties) <= MOST else ()


def _of_property(prop: ir.Property) -> Iterator[Witness]:
    """The witnesses of one property, each condition once."""
    if prop.kind in NO_CONDITION:
        return
    seen: list[ir.Expr] = []
    parts = (part for expr in (prop.expr, prop.goal) if expr is not None for part in _parts(expr, _itself))
    for span, is_quantifier, expr in parts:
        condition = _of_one_state(expr)
        if condition is not None and condition not in seen:
            seen.append(condition)
            name = f"{prop.name}, part {len(seen)}"
            asked = ir.Property(
                name, ir.PropertyKind.REACHABLE, condition, None, prop.slots, None, span=prop.span
            )
            yield Witness(UntestedPart(prop.name, span, is_quantifier), asked)


def _parts(expr: ir.Expr, within: Within) -> Iterator[tuple[Span, bool, ir.Expr]]:
    """Each part that may hold vacuously: its span, whether it is a quantifier, and the condition to reach."""
    match expr:
        case ir.And(parts=parts):
            for number, part in enumerate(parts):
                yield from _parts(part, _after(within, parts[:number]))
        case ir.Or(parts=parts):
            for number, part in enumerate(parts):
                yield from _parts(part, _after(within, [_no(each) for each in parts[:number]]))
        case ir.Implies(left=left, right=right):
            yield left.span, False, within(left)
            yield from _parts(left, within)
            yield from _parts(right, _after(within, [left]))
        case ir.If(test=test, then=then, other=other):
            yield from _parts(test, within)
            yield from _parts(then, _after(within, [test]))
            yield from _parts(other, _after(within, [_no(test)]))
        case ir.Let(value=value, body=body):
            yield from _parts(value, within)
            yield from _parts(body, lambda each: within(replace(expr, body=each, type=BOOL)))
        case ir.Bind():
            yield from _of_bind(expr, within)
        case ir.MapOf():
            yield from _parts(expr.body, lambda each: within(_some_key(expr, each)))
        case ir.Old(of=of):
            yield from _parts(of, lambda each: within(replace(expr, of=each, type=BOOL)))
        case _:
            for part in children(expr):
                yield from _parts(part, within)


def _of_bind(expr: ir.Bind, within: Within) -> Iterator[tuple[Span, bool, ir.Expr]]:
    """The parts of a quantifier."""
    yield from _parts(expr.domain, within)
    if expr.where is not None:
        yield from _parts(expr.where, lambda each: within(_some(expr, None, each)))
    is_sure = isinstance(expr.domain, ir.Members) and expr.where is None and expr.case is None
    if expr.quantifier in QUANTIFIERS and not is_sure:
        last = expr.domain if expr.where is None else expr.where
        any_ = ir.Const(value=True, type=BOOL, span=expr.span)
        yield (
            Span(expr.span.start, max(last.span.end, expr.span.start)),
            True,
            within(_some(expr, expr.where, any_)),
        )
    yield from _parts(expr.body, lambda each: within(_some(expr, expr.where, each)))


# ------------------------------------------------------------------ expressions


def _itself(expr: ir.Expr) -> ir.Expr:
    """The expression itself."""
    return expr


def _no(expr: ir.Expr) -> ir.Expr:
    """The negation of an expression."""
    return ir.Apply(Op.NOT, (expr,), type=BOOL, span=expr.span)


def _after(within: Within, before: Sequence[ir.Expr]) -> Within:
    """The context in which evaluation continues after some conditions were true."""
    if not before:
        return within
    return lambda each: within(ir.And((*before, each), type=BOOL, span=each.span))


def _some(bind: ir.Bind, where: ir.Expr | None, body: ir.Expr) -> ir.Expr:
    """The expression that a condition holds for some member."""
    return replace(bind, quantifier=Quantifier.EXISTS, where=where, body=body, type=BOOL)


def _some_key(expr: ir.MapOf, body: ir.Expr) -> ir.Expr:
    """The expression that a condition holds for some key."""
    assert isinstance(expr.type, Map)
    keys = ir.Members(expr.type.key, type=Set(expr.type.key), span=expr.span)
    return ir.Bind(Quantifier.EXISTS, expr.slot, expr.name, keys, None, body, type=BOOL, span=expr.span)


# ---------------------------------------------------------- of a state before or after a step


def _of_one_state(expr: ir.Expr) -> ir.Expr | None:
    """The condition as one of a single state; None if it depends on both states of a step."""
    reads = set(_reads(expr, is_old=False))
    return None if "step" in reads or len(reads) > 1 else _without_old(expr)


def _reads(expr: ir.Expr, *, is_old: bool) -> Iterator[str]:
    """The kinds of things an expression reads: the state before, the state after, or the step."""
    match expr:
        case ir.Did():
            yield "step"
        case ir.Var():
            yield "old" if is_old else "new"
        case ir.Old(of=of):
            yield from _reads(of, is_old=True)
        case _:
            for part in children(expr):
                yield from _reads(part, is_old=is_old)


def _without_old(expr: ir.Expr) -> ir.Expr:
    """The expression without `old`."""
    return _without_old(expr.of) if isinstance(expr, ir.Old) else with_parts(expr, _without_old)
