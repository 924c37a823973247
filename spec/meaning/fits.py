"""What fits where: the scope that cuts a step, the range that a model must keep to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from spec.model.ir import Scope, Value
from spec.model.types import (
    Bag,
    Bool,
    Case,
    Enum,
    Int,
    Limit,
    Map,
    Nat,
    Option,
    Range,
    Record,
    Seq,
    Set,
    Sort,
    Tuple,
    Type,
    Union,
    UnknownType,
)
from spec.model.values import Cut, Misfit, in_order, number_words

Check = Callable[[Value], None]


def fits(of: Type, scope: Scope) -> Check | None:
    """A function that checks whether a value can be stored as the type; None if every value can.

    It raises `Misfit` where any part is outside a declared range or limit, the first in
    canonical order; else `Cut` where any is beyond the scope.  So whether a value is an
    error never depends on the order of its parts, which other names of members may change.
    """
    return _both(_checks(of, scope, cuts=False), _checks(of, scope, cuts=True))


def _checks(of: Type, scope: Scope, *, cuts: bool) -> Check | None:  # noqa: C901 - a dispatch over a union
    """The check of what only cuts (`cuts`), or only is an error."""

    def checks(of: Type) -> Check | None:
        return _checks(of, scope, cuts=cuts)

    match of:
        case Bool() | Enum() | Sort() | Int() | UnknownType():
            return None
        case Range(lo, hi):
            return None if cuts else _within(lo, hi, of)
        case Nat(name):
            return _up_to(name, scope.limit(name)) if cuts else _from_zero(name)
        case Option(inner):
            return _if_any(checks(inner))
        case Record(_, fields):
            return _each_part([checks(field.type) for field in fields])
        case Case(_, _, fields):
            return _each_part([None, *(checks(field.type) for field in fields)])
        case Tuple(items):
            return _each_part(list(map(checks, items)))
        case Union(_, cases):
            return _by_case(list(map(checks, cases)))
        case Map(_, inner):
            return _all(checks(inner), tuple)
        case Seq(inner, limit):
            return _both(_at_most(limit, len, of, scope, cuts=cuts), _all(checks(inner), tuple))
        case Set(inner, limit):
            return _both(_at_most(limit, len, of, scope, cuts=cuts), _all(checks(inner), in_order(of)))
        case Bag(inner, limit):
            return _both(_at_most(limit, bag_size, of, scope, cuts=cuts), _all(checks(inner), in_order(of)))
        case _:
            assert_never(of)


def bag_size(bag: Value) -> int:
    """The number of elements of a bag, with repetitions."""
    return sum(count for _, count in bag)


def _within(lo: int, hi: int, of: Type) -> Check:
    """A check of a range."""

    def check(value: Value) -> None:
        if not lo <= value <= hi:
            raise Misfit(f"{number_words(value)} is outside {of}")

    return check


def _up_to(name: str, limit: int) -> Check:
    """A check of a nat's bound in the scope."""

    def check(value: Value) -> None:
        if value > limit:
            raise Cut(name)

    return check


def _from_zero(name: str) -> Check:
    """A check that a nat is not negative."""

    def check(value: Value) -> None:
        if value < 0:
            raise Misfit(f"{number_words(value)} is below 0, where {name} starts")

    return check


def _at_most(
    limit: Limit | None, size: Callable[[Value], int], of: Type, scope: Scope, *, cuts: bool
) -> Check | None:
    """A check of a collection's limit."""
    if limit is None or isinstance(limit.of, str) != cuts:
        return None
    if isinstance(limit.of, str):
        return _sized_within_scope(limit.of, scope.limit(limit.of), size)
    return _sized_at_most(limit.of, size, of)


def _sized_within_scope(name: str, most: int, size: Callable[[Value], int]) -> Check:
    """A check of a limit that the scope gives."""

    def check(value: Value) -> None:
        if size(value) > most:
            raise Cut(name)

    return check


def _sized_at_most(most: int, size: Callable[[Value], int], of: Type) -> Check:
    """A check of a constant limit."""

    def check(value: Value) -> None:
        if size(value) > most:
            raise Misfit(f"{size(value)} elements are too many for {of}")

    return check


def _if_any(inner: Check | None) -> Check | None:
    """A check of an option's value."""
    if inner is None:
        return None

    def check(value: Value) -> None:
        if value is not None:
            inner(value)

    return check


def _each_part(parts: list[Check | None]) -> Check | None:
    """A check of a tuple's parts."""
    real = [(index, part) for index, part in enumerate(parts) if part is not None]
    if not real:
        return None

    def check(value: Value) -> None:
        for index, part in real:
            part(value[index])

    return check


def _by_case(cases: list[Check | None]) -> Check | None:
    """A check of a union's value, by case."""
    if not any(cases):
        return None

    def check(value: Value) -> None:
        own = cases[value[0]]
        if own is not None:
            own(value)

    return check


def _all(inner: Check | None, walk: Callable[[Value], Iterable[Value]]) -> Check | None:
    """A check of all elements of a collection."""
    if inner is None:
        return None

    def check(value: Value) -> None:
        for item in walk(value):
            inner(item)

    return check


def _both(first: Check | None, second: Check | None) -> Check | None:
    """Two checks in sequence."""
    if first is None or second is None:
        return first or second

    def check(value: Value) -> None:
        first(value)
        second(value)

    return check
