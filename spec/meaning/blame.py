"""Why an expression is false: its smallest failing parts, with the members and values for which they fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from spec.frozen import frozen
from spec.meaning.evaluate import Frame, FrameLayout, bound, compiled
from spec.meaning.semantics import State, Step
from spec.model.ir import (
    And,
    Apply,
    Bind,
    Bound,
    Const,
    Expr,
    Guard,
    If,
    Implies,
    Let,
    Local,
    Members,
    Model,
    Old,
    Or,
    Property,
    Scope,
    Value,
)
from spec.model.op import Op, Quantifier
from spec.model.types import Type
from spec.model.values import Cut, ModelError
from spec.source import Span

MOST = 8  # parts of a disjunction that are shown


@frozen
class Named:
    """A name bound around a failing part, with its value."""

    name: str
    type: Type
    value: Value


@frozen
class Operand:
    """A non-constant operand of a failing part, with its value."""

    span: Span
    type: Type
    value: Value


@frozen
class Failure:
    """A smallest false part of a property (true, unless `wanted`): place, bound names, values.

    `wanted` is what it should have been: false where it is under a `not`.
    """

    span: Span
    names: tuple[Named, ...]
    operands: tuple[Operand, ...]
    wanted: bool = True


def failing(model: Model, scope: Scope, prop: Property, state: State) -> tuple[Failure, ...]:
    """The smallest false parts of a property in a state; none if it is true or an error.

    One failure for the first false part of an `and` and the first member that a
    `forall` fails for; one for each part of an `or`, since all of them are false.
    """
    layout = FrameLayout(scope, len(model.variables))
    return _failing(prop, layout, [*state, *[None] * prop.slots])


def failing_step(
    model: Model, scope: Scope, prop: Property, before: State, step: Step, after: State
) -> tuple[Failure, ...]:
    """The smallest false parts of a `step` property for a step."""
    count = len(model.variables)
    old = count + prop.slots
    layout = FrameLayout(scope, count, old=old, step=old + count)
    return _failing(prop, layout, [*after, *[None] * prop.slots, *before, step])


def failing_guard(model: Model, scope: Scope, guard: Guard, step: Step, state: State) -> tuple[Failure, ...]:
    """The smallest false parts of a step's guard in a state; none if it is true or an error."""
    action = model.action(step.action)
    layout = FrameLayout(scope, len(model.variables))
    frame: Frame = [*state, *[None] * action.slots]
    for param, value in zip(action.params, step.args, strict=True):
        frame[layout.locals + param.slot] = value
    try:
        for part in action.head[: action.head.index(guard)]:
            if isinstance(part, Bound):
                frame[layout.locals + part.slot] = compiled(part.value, layout)(frame)
    except (ModelError, Cut):
        return ()
    return _of(guard.test, layout, frame)


def _failing(prop: Property, layout: FrameLayout, frame: Frame) -> tuple[Failure, ...]:
    """The smallest false parts of a property in a frame."""
    return () if prop.expr is None else _of(prop.expr, layout, frame)


def _of(expr: Expr, layout: FrameLayout, frame: Frame) -> tuple[Failure, ...]:
    """The smallest false parts of an expression; none if it is true or an error."""
    try:
        if compiled(expr, layout)(frame):
            return ()
        return tuple(islice(_blame(expr, layout, frame, (), wanted=True), MOST))
    except (ModelError, Cut):
        return ()


def _blame(
    expr: Expr, layout: FrameLayout, frame: Frame, names: tuple[Named, ...], *, wanted: bool
) -> Iterator[Failure]:
    """The smallest parts that make `expr` differ from `wanted`; the frame holds the names' values."""
    match expr:
        case And(parts=parts) | Or(parts=parts) if isinstance(expr, And) == wanted:
            # one part decides: the first that is false (of an `and`), or true (of an `or`)
            first = next(part for part in parts if bool(compiled(part, layout)(frame)) != wanted)
            yield from _blame(first, layout, frame, names, wanted=wanted)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _blame(part, layout, frame, names, wanted=wanted)
        case Implies(right=right) if wanted:
            yield from _blame(right, layout, frame, names, wanted=True)
        case Apply(op=Op.NOT, args=(of,)):
            yield from _blame(of, layout, frame, names, wanted=not wanted)
        case If():
            branch = expr.then if compiled(expr.test, layout)(frame) else expr.other
            yield from _blame(branch, layout, frame, names, wanted=wanted)
        case Let(slot=slot, name=name, value=value, body=body):
            found = frame[layout.locals + slot] = compiled(value, layout)(frame)
            more = (*names, Named(name, value.type, found))
            yield from _blame(body, layout, frame, more, wanted=wanted)
        case Bind(quantifier=Quantifier.FORALL) if wanted:
            yield from _blame_member(expr, layout, frame, names, wanted=True)
        case Bind(quantifier=Quantifier.EXISTS) if not wanted:
            yield from _blame_member(expr, layout, frame, names, wanted=False)
        case Old(of=of):
            yield from _blame(of, replace(layout, variables=layout.old), frame, names, wanted=wanted)
        case _:
            yield Failure(expr.span, names, tuple(_operands(expr, layout, frame)), wanted)


def _blame_member(
    expr: Bind, layout: FrameLayout, frame: Frame, names: tuple[Named, ...], *, wanted: bool
) -> Iterator[Failure]:
    """The failures for the first member for which the body differs from `wanted`."""
    body = compiled(expr.body, layout)
    for value in bound(expr, layout)(frame):
        if bool(body(frame)) != wanted:
            of: Type = getattr(expr.domain.type, "of")  # noqa: B009 - every domain is a collection
            more = (*names, Named(expr.name, of, value))
            yield from _blame(expr.body, layout, frame, more, wanted=wanted)
            return


def _operands(expr: Expr, layout: FrameLayout, frame: Frame) -> Iterator[Operand]:
    """The values of an operator's arguments, or of a quantifier's domain, in textual order."""
    match expr:
        case Apply(args=args):
            parts: tuple[Expr, ...] = args
        case Bind(domain=domain):
            parts = (domain,)
        case _:
            parts = ()
    for part in sorted(parts, key=lambda part: part.span):
        if not isinstance(part, Const | Local | Members):
            yield Operand(part.span, part.type, compiled(part, layout)(frame))
