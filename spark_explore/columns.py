"""Packed states as Arrow columns, unpacked by numpy for many states at once.

A value of a few bits is looked up in a table of all values that it may have; whatever is wider is
taken apart.  Sets and bags are in the order of their codes, so equal values are equal arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, assert_never

import numpy as np
import pyarrow as pa

import spec.model.types as t
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.explicit.codegen.values.codes import code_at, decode, encode
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
    bits,
    parts_of,
    typed_parts,
)
from spec.frozen import frozen
from spec.model.ir import Model, Scope, Value
from spec.model.values import members, show

LISTED = 10  # bits of a value whose codes are looked up in a table
CASE = "_case"  # the field with the name of a union's case; no case is called like that
Words = np.ndarray[Any, np.dtype[np.uint64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]
Converter = Callable[[Value], Any]


@frozen
class PackedCodes:
    """PackedCodes of values: each begins at a bit of a row of words, which is its own row unless given."""

    words: Words
    offset: int | Indices = 0
    rows: Indices | None = None

    @property
    def count(self) -> int:
        """The number of values."""
        return len(self.words) if self.rows is None else len(self.rows)

    def inner(self, by: int) -> PackedCodes:
        """The codes that begin at a higher bit."""
        return PackedCodes(self.words, self.offset + by, self.rows)

    def taken(self, which: Indices, by: Indices | int = 0) -> PackedCodes:
        """The codes with these indices, each at a higher bit."""
        offset = self.offset if isinstance(self.offset, int) else self.offset[which]
        return PackedCodes(self.words, offset + by, which if self.rows is None else self.rows[which])

    def cut(self, width: int) -> Words:
        """The codes as numbers of at most 64 bits."""
        if width == 0:
            return np.zeros(self.count, np.uint64)
        if isinstance(self.offset, int):
            found: Words = self._cut_at(self.offset, width)
        else:
            found = self._cut_anywhere(self.offset)
        found &= np.uint64((1 << width) - 1)
        return found

    def _cut_at(self, offset: int, width: int) -> Words:
        """The bits from the same place of each row on."""
        word, shift = divmod(offset, WORD)
        found: Words = self._word(word) >> np.uint64(shift)
        if shift + width > WORD:
            found |= self._word(word + 1) << np.uint64(WORD - shift)
        return found

    def _word(self, number: int) -> Words:
        """The word with a number of each row."""
        column: Words = self.words[:, number]
        return column if self.rows is None else column[self.rows]

    def _cut_anywhere(self, offset: Indices) -> Words:
        """The bits from a place of its own in each row on."""
        per_row, flat = self.words.shape[1], self.words.ravel()
        at = offset >> 6
        at += (np.arange(self.count) if self.rows is None else self.rows) * per_row
        shift = (offset & 63).astype(np.uint64)
        found: Words = flat[at] >> shift
        if per_row > 1:
            more = flat[np.minimum(at + 1, len(flat) - 1)]
            found |= (more << (np.uint64(63) - shift)) << np.uint64(1)  # a shift by 64 is none
        return found

    def whole(self, width: int) -> Words:
        """The codes in rows of as many words as they need."""
        parts = [self.inner(low).cut(min(WORD, width - low)) for low in range(0, max(width, 1), WORD)]
        found: Words = np.stack(parts, axis=1)
        return found


@frozen(slots=False)
class ArrowColumn:
    """A type of values as a type of Arrow, and how codes of its packing become an array of that.

    `parts` are the columns of the components, `names` what their values are called.
    """

    type: t.Type
    packing: Packing
    arrow: pa.DataType
    convert: Converter  # one value, for `pa.array`
    parts: tuple[ArrowColumn, ...] = ()
    names: tuple[str, ...] = ()

    @cached_property
    def values(self) -> pa.Array:
        """The value of each code; null for a code that no value has."""
        return pa.array(list(map(self.value, range(1 << self.packing.width))), self.arrow)

    def value(self, code: int) -> Any:  # noqa: ANN401 - whatever Arrow takes
        """The value with a code, as `pa.array` takes it; None for a code that no value has."""
        try:
            return self.convert(decode(self.packing, code))
        except (LookupError, OverflowError):  # a member that there is not, or more than fit
            return None

    @cached_property
    def members(self) -> pa.Array:
        """The member of each bit of a mask."""
        of = self.parts[0]
        codes = (code_at(of.packing, place) for place in range(self.packing.width))
        return pa.array(list(map(of.value, codes)), of.arrow)

    def array(self, codes: PackedCodes) -> pa.Array:
        """The values with these codes."""
        packing, width = self.packing, self.packing.width
        if isinstance(packing, Number) and pa.types.is_integer(self.arrow):
            return pa.array(codes.cut(width).astype(np.int64) + packing.lo)
        if isinstance(packing, Truth):
            return pa.array(codes.cut(1).astype(bool))
        if width <= LISTED or isinstance(packing, Number | Never):
            return self.values.take(pa.array(codes.cut(width)))
        match packing:
            case Optional():
                return self._optional(codes)
            case Product():
                return self._struct(codes, packing)
            case TaggedUnion():
                return self._union(codes, packing)
            case Array():
                return self._map(codes, packing)
            case Sequence() | Slots():
                return self._list(codes, packing)
            case Mask():
                return self._set(codes, width)
            case _:
                assert_never(packing)

    def _optional(self, codes: PackedCodes) -> pa.Array:
        """The values of an option: null where its code is 0, else that of the code before."""
        whole = codes.whole(self.packing.width)
        there = np.flatnonzero(whole.any(axis=1))
        own = whole[there]
        borrows = np.ones(len(own), np.uint64)
        for word in range(own.shape[1]):
            next_borrows = borrows * (own[:, word] == 0)
            own[:, word] -= borrows
            borrows = next_borrows
        return scattered(self.parts[0].array(PackedCodes(own)), there, codes.count)

    def _struct(self, codes: PackedCodes, packing: Product) -> pa.Array:
        """The values of a record or a tuple."""
        places = [offset for _, offset in parts_of(packing)]
        arrays = [part.array(codes.inner(at)) for part, at in zip(self.parts, places, strict=True)]
        return pa.StructArray.from_arrays(arrays, list(self.names))

    def _union(self, codes: PackedCodes, packing: TaggedUnion) -> pa.Array:
        """The values of a union: the name of the case, and for each case with fields those, or null."""
        tags = codes.inner(packing.payload).cut(packing.width - packing.payload)
        arrays = [pa.array(self.names).take(pa.array(tags))]
        for ordinal, part in enumerate(self.parts):
            if part.parts:
                mine = np.flatnonzero(tags == ordinal)
                arrays.append(scattered(part.array(codes.taken(mine)), mine, codes.count))
        return pa.StructArray.from_arrays(arrays, [field.name for field in self.arrow])

    def _map(self, codes: PackedCodes, packing: Array) -> pa.Array:
        """The values of a map, with all its keys in order."""
        count, keys = codes.count, packing.count
        own = np.tile(np.array(packing.offsets, np.int64), count)
        items = self.parts[0].array(codes.taken(np.repeat(np.arange(count), keys), own))
        names = pa.array(self.names).take(pa.array(np.tile(np.arange(keys), count)))
        ends = pa.array(np.arange(0, keys * count + 1, keys, dtype=np.int32))
        return pa.MapArray.from_arrays(ends, names, items)

    def _list(self, codes: PackedCodes, packing: Sequence | Slots) -> pa.Array:
        """The values of a sequence, or of a set or bag that is kept as one."""
        lengths = codes.inner(packing.body).cut(bits(packing.most + 1)).astype(np.int64)
        ends = _ends(lengths)
        rows = np.repeat(np.arange(codes.count), lengths)
        own = (np.arange(ends[-1]) - ends[rows]) * packing.of.width
        return pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()), self.parts[0].array(codes.taken(rows, own))
        )

    def _set(self, codes: PackedCodes, width: int) -> pa.Array:
        """The values of a set that is kept as a mask."""
        own = np.unpackbits(codes.whole(width).view(np.uint8), axis=1, bitorder="little")
        _, places = np.nonzero(own)
        ends = _ends(own.sum(axis=1, dtype=np.int64))
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), self.members.take(pa.array(places)))


def _ends(lengths: Indices) -> Indices:
    """Where each of several lists begins in one that has all of them, and where the last ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def scattered(values: pa.Array, at: Indices, count: int) -> pa.Array:
    """An array of `count` values: these at their places, null elsewhere."""
    if len(at) == count:
        return values
    where, there = np.zeros(count, np.int64), np.zeros(count, bool)
    where[at], there[at] = np.arange(len(at)), True
    return values.take(pa.array(where, mask=~there))


# ----------------------------------------------------------------------------- types


Parts = tuple[ArrowColumn, ...]


def columns(model: Model, scope: Scope, packed: PackedLayout) -> list[tuple[str, ArrowColumn]]:
    """The column of each variable of a model."""
    unions = {union.name: union for union in model.unions}
    pairs = zip(model.variables, packed.variables, strict=True)
    return [(own.name, column(own.type, field.packing, scope, unions)) for own, field in pairs]


def column(of: t.Type, packing: Packing, scope: Scope, unions: Mapping[str, t.Union]) -> ArrowColumn:  # noqa: C901 - a dispatch over a union
    """The column for values of a type that are kept in a packing."""
    parts = tuple(column(inner, own, scope, unions) for inner, own in typed_parts(of, packing, unions))
    match of:
        case t.Bool():
            return ArrowColumn(of, packing, pa.bool_(), bool)
        case t.Int() | t.Range() | t.Nat():
            return ArrowColumn(of, packing, pa.int64(), int)
        case t.Enum() | t.Sort():
            names = [show(of, value, scope) for value in members(of, scope)]
            return ArrowColumn(of, packing, pa.string(), lambda value: names[value])
        case t.Option():
            (inner,) = parts
            return ArrowColumn(
                of, packing, inner.arrow, lambda v: None if v is None else inner.convert(v), parts
            )
        case t.Seq():
            (inner,) = parts
            return ArrowColumn(
                of, packing, pa.list_(inner.arrow), lambda v: [inner.convert(e) for e in v], parts
            )
        case t.Set():
            (inner,) = parts
            return ArrowColumn(of, packing, pa.list_(inner.arrow), lambda v: _in_order(inner, v), parts)
        case t.Bag():
            (inner,) = parts

            def repeated(value: Value) -> list[Any]:
                return _in_order(inner, (each for each, count in value for _ in range(count)))

            return ArrowColumn(of, packing, pa.list_(inner.arrow), repeated, parts)
        case t.Map(key):
            return _map_column(of, packing, parts, [show(key, each, scope) for each in members(key, scope)])
        case t.Case(union) if isinstance(packing, TaggedUnion):
            return _union_column(of, packing, parts, [case.name for case in unions[union].cases])
        case t.Record(_, fields) | t.Case(_, _, fields):
            return _struct_column(of, packing, parts, [field.name for field in fields])
        case t.Tuple(items):
            return _struct_column(of, packing, parts, [f"_{number}" for number in range(1, len(items) + 1)])
        case t.Union(_, cases):
            return _union_column(of, packing, parts, [case.name for case in cases])
        case t.UnknownType():
            return ArrowColumn(of, packing, pa.string(), lambda value: show(of, value, scope))
        case _:
            assert_never(of)


def _in_order(of: ArrowColumn, values: Iterable[Value]) -> list[Any]:
    """The members of a set or bag, in the order of their codes."""
    return [of.convert(value) for value in sorted(values, key=lambda value: encode(of.packing, value))]


def _map_column(of: t.Type, packing: Packing, parts: tuple[ArrowColumn, ...], keys: list[str]) -> ArrowColumn:
    """The column for maps with these keys."""
    (inner,) = parts

    def convert(value: Value) -> list[tuple[str, Any]]:
        return [(key, inner.convert(each)) for key, each in zip(keys, value, strict=True)]

    return ArrowColumn(of, packing, pa.map_(pa.string(), inner.arrow), convert, parts, tuple(keys))


def _struct_column(
    of: t.Type, packing: Packing, parts: tuple[ArrowColumn, ...], names: list[str]
) -> ArrowColumn:
    """The column for records with these fields."""

    def convert(value: Value) -> dict[str, Any]:
        each = zip(names, parts, value, strict=True)
        return {name: part.convert(own) for name, part, own in each}

    arrow = pa.struct([(name, part.arrow) for name, part in zip(names, parts, strict=True)])
    return ArrowColumn(of, packing, arrow, convert, parts, tuple(names))


def _union_column(
    of: t.Type, packing: Packing, parts: tuple[ArrowColumn, ...], names: list[str]
) -> ArrowColumn:
    """The column for unions with these cases."""
    having = [(name, part) for name, part in zip(names, parts, strict=True) if part.parts]

    def convert(value: Value) -> dict[str, Any]:
        name, part = names[value[0]], parts[value[0]]
        return {CASE: name, **({name: part.convert(value[1:])} if part.parts else {})}

    arrow = pa.struct([(CASE, pa.string()), *((name, part.arrow) for name, part in having)])
    return ArrowColumn(of, packing, arrow, convert, parts, tuple(names))
