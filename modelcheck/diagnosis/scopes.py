"""Smaller scopes: with one member of a sort less, or a lower bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import spec.model.types as t
from counterexamples.trace import Trace
from spec.frozen import frozen
from spec.meaning.fits import fits
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import Scope, Value
from spec.model.values import Cut, Misfit, ModelError, decode, encode


class _Gone(Exception):  # noqa: N818 - an answer
    """Raised for a value that depends on the removed member."""


@frozen
class _Leaver:
    """A member to remove, and the one that takes its place, if any."""

    sort: str
    member: int
    heir: int | None = None

    def renamed(self, other: int) -> int:
        """The new number of a member. Raises _Gone for the removed one."""
        stays = self.heir if other == self.member else other
        if stays is None:
            raise _Gone
        return stays - (stays > self.member)


def fits_settings(trace: Trace) -> bool:
    """Whether every value in a trace's configuration fits its scope."""
    scope = trace.scope
    try:
        for entry in trace.model.configs:
            value = scope.config[entry.name]
            if (check := fits(entry.type, scope)) is not None:
                check(value)
            decode(entry.type, scope)(encode(entry.type, scope)(value))  # a map has no key too many
    except (Cut, Misfit, ValueError, KeyError):
        return False
    return True


def starts(machine: Machine) -> tuple[State, ...]:
    """The initial states; none if an assumption is false, or the start is cut."""
    try:
        return () if machine.assumption_failures() else machine.initial()
    except ModelError:
        return ()


def bounds(scope: Scope) -> dict[str, int]:
    """The bounds of the nats and networks that have one, by name."""
    nats = {name: most for name, most in scope.nats.items() if name not in scope.unbounded}
    return {**nats, **scope.networks}


def with_bound(scope: Scope, name: str, bound: int) -> Scope:
    """The scope with another bound of a nat or network."""
    if name in scope.nats:
        return replace(scope, nats={**scope.nats, name: bound})
    return replace(scope, networks={**scope.networks, name: bound})


def without_member(
    trace: Trace, sort: str, member: int, heir: int | None = None
) -> tuple[Scope, tuple[Step | None, ...]] | None:
    """The scope without a member, and the steps in it; None for a step that names the member.

    With an heir, that other member takes its place in those steps.  Later members move
    up, so that the first names stay in use.  Choices that mean nothing without
    the member are left open.  None in all where a setting needs the member, or it is
    the only one of its sort.
    """
    model, scope = trace.model, trace.scope
    if len(scope.sorts[sort]) == 1:
        return None
    try:
        config = {
            e.name: _without(e.type, scope.config[e.name], _Leaver(sort, member)) for e in model.configs
        }
    except _Gone:
        return None
    smaller = replace(scope, sorts={**scope.sorts, sort: scope.sorts[sort][:-1]}, config=config)
    return smaller, tuple(_step_without(trace, step, _Leaver(sort, member, heir)) for step in trace.steps)


def _step_without(trace: Trace, step: Step, who: _Leaver) -> Step | None:
    """A step without the member; None if it names it."""
    params = trace.model.action(step.action).params
    types = [_member_type(param.domain.type) for param in params]
    try:
        args = tuple(_without(of, a, who) for of, a in zip(types, step.args, strict=True))
    except _Gone:
        return None
    try:
        choices = tuple(replace(c, value=_without(c.type, c.value, who)) for c in step.choices)
    except _Gone:
        choices = ()
    return Step(step.action, args, choices)


def _member_type(domain: t.Type) -> t.Type:
    """The type of a domain's members."""
    return domain.of if isinstance(domain, t.Set | t.Bag | t.Seq | t.Option) else domain


def _without(of: t.Type, value: Value, who: _Leaver) -> Value:
    """The value without the member: collections lose it, later members move up. Raises _Gone."""
    match of:
        case t.Sort(name) if name == who.sort:
            return who.renamed(value)
        case t.Option(inner):
            return None if value is None else _without(inner, value, who)
        case t.Set(inner):
            return frozenset(_kept(inner, value, who))
        case t.Bag(inner):
            pairs = [(list(_kept(inner, [each], who)), count) for each, count in value]
            return frozenset((each, count) for kept, count in pairs for each in kept)
        case t.Seq(inner):
            return tuple(_kept(inner, value, who))
        case t.Map(key, inner):
            left = [each for at, each in enumerate(value) if key != t.Sort(who.sort) or at != who.member]
            return tuple(_without(inner, each, who) for each in left)
        case t.Record(_, fields):
            return _parts([field.type for field in fields], value, who)
        case t.Tuple(items):
            return _parts(items, value, who)
        case t.Case(_, _, fields):
            return (value[0], *_parts([field.type for field in fields], value[1:], who))
        case t.Union(_, cases):
            return _without(cases[value[0]], value, who)
        case _:
            return value


def _parts(types: Iterable[t.Type], values: Value, who: _Leaver) -> tuple[Value, ...]:
    """The parts of a value without the member."""
    return tuple(_without(of, value, who) for of, value in zip(types, values, strict=True))


def _kept(of: t.Type, values: Iterable[Value], who: _Leaver) -> Iterator[Value]:
    """The elements of a collection that remain."""
    for value in values:
        try:
            left = _without(of, value, who)
        except _Gone:
            continue
        yield left
