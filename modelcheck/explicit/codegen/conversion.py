"""How a value in registers becomes the same value in another packing, and whether that has room for it."""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.members import (
    bit_at,
    body,
    candidate,
    count_of,
    entry,
    inserted,
    length,
    place,
    with_length,
)
from modelcheck.explicit.codegen.packing import (
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
    join,
)
from modelcheck.explicit.codegen.values import (
    Live,
    assembled,
    code,
    container,
    cut_out,
    known_zero,
    option_of,
    placed,
    some,
    tag_of,
)


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
        case Never(), _:
            return known_zero(to), TRUE
        case Optional(Never()), _:  # it is none
            return known_zero(to), TRUE if isinstance(to, Optional) else FALSE
        case _, Never():
            return known_zero(to), FALSE
        case ((Mask(Never()) | Slots(Never()) | Sequence(Never())), (Mask() | Slots() | Sequence())):
            return known_zero(to), TRUE  # there is nothing in it
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


def has(fn: Function, live: Live, member: Live) -> V:
    """Whether a set, bag or sequence has a value, whatever that value's packing."""
    packing = live.packing
    if not isinstance(packing, Mask | Slots | Sequence):
        raise TypeError(f"{packing} has no members")
    if isinstance(packing.of, Never):
        return FALSE
    got, ok = recode(fn, member, packing.of)
    if isinstance(packing, Mask):
        here = fn.select(ok, place(fn, got), i64(0))
        return fn.and_(ok, bit_at(fn, live.v, here))
    return fn.ne(count_of(fn, live, got, ok), i64(0))
