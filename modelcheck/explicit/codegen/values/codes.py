"""Values to codes and back: what the bits of a packing mean."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, assert_never

from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    Truth,
    has_gaps,
    packings_in,
    parts_of,
    places_without_gaps,
)
from spec.model.ir import Value


def is_monotone(packing: Packing) -> bool:
    """Whether comparing codes as numbers gives the canonical order of the values."""
    is_flat = not isinstance(packing, Sequence | Mask | Slots)
    return is_flat and all(map(is_monotone, packings_in(packing)))


def encode(packing: Packing, value: Value) -> int:
    """The code (an integer) of a value in a packing. The value must fit."""
    match packing:
        case Never():
            return 0
        case Truth():
            return int(value)
        case Number(lo):
            return int(value) - lo
        case Optional(of):
            return 0 if value is None else encode(of, value) + 1
        case Product() | Array():
            return sum(encode(p, v) << at for (p, at), v in zip(parts_of(packing), value, strict=True))
        case TaggedUnion(cases):
            payload = cases[value[0]]
            return int(value[0]) << packing.payload | encode(payload, value[1:])
        case Sequence(of):
            return _code_of_entries(packing, [encode(of, each) for each in value])
        case Slots(of, _, False):
            return _code_of_entries(packing, sorted(encode(of, each) for each in value))
        case Slots(of):
            return _code_of_entries(packing, sorted(encode(of, each) for each, n in value for _ in range(n)))
        case Mask(of):
            return sum(1 << place_of(of, encode(of, each)) for each in value)
        case _:
            assert_never(packing)


def _code_of_entries(packing: Sequence | Slots, codes: list[int]) -> int:
    """The code of a sequence, or of a set or bag in slots, from the codes of its entries."""
    if len(codes) > packing.most:
        raise OverflowError(f"{len(codes)} elements do not fit {packing}")
    width = packing.of.width
    return len(codes) << packing.body | sum(code << i * width for i, code in enumerate(codes))


def decode(packing: Packing, code: int) -> Value:
    """The value that has a code in a packing, the inverse of `encode`."""
    match packing:
        case Never():
            return None
        case Truth():
            return bool(code)
        case Number(lo):
            return code + lo
        case Optional(of):
            return None if code == 0 else decode(of, code - 1)
        case Product() | Array():
            return tuple(decode(part, _cut(code, at, part)) for part, at in parts_of(packing))
        case TaggedUnion(cases):
            tag = code >> packing.payload
            return (tag, *decode(cases[tag], code & (1 << packing.payload) - 1))
        case Sequence():
            return tuple(_members(packing, code))
        case Slots(_, _, False):
            return frozenset(_members(packing, code))
        case Slots():
            return _bag(_members(packing, code))
        case Mask(of):
            return frozenset(decode(of, code_at(of, i)) for i in range(packing.width) if code >> i & 1)
        case _:
            assert_never(packing)


def place_of(of: Packing, code: int) -> int:
    """The index of the bit that represents the member with this code in a mask."""
    return _place(of, code) if has_gaps(of) else code


def _place(of: Packing, code: int) -> int:
    """The index of a code among those that represent a value, for a packing with gaps."""
    match of:
        case Optional(inner):
            return 0 if code == 0 else _place(inner, code - 1) + 1
        case Product() | Array():
            place = 0
            for part, offset in parts_of(of):
                place = place * places_without_gaps(part) + _place(part, _cut(code, offset, part))
            return place
        case TaggedUnion(cases):
            tag = code >> of.payload
            before = sum(map(places_without_gaps, cases[:tag]))
            return before + _place(cases[tag], code & (1 << of.payload) - 1)
        case _:
            return code


def code_at(of: Packing, place: int) -> int:
    """The code of the member that bit `place` of a mask represents, the inverse of `place_of`."""
    return _code(of, place) if has_gaps(of) else place


def _code(of: Packing, place: int) -> int:
    """The code with index `place` among those that represent a value, for a packing with gaps."""
    match of:
        case Optional(inner):
            return 0 if place == 0 else _code(inner, place - 1) + 1
        case Product() | Array():
            code = 0
            for part, offset in reversed(parts_of(of)):
                place, own = divmod(place, places_without_gaps(part))
                code |= _code(part, own) << offset
            return code
        case TaggedUnion(cases):
            for tag, case in enumerate(cases):
                if place < places_without_gaps(case):
                    return tag << of.payload | _code(case, place)
                place -= places_without_gaps(case)
            raise IndexError(f"a mask of {of} has fewer bits")
        case _:
            return place


def _cut(code: int, offset: int, of: Packing) -> int:
    """The code of the part that begins at bit `offset` of a code."""
    return code >> offset & (1 << of.width) - 1


def _members(packing: Sequence | Slots, code: int) -> list[Value]:
    """The values of the entries in the code of a sequence or of slots."""
    of = packing.of
    return [decode(of, _cut(code, i * of.width, of)) for i in range(code >> packing.body)]


def _bag(values: list[Any]) -> Value:
    """The bag of these values, in which equal ones are adjacent."""
    starts = [i for i, value in enumerate(values) if i == 0 or value != values[i - 1]]
    return frozenset((values[a], b - a) for a, b in pairwise([*starts, len(values)]))
