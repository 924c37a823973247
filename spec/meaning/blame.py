"""Why an expression is false: its smallest failing parts, with the members and values for which they fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from spec.frozen import frozen
from spec.meaning.evaluate import Frame, FrameLayout, bound, compiled, walked
from spec.meaning.execute import CHOICES, ENDED, body, fresh
from spec.meaning.semantics import State, Step
from spec.model.ir import (
    Action,
    And,
    Apply,
    Assert,
    Bind,
    Bound,
    Branch,
    Choose,
    Const,
    Each,
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
    Stmt,
    Value,
)
from spec.model.op import Op, Quantifier
from spec.model.types import UNKNOWN, Sort, Type, element, is_number
from spec.model.values import Cut, ModelError
from spec.model.walk import free_slots
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


def failing_assert(model: Model, scope: Scope, name: str, before: State, step: Step) -> tuple[Failure, ...]:
    """The smallest false parts of an `assert` that a step breaks; none if it is true or an error.

    The members and numbers are named for which it fails: parameters of the step, `let`s, and what it goes
    through or chooses.
    """
    run = _Broken(model, scope, name, step)
    action = model.action(step.action)
    known = {each.slot: (each.name, each.type) for each in action.params}
    known |= {each.slot: (each.name, each.value.type) for each in action.head if isinstance(each, Bound)}
    try:
        frame = _begun(action, run.layout, step, before, action.head)
        return next(run.found(action.body, frame, known), ())
    except (ModelError, Cut):
        return ()


class _Broken:
    """Goes through the statements of a step, to where an `assert` is false."""

    def __init__(self, model: Model, scope: Scope, name: str, step: Step) -> None:
        self.layout = FrameLayout(scope, len(model.variables))
        self._types = [each.type for each in model.variables]
        self._name, self._step = name, step

    def found(
        self, statements: Sequence[Stmt], frame: Frame, known: dict[int, tuple[str, Type]]
    ) -> Iterator[tuple[Failure, ...]]:
        """The false parts for each time that it is false; `known` has the names of slots."""
        frames = [frame]
        for statement in statements:
            for each in frames:
                yield from self._in(statement, each.copy(), known)
            run = body((statement,), self.layout, self._types)
            frames = [end for each in frames for end in run(each) if self._is_of_step(end)]
            if isinstance(statement, Bound):
                known = {**known, statement.slot: (statement.name, statement.value.type)}
            if isinstance(statement, Choose):
                known = {**known, statement.slot: (statement.name, _member(statement.domain))}

    def _in(
        self, statement: Stmt, frame: Frame, known: dict[int, tuple[str, Type]]
    ) -> Iterator[tuple[Failure, ...]]:
        """The same in a statement."""
        match statement:
            case Assert(name=name, test=test) if name == self._name:
                names = tuple(
                    Named(*known[slot], frame[self.layout.locals + slot])
                    for slot in sorted(free_slots(test) & {*known})
                    if isinstance(known[slot][1], Sort) or is_number(known[slot][1])
                )
                if found := _of(test, self.layout, frame):
                    yield tuple(replace(each, names=(*names, *each.names)) for each in found)
            case Branch(test=test, then=then, other=other):
                chosen = then if compiled(test, self.layout)(frame) else other
                yield from self.found(chosen, frame, known)
            case Each(slot=slot, name=name, domain=domain, case=case, body=inside):
                known = {**known, slot: (name, _member(domain))}
                run = body(inside, self.layout, self._types)
                for value in [*walked(domain, case, self.layout)(frame)]:
                    frame[self.layout.locals + slot] = value
                    yield from self.found(inside, frame.copy(), known)
                    frame = next(end for end in run(frame) if self._is_of_step(end))
            case _:
                pass

    def _is_of_step(self, frame: Frame) -> bool:
        """Whether a frame is one in which the step's choices were made."""
        made = frame[CHOICES]
        return frame[ENDED] is None and made == self._step.choices[: len(made)]


def _member(domain: Expr) -> Type:
    """The type of the members of a collection."""
    return element(domain.type) or UNKNOWN


def _begun(
    action: Action, layout: FrameLayout, step: Step, state: State, head: Iterable[Guard | Bound]
) -> Frame:
    """The frame of a step that has gone through some of its head. Raises ModelError, Cut."""
    frame = fresh(state, action.slots)
    for param, value in zip(action.params, step.args, strict=True):
        frame[layout.locals + param.slot] = value
    for part in head:
        if isinstance(part, Bound):
            frame[layout.locals + part.slot] = compiled(part.value, layout)(frame)
    return frame


def failing_guard(model: Model, scope: Scope, guard: Guard, step: Step, state: State) -> tuple[Failure, ...]:
    """The smallest false parts of a step's guard in a state; none if it is true or an error."""
    action = model.action(step.action)
    layout = FrameLayout(scope, len(model.variables))
    try:
        frame = _begun(action, layout, step, state, action.head[: action.head.index(guard)])
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
            more = (*names, Named(expr.name, _member(expr.domain), value))
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
