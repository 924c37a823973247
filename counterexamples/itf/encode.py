"""Values as the Informal Trace Format writes them since September 2023: every number is a `#bigint`.

See https://github.com/apalache-mc/apalache/pull/2733.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from spec.model.ir import Scope, Value
from spec.model.types import (
    Bag,
    Bool,
    Case,
    Enum,
    Field,
    Int,
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
from spec.model.values import members, ordered

EXACT = 2**53  # integers of JSON are below, of either sign (RFC 7159)
NOTHING: Any = {"#tup": []}  # the payload of a case that has none
Json = Any  # what the json module makes of a text
Encoder = Callable[[Value], Json]


def exact(number: int) -> Json:
    """A number of any size in ITF's encoding."""
    return {"#bigint": str(number)}


def plain(number: int) -> Json:
    """A number as a JSON number, where JSON readers represent it exactly."""
    return number if -EXACT < number < EXACT else exact(number)


def encode(of: Type, value: Value, scope: Scope) -> Json:
    """A value in ITF's encoding; build an `encoder` once to encode many."""
    return encoder(of, scope)(value)


def encoder(of: Type, scope: Scope, number: Encoder = exact) -> Encoder:  # noqa: C901 - one case a type
    """A function that encodes values of a type in ITF, and numbers by `number`.

    An option is a variant `None` or `Some`, as in Quint; a bag is a map from its members to their counts.
    """

    def inner(of: Type) -> Encoder:
        return encoder(of, scope, number)

    match of:
        case Bool():
            return bool
        case Int() | Range() | Nat():
            return number
        case Enum(_, names):
            return names.__getitem__
        case Sort(name):
            return scope.sorts[name].__getitem__
        case Option(item):
            some = inner(item)
            return lambda value: _variant("None", NOTHING) if value is None else _variant("Some", some(value))
        case Record(_, fields):
            return _record_encoder(fields, inner)
        case Case(_, name, fields):
            payload = _record_encoder(fields, inner) if fields else lambda _: NOTHING
            return lambda value: _variant(name, payload(value[1:]))
        case Union(_, cases):
            all_ = [inner(case) for case in cases]
            return lambda value: all_[value[0]](value)
        case Tuple(items):
            parts = [inner(item) for item in items]
            return lambda value: {"#tup": [part(each) for part, each in zip(parts, value, strict=True)]}
        case Seq(item):
            entry = inner(item)
            return lambda value: [entry(each) for each in value]
        case Set(item):
            member = inner(item)
            return lambda value: {"#set": [member(each) for each in ordered(value)]}
        case Bag(item):
            copies = inner(item)
            return lambda value: {"#map": [[copies(each), number(n)] for each, n in ordered(value)]}
        case Map(key, item):
            keys, entry = [inner(key)(each) for each in members(key, scope)], inner(item)
            return lambda value: {"#map": [[k, entry(each)] for k, each in zip(keys, value, strict=True)]}
        case UnknownType():
            raise TypeError("a value of unknown type is in no state")
        case _:
            assert_never(of)


def _record_encoder(fields: tuple[Field, ...], inner: Callable[[Type], Encoder]) -> Encoder:
    """An encoder for records."""
    parts = [(field.name, inner(field.type)) for field in fields]
    return lambda value: {name: part(each) for (name, part), each in zip(parts, value, strict=True)}


def _variant(tag: str, value: Json) -> Json:
    """The ITF encoding of a variant."""
    return {"tag": tag, "value": value}
