"""The members of sets and bags and the entries of sequences, in registers."""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.codes import code_at, place_of
from modelcheck.explicit.codegen.packing import (
    Array,
    Mask,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    Tagged,
    has_gaps,
    parts_of,
    places,
    places_without_gaps,
)
from modelcheck.explicit.codegen.values import (
    Live,
    code,
    container,
    cut_out,
    number,
    some,
    tag_of,
    value,
)


def length(fn: Function, live: Live) -> V:
    """How many entries a sequence has, or a set or bag in slots; in 64 bits."""
    packing = live.packing
    if not isinstance(packing, Sequence | Slots):
        raise TypeError(f"{packing} has no length")
    return fn.resize(fn.lshr(live.v, const(live.v.bits, packing.body)), 64)


def body(fn: Function, live: Live) -> V:
    """The entries alone."""
    packing = live.packing
    if not isinstance(packing, Sequence | Slots):
        raise TypeError(f"{packing} has no entries")
    return fn.and_(live.v, const(live.v.bits, (1 << packing.body) - 1))


def entry(fn: Function, live: Live, index: V) -> Live:
    """The entry with that number, which must be below the capacity."""
    packing = live.packing
    if not isinstance(packing, Sequence | Slots):
        raise TypeError(f"{packing} has no entries")
    return cut_out(fn, live.v, fn.mul(index, i64(packing.of.width)), packing.of)


def with_length(fn: Function, packing: Sequence | Slots, entries: V, count: V) -> Live:
    """A sequence (or slots) from its entries and how many they are."""
    size = container(packing.width)
    whole = fn.resize(entries, size)
    return Live(packing, fn.or_(whole, fn.shl(fn.resize(count, size), const(size, packing.body))))


def candidate(fn: Function, live: Live, index: V) -> tuple[V, Live]:
    """A member of a set or bag, or an entry of a sequence, by a number; and whether there is one.

    The numbers go over the places of a mask, else over the entries.
    """
    packing = live.packing
    match packing:
        case Mask(of):
            return bit_at(fn, live.v, index), member_at(fn, of, index)
        case Slots() | Sequence():
            return fn.less(index, length(fn, live)), entry(fn, live, index)
        case _:
            raise TypeError(f"{packing} has no members")


def bit_at(fn: Function, whole: V, place: V) -> V:
    """Whether a bit is set."""
    if whole.bits > 64 and place.const is None:  # to move all its words would take long
        words, word = whole.bits // 64, fn.lshr(place, i64(6))
        found = fn.resize(whole, 64)
        for number in range(1, words):
            other = fn.resize(fn.lshr(whole, const(whole.bits, 64 * number)), 64)
            found = fn.select(fn.eq(word, i64(number)), other, found)
        return fn.resize(fn.lshr(found, fn.and_(place, i64(63))), 1)
    return fn.resize(fn.lshr(whole, fn.resize(place, whole.bits)), 1)


def member_at(fn: Function, of: Packing, place: V) -> Live:
    """The member that a bit of a mask stands for."""
    if not has_gaps(of):
        return value(fn, of, place)
    return value(fn, of, fn.look_up(fn.table([code_at(of, each) for each in range(places(of))]), place))


def place(fn: Function, live: Live) -> V:
    """The bit of a mask that stands for a member."""
    whole = code(fn, live)
    if not has_gaps(live.packing):
        return whole
    return _place(fn, live) if whole.const is None else i64(place_of(live.packing, whole.const))


def _place(fn: Function, live: Live) -> V:
    match live.packing:
        case Optional(of):
            behind = fn.add(_place(fn, some(fn, live, of)), i64(1))
            return fn.select(fn.eq(live.v, const(live.v.bits, 0)), i64(0), behind)
        case (Product() | Array()) as packing:
            found = i64(0)
            for part, offset in parts_of(packing):
                inner = _place(fn, cut_out(fn, live.v, offset, part))
                found = fn.add(fn.mul(found, i64(places_without_gaps(part))), inner)
            return found
        case Tagged(cases):
            tag, found, before = tag_of(fn, live), i64(0), 0
            for ordinal, case in enumerate(cases):
                here = fn.add(_place(fn, cut_out(fn, live.v, 0, case)), i64(before))
                found = fn.select(fn.eq(tag, i64(ordinal)), here, found)
                before += places_without_gaps(case)
            return found
        case _:
            return fn.resize(code(fn, live), 64)


def inserted(fn: Function, live: Live, member: Live) -> Live:
    """A set or bag with one more; there must be room. A set that has it stays as it is."""
    match live.packing:
        case Mask() as packing:
            bit = fn.shl(const(live.v.bits, 1), fn.resize(place(fn, member), live.v.bits))
            return Live(packing, fn.or_(live.v, bit))
        case Slots(of, most, repeated) as packing:
            if most == 0:
                return live
            key, size = code(fn, member), live.v.bits
            at, found = _located(fn, live, key)
            entries, low = body(fn, live), fn.mask(size, at)
            high = fn.shl(fn.and_(entries, fn.not_(low)), const(size, of.width))
            new = fn.or_(fn.or_(fn.and_(entries, low), fn.shl(fn.resize(key, size), at)), high)
            new = fn.and_(new, const(size, (1 << packing.body) - 1))
            more = with_length(fn, packing, new, fn.add(length(fn, live), i64(1)))
            return more if repeated else Live(packing, fn.select(found, live.v, more.v))
        case _:
            raise TypeError(f"{live.packing} is no set")


def removed(fn: Function, live: Live, member: Live) -> Live:
    """A set or bag with one less, if it has it; `member` is in its members' packing."""
    match live.packing:
        case Mask() as packing:
            bit = fn.shl(const(live.v.bits, 1), fn.resize(place(fn, member), live.v.bits))
            return Live(packing, fn.and_(live.v, fn.not_(bit)))
        case Slots(of, most) as packing:
            if most == 0:
                return live
            key, size = code(fn, member), live.v.bits
            at, found = _located(fn, live, key)
            entries, low = body(fn, live), fn.mask(size, at)
            high = fn.and_(fn.lshr(entries, const(size, of.width)), fn.not_(low))
            count = fn.sub(length(fn, live), fn.resize(found, 64))
            new = with_length(fn, packing, fn.or_(fn.and_(entries, low), high), count)
            return Live(packing, fn.select(found, new.v, live.v))
        case _:
            raise TypeError(f"{live.packing} is no set")


def _located(fn: Function, live: Live, key: V) -> tuple[V, V]:
    """At which bit of ordered slots a code has its place, and whether it is there."""
    packing = live.packing
    if not isinstance(packing, Slots):
        raise TypeError(f"{packing} has no ordered slots")
    smaller, found = i64(0), FALSE
    for index in range(packing.most):
        there = fn.less(i64(index), length(fn, live))
        slot = code(fn, entry(fn, live, i64(index)))
        smaller = fn.add(smaller, fn.resize(fn.and_(there, fn.below(slot, key)), 64))
        found = fn.or_(found, fn.and_(there, fn.eq(slot, key)))
    return fn.resize(fn.mul(smaller, i64(packing.of.width)), live.v.bits), found


def count_of(fn: Function, live: Live, member: Live, ok: V) -> V:
    """How often slots or a sequence have a value, which is in their packing where `ok`."""
    packing = live.packing
    if not isinstance(packing, Slots | Sequence):
        raise TypeError(f"{packing} has no entries")
    found, key = i64(0), code(fn, member)
    for index in range(packing.most):
        there, each = candidate(fn, live, i64(index))
        mine = fn.and_(fn.and_(there, ok), fn.eq(code(fn, each), key))
        found = fn.add(found, fn.resize(mine, 64))
    return found


def size(fn: Function, live: Live) -> Live:
    """How many members or entries there are."""
    match live.packing:
        case Mask() as packing:
            return number(fn.popcount(live.v), 0, packing.width)
        case Slots(_, most) | Sequence(_, most):
            return number(length(fn, live), 0, most)
        case Optional():
            return number(fn.resize(fn.ne(live.v, const(live.v.bits, 0)), 64), 0, 1)
        case _:
            raise TypeError(f"{live.packing} has no size")
