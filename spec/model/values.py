"""Run-time values: their canonical bytes and order, what fits where, and how a person reads them.

`spec/model/ir.py` defines which Python object represents a value of each type.  The
whole project relies on two things here:

* **Canonical bytes.**  `encode` is injective for each type, is prefix-free (no
  value's bytes begin another's), and the order of the bytes is the canonical
  order of the values.  A state's identity is these bytes, never a `hash`.
* **Canonical order.**  Numbers numerically, false before true, enums and sorts
  by ordinal, none before some, tuples, records and maps part by part, unions by
  case and then part by part, sequences entry by entry with a prefix first; sets
  as the ascending sequences of their members, bags as those of their distinct
  members, each with its count.

NOTE(order): a frozenset's own order depends on how it was made, so wherever an
order can be seen sets are walked by `in_order` or `ordered`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    can_be_listed,
)
from spec.source import Span

Encoder = Callable[[Value], bytes]
Reader = Callable[[bytes, int], tuple[Value, int]]
_ENOUGH = 1 << 16  # bytes for a value without members or entries
_SHOWN = 1 << 10  # bits of a number that a message writes out


class ModelError(Exception):
    """Raised for an error of the model in execution; `code` is one of R06.

    `step` (a `semantics.Step`) is what was being taken, None when a property,
    a guard or the initial state was being evaluated.
    """

    def __init__(self, code: str, message: str, span: Span) -> None:
        self.code = code
        self.message = message
        self.span = span
        self.step: Any = None
        super().__init__(f"{code}: {message}")


class Cut(Exception):  # noqa: N818 - no error: the step leaves the scope
    """Raised where a step would leave the scope; `limit` names the nat or network exceeded."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(limit)


class Misfit(Exception):  # noqa: N818 - becomes a ModelError where the place in the text is known
    """Raised for a value outside a declared range or limit."""


# ----------------------------------------------------------------------- order


def rank(value: Value) -> Any:  # noqa: ANN401 - nested tuples of numbers
    """A sort key that gives values of one type their canonical order."""
    match value:
        case None:
            return (0,)
        case tuple():
            return (1, tuple(map(rank, value)))
        case frozenset():
            return (1, tuple(sorted(map(rank, value))))
        case _:
            return (1, value)


def ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    """Values of one type in canonical order. Costs a key for each part of each value.

    >>> ordered({(1, 0), (0, 2), (0, 1)})
    ((0, 1), (0, 2), (1, 0))
    """
    return tuple(sorted(values, key=rank))


def in_order(of: Type) -> Callable[[Value], Iterable[Value]]:
    """A function that yields the elements of a collection of the type in canonical order.

    An option has its value, if any; a bag has each distinct member once.
    """
    match of:
        case Set(inner):
            return sorted if _plain(inner) else ordered
        case Bag():
            return _bag_members
        case Seq():
            return tuple
        case Option():
            return _optional
        case UnknownType():  # a member of `{}`, which never occurs
            return tuple
        case _:
            raise TypeError(f"{of} has no members")


def _bag_members(bag: Value) -> tuple[Value, ...]:
    """The members of a bag in order, each as often as it occurs."""
    return tuple(value for value, _ in ordered(bag))


def _optional(value: Value) -> tuple[Value, ...]:
    """The value in an option as a tuple, empty for none."""
    return () if value is None else (value,)


def _plain(of: Type) -> bool:
    """Whether Python's comparison of the values is the canonical order."""
    match of:
        case Bool() | Int() | Range() | Nat() | Enum() | Sort():
            return True
        case Option() | Set() | Bag() | UnknownType():
            return False
        case Record(_, fields) | Case(_, _, fields):
            return all(_plain(field.type) for field in fields)
        case Union(_, cases):
            return all(_plain(case) for case in cases)
        case Tuple(items):
            return all(map(_plain, items))
        case Seq(inner) | Map(_, inner):
            return _plain(inner)
        case _:
            assert_never(of)


def members(of: Type, scope: Scope) -> tuple[Value, ...]:
    """All values of a scalar type, ascending. Raises MemoryError for a range of too many.

    >>> members(Sort("Replica"), Scope({"Replica": ("A", "B")}, {}, {}, {}))
    (0, 1)
    """
    match of:
        case Bool():
            return (False, True)
        case Range(lo, hi):
            if not can_be_listed(lo, hi):
                raise MemoryError
            return tuple(range(lo, hi + 1))
        case Nat(name):
            if not can_be_listed(0, scope.limit(name)):
                raise MemoryError
            return tuple(range(scope.limit(name) + 1))
        case Enum(_, names):
            return tuple(range(len(names)))
        case Sort(name):
            return tuple(range(len(scope.sorts[name])))
        case _:
            raise TypeError(f"the values of {of} cannot be listed")


def ends(of: Type, scope: Scope) -> tuple[int, int]:
    """The first and the last value of a scalar type as numbers; last < first if it is empty.

    >>> ends(Nat("Epoch"), Scope({}, {"Epoch": 3}, {}, {}))
    (0, 3)
    """
    match of:
        case Range(lo, hi):
            return lo, hi
        case Nat(name):
            return 0, scope.limit(name)
        case _:
            return 0, len(members(of, scope)) - 1


def position(key: Type) -> Callable[[Value], int]:
    """A function from a key to the index of its value in a map's tuple."""
    if isinstance(key, Range) and key.lo != 0:
        lo = key.lo
        return lambda value: value - lo
    return int


# ----------------------------------------------------------------------- bytes


def encode(of: Type, scope: Scope) -> Encoder:  # noqa: C901 - a dispatch over a union
    """A function from values of a type to canonical bytes, which sort as the values do.

    A value that does not fit the scope has no bytes (OverflowError or nonsense), so fit it first.

    >>> encode(Set(Range(0, 9)), Scope({}, {}, {}, {}))(frozenset({7, 2})).hex()
    '0102010700'
    """
    match of:
        case Int():
            return _encode_int
        case Bool() | Range() | Nat() | Enum() | Sort():
            return _encode_scalar(of, scope)
        case Option(inner):
            some = encode(inner, scope)
            return lambda value: b"\0" if value is None else b"\1" + some(value)
        case Record(_, fields):
            return _encode_parts([encode(field.type, scope) for field in fields])
        case Tuple(items):
            return _encode_parts([encode(item, scope) for item in items])
        case Map(_, inner):
            item = encode(inner, scope)
            return lambda value: b"".join(map(item, value))
        case Union(_, cases):
            return _encode_union([_encode_fields(case.fields, scope) for case in cases])
        case Case(_, _, fields):
            own = _encode_fields(fields, scope)
            return lambda value: value[0].to_bytes(2) + own(value[1:])
        case Seq(inner):
            return _encode_entries(encode(inner, scope), sort=False)
        case Set(inner):
            return _encode_entries(encode(inner, scope), sort=True)
        case Bag(inner):
            return _encode_entries(_encode_parts([encode(inner, scope), _encode_int]), sort=True)
        case UnknownType():
            raise TypeError("a value of unknown type")
        case _:
            assert_never(of)


def _encode_scalar(of: Type, scope: Scope) -> Encoder:
    """An encoder for a scalar type."""
    first, last = ends(of, scope)
    width = _width(last - first + 1)
    if last - first < 256:
        return {value: (int(value) - first).to_bytes(width) for value in members(of, scope)}.__getitem__
    return lambda value: (value - first).to_bytes(width)


def _width(count: int) -> int:
    """The number of bytes that distinguish `count` values."""
    return (max(count - 1, 1).bit_length() + 7) // 8


def _encode_int(value: int) -> bytes:
    """The bytes of an integer: sign, length, digits; complemented if it is negative."""
    size = (abs(value).bit_length() + 7) // 8
    body = size.to_bytes(4) + abs(value).to_bytes(size)
    return b"\1" + body if value >= 0 else b"\0" + bytes(255 - byte for byte in body)


def _encode_parts(parts: list[Encoder]) -> Encoder:
    """An encoder for a tuple of parts."""
    if len(parts) == 1:
        (only,) = parts
        return lambda value: only(value[0])
    return lambda value: b"".join([part(item) for part, item in zip(parts, value, strict=True)])


def _encode_fields(fields: tuple[Field, ...], scope: Scope) -> Encoder:
    """An encoder for the fields of a record or case."""
    return _encode_parts([encode(field.type, scope) for field in fields])


def _encode_union(cases: list[Encoder]) -> Encoder:
    """An encoder for a union, by case."""
    return lambda value: value[0].to_bytes(2) + cases[value[0]](value[1:])


def _encode_entries(item: Encoder, *, sort: bool) -> Encoder:
    """An encoder for entries, each after a 1, with a 0 at the end, so that prefixes sort first."""

    def entries(value: Value) -> bytes:
        parts = sorted(map(item, value)) if sort else map(item, value)
        return b"".join([b"\1" + part for part in parts]) + b"\0"

    return entries


def decode(of: Type, scope: Scope) -> Callable[[bytes], Value]:
    """The inverse of `encode`. Raises ValueError if bytes are left over."""
    read = reader(of, scope)

    def decoded(data: bytes) -> Value:
        value, end = read(data, 0)
        if end != len(data):
            raise ValueError(f"{len(data) - end} bytes too many for {of}")
        return value

    return decoded


def least(of: Type, scope: Scope) -> Value:
    """The first value of a type in the canonical order, whose bytes are all 0."""
    value, _ = reader(of, scope)(bytes(_ENOUGH), 0)
    return value


def reader(of: Type, scope: Scope) -> Reader:  # noqa: C901 - a dispatch over a union
    """A function that decodes the value at an offset, and returns it with the offset of its end."""
    match of:
        case Int():
            return _read_int
        case Bool() | Range() | Nat() | Enum() | Sort():
            return _read_scalar(of, scope)
        case Option(inner):
            some = reader(inner, scope)
            return lambda data, at: some(data, at + 1) if data[at] else (None, at + 1)
        case Record(_, fields):
            return _read_parts([reader(field.type, scope) for field in fields])
        case Tuple(items):
            return _read_parts([reader(item, scope) for item in items])
        case Map(key, inner):
            return _read_parts([reader(inner, scope)] * len(members(key, scope)))
        case Union(_, cases):
            return _read_case([_read_fields(case.fields, scope) for case in cases])
        case Case(_, _, fields):
            own = _read_fields(fields, scope)
            return lambda data, at: _tagged(int.from_bytes(data[at : at + 2]), own(data, at + 2))
        case Seq(inner):
            return _read_entries(reader(inner, scope), tuple)
        case Set(inner):
            return _read_entries(reader(inner, scope), frozenset)
        case Bag(inner):
            return _read_entries(_read_parts([reader(inner, scope), _read_int]), frozenset)
        case UnknownType():
            raise TypeError("a value of unknown type")
        case _:
            assert_never(of)


def _read_scalar(of: Type, scope: Scope) -> Reader:
    """A reader for a scalar type."""
    first, last = ends(of, scope)
    width = _width(last - first + 1)
    if width == 1:
        known = members(of, scope)
        return lambda data, at: (known[data[at]], at + 1)
    return lambda data, at: (first + int.from_bytes(data[at : at + width]), at + width)


def _read_int(data: bytes, at: int) -> tuple[int, int]:
    """The integer at an offset, and the offset of its end."""
    flip = 0 if data[at] else 255
    size = int.from_bytes(bytes(byte ^ flip for byte in data[at + 1 : at + 5]))
    value = int.from_bytes(bytes(byte ^ flip for byte in data[at + 5 : at + 5 + size]))
    return (-value if flip else value), at + 5 + size


def _read_parts(parts: list[Reader]) -> Reader:
    """A reader for a tuple of parts."""

    def read(data: bytes, at: int) -> tuple[Value, int]:
        values = []
        for part in parts:
            value, at = part(data, at)
            values.append(value)
        return tuple(values), at

    return read


def _read_fields(fields: tuple[Field, ...], scope: Scope) -> Reader:
    """A reader for the fields of a record or case."""
    return _read_parts([reader(field.type, scope) for field in fields])


def _read_case(cases: list[Reader]) -> Reader:
    """A reader for a union, by case."""

    def read(data: bytes, at: int) -> tuple[Value, int]:
        ordinal = int.from_bytes(data[at : at + 2])
        return _tagged(ordinal, cases[ordinal](data, at + 2))

    return read


def _tagged(ordinal: int, read: tuple[Value, int]) -> tuple[Value, int]:
    """A union's value from its case and the fields read."""
    return (ordinal, *read[0]), read[1]


def _read_entries(item: Reader, make: Callable[[list[Value]], Value]) -> Reader:
    """A reader for entries, which `make` turns into a collection."""

    def read(data: bytes, at: int) -> tuple[Value, int]:
        values = []
        while data[at]:
            value, at = item(data, at + 1)
            values.append(value)
        return make(values), at + 1

    return read


# ---------------------------------------------------------------- for a person


def number_words(value: Value) -> str:
    """A number for a message; a very long one by its size, since Python writes at most 4,300 digits."""
    if isinstance(value, int) and value.bit_length() > _SHOWN:
        return f"a number of {value.bit_length():,} bits"
    return str(value)


def show(of: Type, value: Value, scope: Scope) -> str:  # noqa: C901 - a dispatch over a union
    """A value in the language's own syntax: `none`, `{a, b}`, `[Entry(epoch = 1)]`, `Vote(term = 1)`.

    A bag is written as a set that repeats its members, a map as `[r1 -> 0, r2 -> 1]`.

    >>> show(Set(Enum("Vote", ("yes", "no"))), frozenset({1, 0}), Scope({}, {}, {}, {}))
    '{yes, no}'
    """
    match of:
        case Bool():
            return "true" if value else "false"
        case Int() | Range() | Nat() | UnknownType():
            return str(value)
        case Enum(_, names):
            return names[value]
        case Sort(name):
            return scope.sorts[name][value]
        case Option(inner):
            return "none" if value is None else show(inner, value, scope)
        case Record(name, fields):
            return f"{name}({_show_fields(fields, value, scope)})"
        case Case(_, name, fields):
            return f"{name}({_show_fields(fields, value[1:], scope)})" if fields else name
        case Union(_, cases):
            return show(cases[value[0]], value, scope)
        case Tuple(items):
            return f"({', '.join(show(item, part, scope) for item, part in zip(items, value, strict=True))})"
        case Seq(inner):
            return f"[{_show_all(inner, value, scope)}]"
        case Set(inner):
            return f"{{{_show_all(inner, ordered(value), scope)}}}"
        case Bag(inner):
            each = [member for member, count in ordered(value) for _ in range(count)]
            return f"{{{_show_all(inner, each, scope)}}}"
        case Map(key, inner):
            pairs = zip(members(key, scope), value, strict=True)
            return f"[{', '.join(f'{show(key, k, scope)} -> {show(inner, v, scope)}' for k, v in pairs)}]"
        case _:
            assert_never(of)


def _show_all(of: Type, values: Iterable[Value], scope: Scope) -> str:
    """Values separated by commas."""
    return ", ".join(show(of, value, scope) for value in values)


def _show_fields(fields: tuple[Field, ...], values: Value, scope: Scope) -> str:
    """Fields with names, separated by commas."""
    return ", ".join(f"{f.name} = {show(f.type, v, scope)}" for f, v in zip(fields, values, strict=True))
