"""The members of sets and bags and the entries of sequences, in registers."""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.packing import Mask, Optional, Sequence, Slots
from modelcheck.explicit.codegen.values import Live, code, container, cut_out, number, value


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

    The numbers go over the codes of a mask, else over the entries.
    """
    packing = live.packing
    match packing:
        case Mask(of):
            by = fn.resize(index, live.v.bits)
            bit = fn.and_(fn.lshr(live.v, by), const(live.v.bits, 1))
            return fn.resize(bit, 1), value(fn, of, index)
        case Slots() | Sequence():
            return fn.less(index, length(fn, live)), entry(fn, live, index)
        case _:
            raise TypeError(f"{packing} has no members")


def inserted(fn: Function, live: Live, member: Live) -> Live:
    """A set or bag with one more; there must be room. A set that has it stays as it is."""
    match live.packing:
        case Mask() as packing:
            bit = fn.shl(const(live.v.bits, 1), fn.resize(code(fn, member), live.v.bits))
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
            bit = fn.shl(const(live.v.bits, 1), fn.resize(code(fn, member), live.v.bits))
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
