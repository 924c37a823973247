"""Types with the bounds of a check, and values: numbers, `None` and tuples.

A member of a sort or an enum is its number, a record the tuple of its fields, a case its number and then
its fields, a map the tuple of its values in the order of its keys, a set the ascending tuple of its members,
and a bag that of its distinct members, each with its count.  So canonical order is that of tuples, but for
`none`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from tests.by_the_manual.expression_parser import Node
from tests.by_the_manual.tokens import Refused

Value = Any
Type = Node
BOOL, INT, ANY = ("bool",), ("int",), ("any",)
COLLECTIONS = {"set", "bag", "seq"}


class Wrong(Exception):  # noqa: N818 - it is the model that is wrong
    """An error of the model, with its code."""


class Cut(Exception):  # noqa: N818 - nothing is wrong
    """A store beyond the scope."""


def order(value: Value) -> Value:
    """What sorts values in canonical order: `none` is before some, all else as numbers and tuples are."""
    if value is None:
        return ()
    return (tuple(map(order, value)),) if isinstance(value, tuple) else (value,)


def ascending(values: Iterable[Value]) -> tuple[Value, ...]:
    """The values in canonical order, as often as they are there."""
    return tuple(sorted(values, key=order))


def distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """The set of the values."""
    return ascending(set(values))


def bag(values: Iterable[Value]) -> tuple[Value, ...]:
    """The bag of the values."""
    return ascending(Counter(values).items())


def copies(of: tuple[Value, ...]) -> tuple[Value, ...]:
    """The members of a bag, each as often as it is there."""
    return tuple([value for value, count in of for _ in range(count)])


def members(of: Type) -> tuple[Value, ...]:
    """All values of a listable type. Raises Refused for others."""
    match of:
        case ("bool",):
            return (False, True)
        case ("range", low, high):
            return tuple(range(low, high + 1))
        case ("nat", _, top) if top is not None:
            return tuple(range(top + 1))
        case ("sort", _, count):
            return tuple(range(count))
        case ("enum", *names):
            return tuple(range(len(names)))
        case _:
            raise Refused(f"the values of {of} are not listed")


def position(key: Type, value: Value) -> int:
    """Where a map has the value for a key. Raises Wrong for what is no key."""
    low = key[1] if key[0] == "range" else 0
    if not 0 <= value - low < len(members(key)):
        raise Wrong("R0602")
    return int(value - low)


def beyond(value: Value, of: Type) -> bool:  # noqa: C901 - a case for each type
    """Whether some part of what is stored is beyond the scope. Raises Wrong when any is out of range."""
    match of:
        case ("range", low, high):
            if not low <= value <= high:
                raise Wrong("R0601")
        case ("nat", _, top):
            if value < 0:
                raise Wrong("R0601")
            return top is not None and bool(value > top)
        case ("option", inner):
            return value is not None and beyond(value, inner)
        case ("tuple", *parts):
            return _any(zip(value, parts, strict=True))
        case ("record", _, fields):
            return _any((v, t) for v, (_, t) in zip(value, fields, strict=True))
        case ("union", _, cases):
            return _any((v, t) for v, (_, t) in zip(value[1:], cases[value[0]][1], strict=True))
        case ("case", union, _):
            return beyond(value, union)
        case ("map", _, inner):
            return _any((v, inner) for v in value)
        case ("bag", inner, limit):
            return beyond(copies(value), ("seq", inner, limit))
        case ("set" | "seq", inner, limit):
            parts_beyond = _any((v, inner) for v in value)
            full = limit is not None and len(value) > limit[0]
            if full and not limit[1]:
                raise Wrong("R0601")
            return parts_beyond or full
        case _:
            return False
    return False


def _any(parts: Iterable[tuple[Value, Type]]) -> bool:
    """Looks at every part: an error in any is an error of the whole."""
    return any([beyond(value, of) for value, of in parts])  # noqa: C419 - every one


def has_sort(of: Type) -> bool:
    """Whether a sort is somewhere in a type."""
    return (of[0] == "sort" and len(of) == 3) or any(isinstance(p, tuple) and p and has_sort(p) for p in of)


def join(a: Type, b: Type) -> Type:
    """The type of what is of one of two types."""
    if ANY in {a, b} or a == b:
        return b if a == ANY else a
    if "option" in {a[0], b[0]}:
        return ("option", join(some(a), some(b)))
    if a[0] == "case" or b[0] == "case":
        return a[1] if a[0] == "case" else a
    if a[0] in COLLECTIONS and b[0] in COLLECTIONS:
        return ("bag" if b[0] == "bag" else a[0], join(a[1], b[1]), None)
    if a[0] == b[0] == "tuple":
        return ("tuple", *map(join, a[1:], b[1:]))
    if a[0] == b[0] == "map":
        return ("map", a[1], join(a[2], b[2]))
    return b if b[0] == "nat" else a


def some(of: Type) -> Type:
    """The type of an option's value; any other type as it is."""
    return of[1] if of[0] == "option" else of


def common(s: tuple[Value, ...], t: tuple[Value, ...]) -> int:
    """How many entries both begin with."""
    return next((i for i, (a, b) in enumerate(zip(s, t, strict=False)) if a != b), min(len(s), len(t)))


def subsets(of: tuple[Value, ...]) -> tuple[Value, ...]:
    """All subsets of a set."""
    return distinct(each for n in range(len(of) + 1) for each in combinations(of, n))


def without(values: tuple[Value, ...], gone: Iterable[Value]) -> tuple[Value, ...]:
    """What is left when each of these is taken out once, if it is there."""
    left = list(values)
    for value in gone:
        if value in left:
            left.remove(value)
    return tuple(left)


def put(values: tuple[Value, ...], at: int, value: Value) -> tuple[Value, ...]:
    """The tuple with another value at one place."""
    return (*values[:at], value, *values[at + 1 :])
