"""What is false at the end of a run: the smallest parts, for which members, by which values, since when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from counterexamples.ending import failures
from counterexamples.explanation import FalsePart, PartValue
from counterexamples.lines import one_line
from counterexamples.trace import BadState, BadStep, Deadlocked, Lasso, Trace, Trapped
from modelcheck.diagnosis.filled import filled, given
from spec.frozen import frozen
from spec.meaning.blame import Failure, Operand, failing
from spec.meaning.evaluate import Evaluator, Frame, FrameLayout, bound, compiled
from spec.meaning.semantics import State
from spec.model.ir import (
    Apply,
    Bind,
    Did,
    Expr,
    Implies,
    Let,
    Local,
    Members,
    Old,
    Part,
    Property,
    PropertyKind,
    Value,
    Var,
)
from spec.model.op import Op
from spec.model.types import Type
from spec.model.values import Cut, ModelError, show
from spec.model.walk import children, walk
from spec.source import Span

ENDINGS = BadState | BadStep | Deadlocked | Trapped | Lasso


def blamed(trace: Trace) -> tuple[FalsePart, ...]:
    """The false parts of the violated property; for a waiting run, those false at its end.

    None where the violation is no expression: a deadlock of a model whose runs may end
    nowhere, an error of the model, an `assert`.  Costs the values in these parts, in each state of the trace.
    """
    if trace.property is None or not isinstance(trace.ending, ENDINGS):
        return ()
    prop = trace.model.property(trace.property)
    if prop.kind is PropertyKind.LEADSTO:
        prop = replace(prop, expr=prop.goal)
    return tuple(_Blamed(trace, prop, failure).part() for failure in _failures(trace, prop))


def _failures(trace: Trace, prop: Property) -> tuple[Failure, ...]:
    """The smallest false parts of the property at the end of a trace."""
    if isinstance(trace.ending, Trapped | Lasso):
        return failing(trace.model, trace.scope, prop, trace.states[-1])
    return failures(trace)


@frozen
class _FoundExpression:
    """An expression of the property, with the binders around it.

    `given` is what must be true for it to matter: the left sides of the `implies`
    around it; and, as expressions that are no claims, what names that are not
    simply any member range over, where `of` is their binder.
    """

    expr: Expr
    binders: tuple[Bind | Let, ...] = ()
    given: tuple[_FoundExpression, ...] = ()
    of: Bind | None = None


class _Blamed:
    """Describes one false part."""

    def __init__(self, trace: Trace, prop: Property, failure: Failure) -> None:
        self._trace = trace
        self._prop = prop
        self._failure = failure
        self._source = trace.model.source
        self._layout = FrameLayout(trace.scope, len(trace.model.variables))

    def part(self) -> FalsePart:
        """The description of the part."""
        failure = self._failure
        names = ((each.name, show(each.type, each.value, self._trace.scope)) for each in failure.names)
        facts = {fact.text: fact for fact in map(self._operand, failure.operands)}
        found = self._found(failure.span, None)
        matters = map(self._given, found[0].given if found else ())
        return FalsePart(
            self._text(failure.span),
            self._source.at_place(failure.span.start),
            tuple(dict.fromkeys(names)),
            tuple(fact for fact in facts.values() if fact.text != fact.value),
            failure.wanted,
            self._said(failure.span, found),
            tuple(fact for fact in matters if fact.since),
        )

    def _operand(self, operand: Operand) -> PartValue:
        """A value with its age, if all expressions at its place agree."""
        found = self._found(operand.span, operand.type)
        ages = {self._since(each) for each in found}
        value = show(operand.type, operand.value, self._trace.scope)
        text, said = self._text(operand.span), self._said(operand.span, found)
        since = ages.pop() if len(ages) == 1 else None
        return PartValue(text, value, since, said, self._made(found[0]) if found else ())

    def _given(self, found: _FoundExpression) -> PartValue:
        """A condition that is true, and since when."""
        text, said = self._text(found.expr.span), self._said(found.expr.span, [found])
        if found.of is not None:
            named = self._failure.names[len(found.binders)]
            text = f"{named.name} in {text}"
            said = f"{show(named.type, named.value, self._trace.scope)} in {said}"
        return PartValue(text, "true", self._since(found), said, self._made(found))

    # ------------------------------------------------------------------- texts

    def _text(self, span: Span) -> str:
        """The text of a span on one line."""
        return one_line(self._source.at(span))

    def _said(self, span: Span, found: list[_FoundExpression]) -> str:
        """A text of the property with the failure's values in place of names."""
        if not found:
            return self._text(span)
        pairs = zip(found[0].binders, self._failure.names, strict=False)
        shown = ((each.name, each.slot, show(n.type, n.value, self._trace.scope)) for each, n in pairs)
        return filled(self._source, found[0].expr, given(self._prop.span, shown))

    def _found(self, span: Span, of: Type | None) -> list[_FoundExpression]:
        """The expressions at a span of the property, under the failure's names.

        One place may be that of several expressions, as a function is written once.
        """
        if self._prop.expr is None:
            return []
        names = [each.name for each in self._failure.names]
        found = _occurrences(self._prop.expr, span, of, _FoundExpression(self._prop.expr))
        return [each for each in found if [binder.name for binder in each.binders] == names]

    # ----------------------------------------------------------------- history

    def _since(self, found: _FoundExpression) -> int | None:
        """The step since which a value is unchanged; None if it depends on a step."""
        return None if _reads_step(found.expr) else max(self._changed(found), default=0)

    def _made(self, found: _FoundExpression) -> tuple[int, ...]:
        """The steps that changed a part of the state that the value depends on."""
        known = {binder.slot for binder in found.binders}
        read = (replace(found, expr=each, of=None) for each in _read(found.expr, known))
        steps = {at for each in read if not _reads_step(each.expr) for at in self._changed(each)}
        return tuple(sorted(steps))

    def _changed(self, found: _FoundExpression) -> tuple[int, ...]:
        """The steps that changed the value."""
        evaluate = self._evaluator(found)
        values = [_value(evaluate, self._frame(found, state)) for state in self._trace.states]
        return tuple(at for at, (old, new) in enumerate(pairwise(values), 1) if old != new)

    def _evaluator(self, found: _FoundExpression) -> Evaluator:
        """The evaluator of an expression; for a domain, of whether the name's value is in it."""
        if found.of is None:
            return compiled(found.expr, self._layout)
        members, value = bound(found.of, self._layout), self._failure.names[len(found.binders)].value
        return lambda frame: value in members(frame)

    def _frame(self, found: _FoundExpression, state: State) -> Frame:
        """The names' values in a state: those of quantifiers as at the end, of `let` recomputed."""
        frame = [*state, *[None] * self._prop.slots]
        for binder, named in zip(found.binders, self._failure.names, strict=False):
            value: tuple[Value, ...] = (named.value,)
            if isinstance(binder, Let) and not _reads_step(binder.value):
                value = _value(compiled(binder.value, self._layout), frame)
            frame[self._layout.locals + binder.slot] = value[0] if value else None
        return frame


def _value(evaluate: Evaluator, frame: Frame) -> tuple[Value, ...]:
    """The value in a state as a 1-tuple; empty if it is an error."""
    try:
        return (evaluate(frame),)
    except (ModelError, Cut):
        return ()


def _occurrences(
    expr: Expr, span: Span, of: Type | None, around: _FoundExpression
) -> Iterator[_FoundExpression]:
    """The expressions of a type (None: any) at a span, outermost first."""
    if expr.span == span and of in {None, expr.type}:
        yield replace(around, expr=expr)
    for part in children(expr):
        yield from _occurrences(part, span, of, _inner(expr, part, around))


def _inner(expr: Expr, part: Expr, around: _FoundExpression) -> _FoundExpression:
    """A subexpression, with the binders around it."""
    match expr:
        case Implies(left=left, right=right) if part is right:
            return replace(around, given=(*around.given, _FoundExpression(left, around.binders)))
        case Bind(domain=domain, body=body) if part is body:
            among = (
                () if isinstance(domain, Members) else (_FoundExpression(domain, around.binders, of=expr),)
            )
            return replace(around, binders=(*around.binders, expr), given=(*around.given, *among))
        case Let(body=body) if part is body:
            return replace(around, binders=(*around.binders, expr))
        case _:
            return around


def _read(expr: Expr, known: set[int]) -> Iterator[Expr]:
    """The smallest named parts of the state that an expression reads: `l.log`, not every log."""
    if _is_place(expr, known):
        yield expr
    else:
        for part in children(expr):
            yield from _read(part, known)


def _is_place(expr: Expr, known: set[int]) -> bool:
    """Whether an expression is a variable, or an entry or field of one at known names."""
    match expr:
        case Var():
            return True
        case Apply(op=Op.LOOKUP, args=(of, key)):
            return _is_place(of, known) and _slots(key) <= known
        case Part(of=of):
            return _is_place(of, known)
        case _:
            return False


def _slots(expr: Expr) -> set[int]:
    """The slots that an expression reads."""
    return {part.slot for part in walk(expr) if isinstance(part, Local)}


def _reads_step(expr: Expr) -> bool:
    """Whether an expression depends on a step instead of one state."""
    return any(isinstance(part, Old | Did) for part in walk(expr))
