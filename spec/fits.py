"""What fits where: the scope that cuts a step, the range that a model must keep to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from spec.ir import Scope, Value
from spec.types import (
    Bag,
    Bool,
    Case,
    Enum,
    Field,
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
    Unknown,
)
from spec.values import Cut, Misfit, in_order

Check = Callable[[Value], None]


def fits(of: Type, scope: Scope) -> Check | None:  # noqa: C901 - a dispatch over a union
    """A function that accepts what a place of that type can hold; None when nothing can go wrong.

    It raises `Cut` for what is beyond the scope and `Misfit` for what is outside a
    declared range or limit: the first of either, in canonical order.
    """
    match of:
        case Bool() | Enum() | Sort() | Int() | Unknown():
            return None
        case Range(lo, hi):
            return _within(lo, hi, of)
        case Nat(name):
            return _counts(name, scope.limit(name))
        case Option(inner):
            return _if_any(fits(inner, scope))
        case Record(_, fields):
            return _each_part(_of_fields(fields, scope))
        case Case(_, _, fields):
            return _each_part([None, *_of_fields(fields, scope)])
        case Tuple(items):
            return _each_part([fits(item, scope) for item in items])
        case Union(_, cases):
            return _by_case([fits(case, scope) for case in cases])
        case Map(_, inner):
            return _all(fits(inner, scope), tuple)
        case Seq(inner, limit):
            return _both(_at_most(limit, len, of, scope), _all(fits(inner, scope), tuple))
        case Set(inner, limit):
            return _both(_at_most(limit, len, of, scope), _all(fits(inner, scope), in_order(of)))
        case Bag(inner, limit):
            return _both(_at_most(limit, bag_size, of, scope), _all(fits(inner, scope), in_order(of)))
        case _:
            assert_never(of)


def bag_size(bag: Value) -> int:
    """How many elements a bag has, each as often as it is in it."""
    return sum(count for _, count in bag)


def _of_fields(fields: tuple[Field, ...], scope: Scope) -> list[Check | None]:
    return [fits(field.type, scope) for field in fields]


def _within(lo: int, hi: int, of: Type) -> Check:
    def check(value: Value) -> None:
        if not lo <= value <= hi:
            raise Misfit(f"{value} is outside {of}")

    return check


def _counts(name: str, limit: int) -> Check:
    def check(value: Value) -> None:
        if value > limit:
            raise Cut(name)
        if value < 0:
            raise Misfit(f"{value} is below 0, where {name} starts")

    return check


def _at_most(limit: Limit | None, size: Callable[[Value], int], of: Type, scope: Scope) -> Check | None:
    if limit is None:
        return None
    if isinstance(limit.of, str):
        return _by_scope(limit.of, scope.limit(limit.of), size)
    return _by_number(limit.of, size, of)


def _by_scope(name: str, most: int, size: Callable[[Value], int]) -> Check:
    def check(value: Value) -> None:
        if size(value) > most:
            raise Cut(name)

    return check


def _by_number(most: int, size: Callable[[Value], int], of: Type) -> Check:
    def check(value: Value) -> None:
        if size(value) > most:
            raise Misfit(f"{size(value)} elements are too many for {of}")

    return check


def _if_any(inner: Check | None) -> Check | None:
    if inner is None:
        return None

    def check(value: Value) -> None:
        if value is not None:
            inner(value)

    return check


def _each_part(parts: list[Check | None]) -> Check | None:
    real = [(index, part) for index, part in enumerate(parts) if part is not None]
    if not real:
        return None

    def check(value: Value) -> None:
        for index, part in real:
            part(value[index])

    return check


def _by_case(cases: list[Check | None]) -> Check | None:
    if not any(cases):
        return None

    def check(value: Value) -> None:
        own = cases[value[0]]
        if own is not None:
            own(value)

    return check


def _all(inner: Check | None, walk: Callable[[Value], Iterable[Value]]) -> Check | None:
    if inner is None:
        return None

    def check(value: Value) -> None:
        for item in walk(value):
            inner(item)

    return check


def _both(first: Check | None, second: Check | None) -> Check | None:
    if first is None or second is None:
        return first or second

    def check(value: Value) -> None:
        first(value)
        second(value)

    return check
