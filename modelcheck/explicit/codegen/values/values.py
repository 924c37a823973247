"""Values in registers: a packing and a number.

A bool is one bit, a whole number is itself in 64 bits, everything else is its
code, without sign, in as many words as it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.codes import encode
from modelcheck.explicit.codegen.values.packing import (
    WIDEST,
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
    TooWide,
    Truth,
    parts_of,
)
from spec.frozen import frozen
from spec.model.ir import Value

P = TypeVar("P")


@frozen
class Live:
    """A value during a computation: its packing and the LLVM integer that holds it."""

    packing: Packing
    v: V


def packed_as(live: Live, kind: type[P]) -> P:
    """The packing of a value, which must be of class `kind`. Raises TypeError otherwise."""
    if not isinstance(live.packing, kind):
        raise TypeError(f"{live.packing} is no {kind.__name__.lower()}")
    return live.packing


def collection(live: Live) -> Mask | Slots | Sequence:
    """The packing of a set, bag or sequence. Raises TypeError for another value."""
    if not isinstance(live.packing, Mask | Slots | Sequence):
        raise TypeError(f"{live.packing} has no members")
    return live.packing


def container(width: int) -> int:
    """The width of the register for a code of `width` bits: a multiple of 64. Raises TooWide."""
    if width > WIDEST:
        raise TooWide(f"a value of {width} bits")
    return 64 * max(1, (width + 63) // 64)


def known(packing: Packing, value: Value) -> Live:
    """A constant with this value."""
    return _known(packing, encode(packing, value))


def known_zero(packing: Packing) -> Live:
    """The constant whose code is zero: none, {}, []."""
    return _known(packing, 0)


def _known(packing: Packing, code: int) -> Live:
    """A constant with this code."""
    match packing:
        case Truth():
            return Live(packing, const(1, code))
        case Number(lo):
            return Live(packing, i64(code + lo))
        case _:
            return Live(packing, const(container(packing.width), code))


def number(v: V, lo: int, hi: int) -> Live:
    """A whole number between `lo` and `hi`; a constant if they are equal."""
    return Live(Number(lo, hi), i64(lo) if lo == hi else v)


def truth(v: V) -> Live:
    """A bool from its bit."""
    return Live(Truth(), v)


def code(fn: Function, live: Live) -> V:
    """Emit the code of a value, in the container of its packing."""
    match live.packing:
        case Truth():
            return fn.resize(live.v, 64)
        case Number(lo):
            return fn.sub(live.v, i64(lo))
        case _:
            return live.v


def value(fn: Function, packing: Packing, code: V) -> Live:
    """Emit the value that has this code; bits above the packing's width must be zero."""
    match packing:
        case Truth():
            return Live(packing, fn.resize(code, 1))
        case Number(lo, hi):
            return number(fn.add(fn.resize(code, 64), i64(lo)), lo, hi)
        case _:
            return Live(packing, fn.resize(code, container(packing.width)))


def cut_out(fn: Function, whole: V, offset: V | int, packing: Packing) -> Live:
    """Emit the value whose code begins at bit `offset` of a number, counted from the lowest."""
    by = const(whole.bits, offset) if isinstance(offset, int) else fn.resize(offset, whole.bits)
    width = packing.width
    shifted = fn.resize(fn.lshr(whole, by), container(width))
    return value(fn, packing, fn.and_(shifted, const(shifted.bits, (1 << width) - 1)))


def placed(fn: Function, live: Live, size: int, offset: V | int) -> V:
    """Emit a number of `size` bits with the value's code from bit `offset` on, and zeros elsewhere."""
    by = const(size, offset) if isinstance(offset, int) else fn.resize(offset, size)
    return fn.shl(fn.resize(code(fn, live), size), by)


def split(fn: Function, live: Live) -> Iterator[Live]:
    """Emit the parts of a record, tuple or map, in order."""
    assert isinstance(live.packing, Product | Array)
    for part, offset in parts_of(live.packing):
        yield cut_out(fn, live.v, offset, part)


def assembled(fn: Function, width: int, parts: Iterable[tuple[Live, int]]) -> V:
    """Emit the code of a composite value of `width` bits from its parts, each at its bit offset."""
    whole = const(container(width), 0)
    for live, offset in parts:
        if live.packing.width:
            whole = fn.or_(whole, placed(fn, live, whole.bits, offset))
    return whole


def some(fn: Function, live: Live, of: Packing) -> Live:
    """Emit the value in an option; for none, the value whose code is zero."""
    none = fn.is_zero(live.v)
    inner = fn.sub(live.v, fn.resize(fn.not_(none), live.v.bits))
    return value(fn, of, inner)


def option_of(fn: Function, live: Live) -> Live:
    """Emit the option that has this value."""
    packing = Optional(live.packing)
    size = container(packing.width)
    return Live(packing, fn.add(fn.resize(code(fn, live), size), const(size, 1)))


def tag_of(fn: Function, live: Live) -> V:
    """Emit the index of the case of a union's value."""
    if isinstance(live.packing, Never):
        return i64(0)
    return fn.resize(fn.lshr(live.v, const(live.v.bits, packed_as(live, TaggedUnion).payload)), 64)


def tagged(fn: Function, union: TaggedUnion, ordinal: int, case: V) -> V:
    """Emit the code of a union's value from that of its case."""
    size = container(union.width)
    return fn.or_(fn.resize(case, size), const(size, ordinal << union.payload))


def anything(live: Live) -> V:
    """A placeholder of a value's width, for code that is emitted only to find the packing of a result."""
    return V(live.v.bits, "%anything")
