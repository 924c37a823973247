"""The members of sets and bags and the entries of sequences, in registers."""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.codes import code_at, place_of
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Entries,
    Mask,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    has_gaps,
    places,
    places_without_gaps,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    code,
    container,
    cut_out,
    number,
    packed_as,
    some,
    split,
    tag_of,
    value,
)


def length(fn: Function, live: Live) -> V:
    """Emit the number of entries of a sequence, or of a set or bag in slots, in 64 bits."""
    return fn.resize(fn.lshr(live.v, const(live.v.bits, packed_as(live, Entries).body)), 64)


def body(fn: Function, live: Live) -> V:
    """Emit the bits of the entries of a sequence or of slots, without the length above them."""
    return fn.and_(live.v, const(live.v.bits, (1 << packed_as(live, Entries).body) - 1))


def entry(fn: Function, live: Live, index: V) -> Live:
    """Emit the entry at `index`, which must be below the capacity."""
    packing = packed_as(live, Entries)
    return cut_out(fn, live.v, fn.mul(index, i64(packing.of.width)), packing.of)


def with_length(fn: Function, packing: Sequence | Slots, entries: V, count: V) -> Live:
    """Emit the value of a sequence or of slots, from the bits of its entries and their number."""
    size = container(packing.width)
    whole = fn.resize(entries, size)
    return Live(packing, fn.or_(whole, fn.shl(fn.resize(count, size), const(size, packing.body))))


def candidate(fn: Function, live: Live, index: V) -> tuple[V, Live]:
    """Emit the element at `index` of a set, bag or sequence, and the test whether there is one.

    The numbers go over the places of a mask, else over the entries.
    """
    if isinstance(live.packing, Mask):
        return bit_at(fn, live.v, index), member_at(fn, live.packing.of, index)
    return fn.less(index, length(fn, live)), entry(fn, live, index)


def bit_at(fn: Function, whole: V, place: V) -> V:
    """Emit bit `place` of a number."""
    if whole.bits > 64 and place.const is None:  # to move all its words would take long
        words, word = whole.bits // 64, fn.lshr(place, i64(6))
        found = fn.resize(whole, 64)
        for number in range(1, words):
            other = fn.resize(fn.lshr(whole, const(whole.bits, 64 * number)), 64)
            found = fn.select(fn.eq(word, i64(number)), other, found)
        return fn.resize(fn.lshr(found, fn.and_(place, i64(63))), 1)
    return fn.resize(fn.lshr(whole, fn.resize(place, whole.bits)), 1)


def member_at(fn: Function, of: Packing, place: V) -> Live:
    """Emit the member that bit `place` of a mask represents."""
    if not has_gaps(of):
        return value(fn, of, place)
    return value(fn, of, fn.look_up(fn.table([code_at(of, each) for each in range(places(of))]), place))


def place(fn: Function, live: Live) -> V:
    """Emit the index of the bit that represents a member in a mask."""
    whole = code(fn, live)
    if not has_gaps(live.packing):
        return whole
    return _place(fn, live) if whole.const is None else i64(place_of(live.packing, whole.const))


def _place(fn: Function, live: Live) -> V:
    """Emit the index of a member's bit in a mask whose packing of members has gaps."""
    match live.packing:
        case Optional(of):
            behind = fn.add(_place(fn, some(fn, live, of)), i64(1))
            return fn.select(fn.is_zero(live.v), i64(0), behind)
        case Product() | Array():
            found = i64(0)
            for part in split(fn, live):
                inner = _place(fn, part)
                found = fn.add(fn.mul(found, i64(places_without_gaps(part.packing))), inner)
            return found
        case TaggedUnion(cases):
            tag, found, before = tag_of(fn, live), i64(0), 0
            for ordinal, case in enumerate(cases):
                here = fn.add(_place(fn, cut_out(fn, live.v, 0, case)), i64(before))
                found = fn.select(fn.eq(tag, i64(ordinal)), here, found)
                before += places_without_gaps(case)
            return found
        case _:
            return fn.resize(code(fn, live), 64)


def inserted(fn: Function, live: Live, member: Live) -> Live:
    """Emit a set or bag with one more member, for which there must be room; a set may have it already."""
    if isinstance(live.packing, Mask):
        return Live(live.packing, fn.or_(live.v, _bit(fn, live, member)))
    packing = packed_as(live, Slots)
    if packing.most == 0:
        return live
    key, size = code(fn, member), live.v.bits
    at, found = _located(fn, live, key)
    entries, low = body(fn, live), fn.mask(size, at)
    high = fn.shl(fn.and_(entries, fn.not_(low)), const(size, packing.of.width))
    new = fn.or_(fn.or_(fn.and_(entries, low), fn.shl(fn.resize(key, size), at)), high)
    new = fn.and_(new, const(size, (1 << packing.body) - 1))
    more = with_length(fn, packing, new, fn.add(length(fn, live), i64(1)))
    return more if packing.repeated else Live(packing, fn.select(found, live.v, more.v))


def removed(fn: Function, live: Live, member: Live) -> Live:
    """Emit a bag with one occurrence of a member less, if it has any, in the packing of its members."""
    packing = packed_as(live, Slots)
    if packing.most == 0:
        return live
    at, found = _located(fn, live, code(fn, member))
    size = live.v.bits
    entries, low = body(fn, live), fn.mask(size, at)
    high = fn.and_(fn.lshr(entries, const(size, packing.of.width)), fn.not_(low))
    count = fn.sub(length(fn, live), fn.resize(found, 64))
    new = with_length(fn, packing, fn.or_(fn.and_(entries, low), high), count)
    return Live(packing, fn.select(found, new.v, live.v))


def _bit(fn: Function, live: Live, member: Live) -> V:
    """Emit the mask with the bit of one member."""
    return fn.shl(const(live.v.bits, 1), fn.resize(place(fn, member), live.v.bits))


def _located(fn: Function, live: Live, key: V) -> tuple[V, V]:
    """Emit the bit offset at which a code belongs in ordered slots, and whether it is there already."""
    packing, smaller, found = packed_as(live, Slots), i64(0), FALSE
    for index in range(packing.most):
        there, member = candidate(fn, live, i64(index))
        slot = code(fn, member)
        smaller = fn.add(smaller, fn.resize(fn.and_(there, fn.below(slot, key)), 64))
        found = fn.or_(found, fn.and_(there, fn.eq(slot, key)))
    return fn.resize(fn.mul(smaller, i64(packing.of.width)), live.v.bits), found


def count_of(fn: Function, live: Live, member: Live, ok: V) -> V:
    """Emit how often slots or a sequence have a value; `ok` is whether its packing can represent it."""
    found, key = i64(0), code(fn, member)
    for index in range(packed_as(live, Entries).most):
        there, each = candidate(fn, live, i64(index))
        mine = fn.and_(fn.and_(there, ok), fn.eq(code(fn, each), key))
        found = fn.add(found, fn.resize(mine, 64))
    return found


def size(fn: Function, live: Live) -> Live:
    """Emit the number of members of a set or bag, or of entries of a sequence, or of values in an option."""
    match live.packing:
        case Optional():
            return number(fn.resize(fn.is_set(live.v), 64), 0, 1)
        case Mask() as packing:
            return number(fn.popcount(live.v), 0, packing.most)
        case _:
            return number(length(fn, live), 0, packed_as(live, Entries).most)
