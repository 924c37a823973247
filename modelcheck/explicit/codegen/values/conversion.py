"""How a value in registers becomes the same value in another packing, and whether that has room for it."""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.members import (
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
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Entries,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    join,
    parts_of,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    assembled,
    collection,
    container,
    cut_out,
    known_zero,
    option_of,
    packed_as,
    placed,
    some,
    split,
    tag_of,
    tagged,
)


def same(fn: Function, a: Live, b: Live) -> V:
    """Emit the equality of two values of one type, whose packings may differ."""
    both = join(a.packing, b.packing)
    if isinstance(both, Never):
        return TRUE
    return fn.eq(recode(fn, a, both)[0].v, recode(fn, b, both)[0].v)


def convert(fn: Function, live: Live, to: Packing) -> Live:
    """Emit the same value in a packing that has room for it."""
    return recode(fn, live, to)[0]


def recode(fn: Function, live: Live, to: Packing) -> tuple[Live, V]:  # noqa: C901 - a dispatch over pairs
    """Emit the same value in another packing, and whether that has room for it; if not, it is garbage."""
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
        case Optional(of), Optional():
            none = fn.is_zero(live.v)
            got, ok = recode(fn, some(fn, live, of), to.of)
            return Live(to, fn.select(none, known_zero(to).v, option_of(fn, got).v)), fn.or_(none, ok)
        case Optional(of), _:  # there is room for it unless it is none
            got, ok = recode(fn, some(fn, live, of), to)
            return got, fn.and_(ok, fn.is_set(live.v))
        case _, Optional(of2):
            got, ok = recode(fn, live, of2)
            return option_of(fn, got), ok
        case ((Product() | Array()), (Product() | Array())):
            return _by_parts(fn, live, to)
        case TaggedUnion(cases), TaggedUnion():
            return _union(fn, live, cases, to)
        case Sequence(of), Sequence(of2) if of == of2:
            return _same_entries(fn, live, to)
        case Slots(of), Slots(of2) if of == of2:
            return _same_entries(fn, live, to)
        case Sequence(), Sequence():
            return _sequence(fn, live, to)
        case Mask(Number(lo, hi)), Mask(Number(lo2, hi2)):
            return _shifted(fn, live, (lo, hi), to, (lo2, hi2))
        case ((Mask() | Slots()), (Mask() | Slots())):
            return _member_by_member(fn, live, to)
        case _:
            raise TypeError(f"{live.packing} is no {to}")


def _same_entries(fn: Function, live: Live, to: Sequence | Slots) -> tuple[Live, V]:
    """Convert a sequence or slots to another capacity; the packing of the entries is the same."""
    count, size = length(fn, live), container(to.width)
    ok = TRUE if packed_as(live, Entries).most <= to.most else fn.at_most(count, i64(to.most))
    entries = fn.and_(fn.resize(body(fn, live), size), const(size, (1 << to.body) - 1))
    return with_length(fn, to, entries, count), ok


def _by_parts(fn: Function, live: Live, to: Product | Array) -> tuple[Live, V]:
    """Convert a record, tuple or map part by part."""
    ok, parts = TRUE, []
    for part, (packing, offset) in zip([*split(fn, live)], parts_of(to), strict=True):
        got, fits = recode(fn, part, packing)
        ok = fn.and_(ok, fits)
        parts.append((got, offset))
    return Live(to, assembled(fn, to.width, parts)), ok


def _union(fn: Function, live: Live, cases: tuple[Product, ...], to: TaggedUnion) -> tuple[Live, V]:
    """Convert a union's value, in whichever case it is."""
    tag = tag_of(fn, live)
    found, ok = known_zero(to).v, FALSE
    for ordinal, (case, case2) in enumerate(zip(cases, to.cases, strict=True)):
        got, fits = recode(fn, cut_out(fn, live.v, 0, case), case2)
        mine = fn.eq(tag, i64(ordinal))
        whole = tagged(fn, to, ordinal, got.v)
        found, ok = fn.select(mine, whole, found), fn.select(mine, fits, ok)
    return Live(to, found), ok


def _sequence(fn: Function, live: Live, to: Sequence) -> tuple[Live, V]:
    """Convert a sequence entry by entry."""
    count, most, size = length(fn, live), packed_as(live, Sequence).most, container(to.width)
    ok = TRUE if most <= to.most else fn.at_most(count, i64(to.most))
    entries = const(size, 0)
    for index in range(min(most, to.most)):
        got, fits = recode(fn, entry(fn, live, i64(index)), to.of)
        there = fn.less(i64(index), count)
        ok = fn.and_(ok, fn.or_(fits, fn.not_(there)))
        shown = fn.select(there, placed(fn, got, size, index * to.of.width), const(size, 0))
        entries = fn.or_(entries, shown)
    return with_length(fn, to, entries, count), ok


class CollectionCell:
    """A local variable of the LLVM function that holds a set or bag while members are added."""

    def __init__(self, fn: Function, packing: Mask | Slots, first: V | None = None) -> None:
        self._fn = fn
        self._packing = packing
        self._cell = fn.cell(container(packing.width), first or known_zero(packing).v)

    @property
    def value(self) -> Live:
        """Emit reading the current set or bag."""
        return Live(self._packing, self._fn.load(self._cell))

    def add(self, member: Live) -> None:
        """Emit adding a member; there must be room."""
        self.become(inserted(self._fn, self.value, convert(self._fn, member, self._packing.of)))

    def become(self, other: Live) -> None:
        """Emit replacing the set or bag by another."""
        self._fn.store(self._cell, other.v)


def _shifted(
    fn: Function, live: Live, was: tuple[int, int], to: Mask, now: tuple[int, int]
) -> tuple[Live, V]:
    """Convert a mask over the numbers `was` (lo, hi) to one over the numbers `now`."""
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
    """Convert a set or bag by adding each member, converted, to an empty one."""
    found, ok = CollectionCell(fn, to), fn.cell(1, TRUE)
    with fn.loop(i64(collection(live).most)) as index:
        there, member = candidate(fn, live, index)
        with fn.when(there):
            got, fits = recode(fn, member, to.of)
            room = TRUE if isinstance(to, Mask) else fn.less(length(fn, found.value), i64(to.most))
            fits = fn.and_(fits, room)
            fn.store(ok, fn.and_(fn.load(ok), fits))
            with fn.when(fits):
                found.add(got)
    return found.value, fn.load(ok)


def has(fn: Function, live: Live, member: Live) -> V:
    """Emit whether a set, bag or sequence has a value, whatever that value's packing."""
    packing = collection(live)
    if isinstance(packing.of, Never):
        return FALSE
    got, ok = recode(fn, member, packing.of)
    if isinstance(packing, Mask):
        here = fn.select(ok, place(fn, got), i64(0))
        return fn.and_(ok, bit_at(fn, live.v, here))
    return fn.is_set(count_of(fn, live, got, ok))
