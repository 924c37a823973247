"""Values in registers: a packing and a number; and how one becomes the number of another packing.

A bool is one bit, a whole number is itself in 64 bits, everything else is its
code, without sign, in as many words as it needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelcheck.explicit.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.assembly import Function
from modelcheck.explicit.packing import (
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
    Tagged,
    TooWide,
    Truth,
    encode,
    join,
)
from spec.ir import Value


@dataclass(frozen=True, slots=True)
class Live:
    """A value while it is worked with."""

    packing: Packing
    v: V


def container(width: int) -> int:
    """The bits of the register for a code of that width: whole words. Raises TooWide."""
    if width > WIDEST:
        raise TooWide(f"a value of {width} bits")
    return 64 * max(1, (width + 63) // 64)


def known(packing: Packing, value: Value) -> Live:
    """A value that is known now."""
    match packing:
        case Truth():
            return Live(packing, TRUE if value else FALSE)
        case Number():
            return Live(packing, i64(int(value)))
        case _:
            return Live(packing, const(container(packing.width), encode(packing, value)))


def number(v: V, lo: int, hi: int) -> Live:
    """A whole number of which the bounds are known."""
    return Live(Number(lo, hi), i64(lo) if lo == hi else v)


def truth(v: V) -> Live:
    """A bool."""
    return Live(Truth(), v)


def code(fn: Function, live: Live) -> V:
    """The code of a value, in the container of its packing."""
    match live.packing:
        case Truth():
            return fn.resize(live.v, 64)
        case Number(lo):
            return fn.sub(live.v, i64(lo))
        case _:
            return live.v


def value(fn: Function, packing: Packing, code: V) -> Live:
    """The value of a code; bits above the packing's width must be zero."""
    match packing:
        case Truth():
            return Live(packing, fn.resize(code, 1))
        case Number(lo, hi):
            return number(fn.add(fn.resize(code, 64), i64(lo)), lo, hi)
        case _:
            return Live(packing, fn.resize(code, container(packing.width)))


def cut_out(fn: Function, whole: V, offset: V | int, packing: Packing) -> Live:
    """The value whose code stands so many bits from the lowest."""
    by = const(whole.bits, offset) if isinstance(offset, int) else fn.resize(offset, whole.bits)
    width = packing.width
    shifted = fn.resize(fn.lshr(whole, by), container(width))
    return value(fn, packing, fn.and_(shifted, const(shifted.bits, (1 << width) - 1)))


def placed(fn: Function, live: Live, size: int, offset: V | int) -> V:
    """A number of `size` bits with the value's code so many bits from the lowest, else zero."""
    by = const(size, offset) if isinstance(offset, int) else fn.resize(offset, size)
    return fn.shl(fn.resize(code(fn, live), size), by)


def assembled(fn: Function, width: int, parts: list[tuple[Live, int]]) -> V:
    """The code of something made of parts, each at its offset."""
    whole = const(container(width), 0)
    for live, offset in parts:
        if live.packing.width:
            whole = fn.or_(whole, placed(fn, live, whole.bits, offset))
    return whole


# ------------------------------------------------------------------ of collections


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


# ------------------------------------------------------------------- conversion


def same(fn: Function, a: Live, b: Live) -> V:
    """Whether two values of one type are equal."""
    both = join(a.packing, b.packing)
    if isinstance(both, Never):
        return TRUE
    return fn.eq(recode(fn, a, both)[0].v, recode(fn, b, both)[0].v)


def convert(fn: Function, live: Live, to: Packing) -> Live:
    """The same value in a packing that has room for it."""
    return recode(fn, live, to)[0]


def recode(fn: Function, live: Live, to: Packing) -> tuple[Live, V]:  # noqa: C901 - a dispatch over pairs
    """The same value in another packing, and whether it has room for it; if not, the value is nonsense."""
    if live.packing == to:
        return live, TRUE
    match live.packing, to:
        case ((Never() | Optional(Never()) | Mask(Never()) | Slots(Never()) | Sequence(Never())), _):
            return known_zero(to), TRUE  # there is nothing, or only nothing in it
        case Number(lo, hi), Number(lo2, hi2):
            ok = TRUE if lo2 <= lo else fn.at_most(i64(lo2), live.v)
            return Live(to, live.v), ok if hi <= hi2 else fn.and_(ok, fn.at_most(live.v, i64(hi2)))
        case Optional(of), Optional(of2):
            return _option(fn, live, of, to, of2)
        case Optional(of), _:  # there is room for it unless it is none
            got, ok = recode(fn, some(fn, live, of), to)
            return got, fn.and_(ok, fn.ne(live.v, const(live.v.bits, 0)))
        case _, Optional(of2):
            got, ok = recode(fn, live, of2)
            return convert(fn, option_of(fn, got), to), ok
        case Product(parts), Product(parts2):
            pairs = [
                (cut_out(fn, live.v, at, p), q)
                for p, at, q in zip(parts, live.packing.offsets, parts2, strict=True)
            ]
            return _wholes(fn, pairs, to, list(to.offsets))
        case Array(of, count), Array(of2):
            pairs = [(cut_out(fn, live.v, live.packing.offset(i), of), of2) for i in range(count)]
            return _wholes(fn, pairs, to, [to.offset(i) for i in range(count)])
        case Tagged(cases), Tagged(cases2):
            return _union(fn, live, cases, to, cases2)
        case Sequence(of, most), Sequence(of2) if of == of2:
            return _same_entries(fn, live, to, most)
        case Slots(of, most), Slots(of2) if of == of2:
            return _same_entries(fn, live, to, most)
        case Sequence(), Sequence(of2, most2):
            return _sequence(fn, live, to, of2, most2)
        case Mask(Number(lo, hi)), Mask(Number(lo2, hi2)):
            return _shifted(fn, live, (lo, hi), to, (lo2, hi2))
        case ((Mask() | Slots()), (Mask() | Slots())):
            return _member_by_member(fn, live, to)
        case _:
            raise TypeError(f"{live.packing} is no {to}")


def known_zero(packing: Packing) -> Live:
    """The value whose code is zero: none, {}, []."""
    match packing:
        case Truth():
            return Live(packing, FALSE)
        case Number(lo):
            return Live(packing, i64(lo))
        case _:
            return Live(packing, const(container(packing.width), 0))


def _same_entries(fn: Function, live: Live, to: Sequence | Slots, most: int) -> tuple[Live, V]:
    """The entries that there is room for, each as it is."""
    count, size = length(fn, live), container(to.width)
    ok = TRUE if most <= to.most else fn.at_most(count, i64(to.most))
    entries = fn.and_(fn.resize(body(fn, live), size), const(size, (1 << to.body) - 1))
    return with_length(fn, to, entries, count), ok


def _option(fn: Function, live: Live, of: Packing, to: Packing, of2: Packing) -> tuple[Live, V]:
    none = fn.eq(live.v, const(live.v.bits, 0))
    got, ok = recode(fn, some(fn, live, of), of2)
    size = container(to.width)
    coded = fn.add(fn.resize(code(fn, got), size), const(size, 1))
    return Live(to, fn.select(none, const(size, 0), coded)), fn.or_(none, ok)


def some(fn: Function, live: Live, of: Packing) -> Live:
    """The value in an option that is not none; of none it is the value whose code is zero."""
    none = fn.eq(live.v, const(live.v.bits, 0))
    inner = fn.sub(live.v, fn.resize(fn.not_(none), live.v.bits))
    return value(fn, of, inner)


def option_of(fn: Function, live: Live) -> Live:
    """An option that has this value."""
    packing = Optional(live.packing)
    size = container(packing.width)
    return Live(packing, fn.add(fn.resize(code(fn, live), size), const(size, 1)))


def _wholes(
    fn: Function, pairs: list[tuple[Live, Packing]], to: Packing, offsets: list[int]
) -> tuple[Live, V]:
    ok, parts = TRUE, []
    for (part, packing), offset in zip(pairs, offsets, strict=True):
        got, fits = recode(fn, part, packing)
        ok = fn.and_(ok, fits)
        parts.append((got, offset))
    return Live(to, assembled(fn, to.width, parts)), ok


def _union(
    fn: Function, live: Live, cases: tuple[Product, ...], to: Tagged, cases2: tuple[Product, ...]
) -> tuple[Live, V]:
    tag = tag_of(fn, live)
    found, ok = known_zero(to).v, FALSE
    for ordinal, (case, case2) in enumerate(zip(cases, cases2, strict=True)):
        got, fits = recode(fn, cut_out(fn, live.v, 0, case), case2)
        mine = fn.eq(tag, i64(ordinal))
        whole = fn.or_(fn.resize(got.v, found.bits), const(found.bits, ordinal << to.payload))
        found, ok = fn.select(mine, whole, found), fn.select(mine, fits, ok)
    return Live(to, found), ok


def tag_of(fn: Function, live: Live) -> V:
    """The number of the case of a union's value."""
    packing = live.packing
    if not isinstance(packing, Tagged):
        raise TypeError(f"{packing} has no cases")
    return fn.resize(fn.lshr(live.v, const(live.v.bits, packing.payload)), 64)


def _sequence(fn: Function, live: Live, to: Sequence, of2: Packing, most2: int) -> tuple[Live, V]:
    packing = live.packing
    if not isinstance(packing, Sequence):
        raise TypeError(f"{packing} is no sequence")
    count = length(fn, live)
    ok = TRUE if packing.most <= most2 else fn.at_most(count, i64(most2))
    size = container(to.width)
    entries = const(size, 0)
    for index in range(min(packing.most, most2)):
        got, fits = recode(fn, entry(fn, live, i64(index)), of2)
        there = fn.less(i64(index), count)
        ok = fn.and_(ok, fn.or_(fits, fn.not_(there)))
        shown = fn.select(there, placed(fn, got, size, index * of2.width), const(size, 0))
        entries = fn.or_(entries, shown)
    return with_length(fn, to, entries, count), ok


def _shifted(
    fn: Function, live: Live, was: tuple[int, int], to: Mask, now: tuple[int, int]
) -> tuple[Live, V]:
    """A mask over numbers, with another number at its lowest bit."""
    by = was[0] - now[0]
    size = container(max(live.packing.width + abs(by), to.width))
    wide = fn.resize(live.v, size)
    moved = fn.shl(wide, const(size, by)) if by >= 0 else fn.lshr(wide, const(size, -by))
    kept = fn.and_(moved, const(size, (1 << to.width) - 1))
    ok = TRUE
    if was[0] < now[0]:
        ok = fn.eq(fn.and_(live.v, const(live.v.bits, (1 << now[0] - was[0]) - 1)), const(live.v.bits, 0))
    if was[1] > now[1]:
        ok = fn.and_(ok, fn.eq(moved, kept))
    return Live(to, fn.resize(kept, container(to.width))), ok


def _member_by_member(fn: Function, live: Live, to: Mask | Slots) -> tuple[Live, V]:
    """A set (or bag) put together again, with its members in their other packing."""
    cells = fn.cell(container(to.width), known_zero(to).v), fn.cell(1, TRUE)
    packing = live.packing
    if not isinstance(packing, Mask | Slots):
        raise TypeError(f"{packing} is no set")
    rounds = packing.width if isinstance(packing, Mask) else packing.most
    with fn.loop(i64(rounds)) as index:
        there, member = candidate(fn, live, index)
        with fn.when(there):
            got, fits = recode(fn, member, to.of)
            room = TRUE
            if isinstance(to, Slots):
                room = fn.less(length(fn, Live(to, fn.load(cells[0]))), i64(to.most))
            fits = fn.and_(fits, room)
            fn.store(cells[1], fn.and_(fn.load(cells[1]), fits))
            with fn.when(fits):
                fn.store(cells[0], inserted(fn, Live(to, fn.load(cells[0])), got).v)
    return Live(to, fn.load(cells[0])), fn.load(cells[1])


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


# ----------------------------------------------------------------- sets and bags


def inserted(fn: Function, live: Live, member: Live) -> Live:
    """A set or bag with one more; there must be room. A set that has it stays as it is."""
    match live.packing:
        case Mask() as packing:
            bit = fn.shl(const(live.v.bits, 1), fn.resize(code(fn, member), live.v.bits))
            return Live(packing, fn.or_(live.v, bit))
        case Slots(of, most, repeated) as packing:
            if most == 0:
                return live
            key = code(fn, member)
            smaller, found = i64(0), FALSE
            for index in range(most):
                there = fn.less(i64(index), length(fn, live))
                slot = code(fn, entry(fn, live, i64(index)))
                smaller = fn.add(smaller, fn.resize(fn.and_(there, fn.below(slot, key)), 64))
                found = fn.or_(found, fn.and_(there, fn.eq(slot, key)))
            size = live.v.bits
            at = fn.resize(fn.mul(smaller, i64(of.width)), size)
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
            key = code(fn, member)
            smaller, found = i64(0), FALSE
            for index in range(most):
                there = fn.less(i64(index), length(fn, live))
                slot = code(fn, entry(fn, live, i64(index)))
                smaller = fn.add(smaller, fn.resize(fn.and_(there, fn.below(slot, key)), 64))
                found = fn.or_(found, fn.and_(there, fn.eq(slot, key)))
            size = live.v.bits
            at = fn.resize(fn.mul(smaller, i64(of.width)), size)
            entries, low = body(fn, live), fn.mask(size, at)
            high = fn.and_(fn.lshr(entries, const(size, of.width)), fn.not_(low))
            count = fn.sub(length(fn, live), fn.resize(found, 64))
            new = with_length(fn, packing, fn.or_(fn.and_(entries, low), high), count)
            return Live(packing, fn.select(found, new.v, live.v))
        case _:
            raise TypeError(f"{live.packing} is no set")


def has(fn: Function, live: Live, member: Live) -> V:
    """Whether a set, bag or sequence has a value, whatever that value's packing."""
    packing = live.packing
    if not isinstance(packing, Mask | Slots | Sequence):
        raise TypeError(f"{packing} has no members")
    if isinstance(packing.of, Never):
        return FALSE
    got, ok = recode(fn, member, packing.of)
    if isinstance(packing, Mask):
        here = fn.select(ok, code(fn, got), i64(0))
        bit = fn.lshr(live.v, fn.resize(here, live.v.bits))
        return fn.and_(ok, fn.resize(bit, 1))
    return fn.ne(count_of(fn, live, got, ok), i64(0))


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
