"""The candidates for a bound name: a fixed number of them, each there or not, in canonical order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.codes import code_at, is_monotone, place_of
from modelcheck.explicit.codegen.values.members import candidate, entry, length, with_length
from modelcheck.explicit.codegen.values.ordering import canonical_order, is_first, ranks
from modelcheck.explicit.codegen.values.packing import (
    WIDEST_MASK,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Sequence,
    Slots,
    TaggedUnion,
    TooWide,
    places,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    code,
    container,
    known_zero,
    packed_as,
    some,
    tag_of,
    value,
)
from spec.frozen import frozen

LARGEST = 12  # codes of a set whose subsets are enumerated, at most


@frozen
class Walk:
    """Candidates 0 … `count` - 1 of an iteration, in canonical order; from `limit` on none is present.

    `candidate(index)` emits the test whether one is present, and its value.
    """

    packing: Packing
    count: int
    limit: V
    candidate: Callable[[V], tuple[V, Live]]


def all_of(fn: Function, of: Packing) -> Walk:
    """The walk over all values of a scalar packing."""
    return Walk(of, of.codes, i64(of.codes), lambda index: (TRUE, value(fn, of, index)))


def _empty() -> Walk:
    """The walk without candidates."""
    return Walk(Never(), 0, i64(0), lambda _: (FALSE, known_zero(Never())))


def from_to(fn: Function, lo: Live, hi: Live) -> Walk:
    """The walk over the whole numbers from `lo` to `hi`, both included."""
    first, last = lo.packing, hi.packing
    if isinstance(first, Never) or isinstance(last, Never):  # an end that no run gets to
        return _empty()
    if not isinstance(first, Number) or not isinstance(last, Number):
        raise TypeError(f"{first} and {last} are no numbers")
    count = max(last.hi - first.lo + 1, 0)

    def one(index: V) -> tuple[V, Live]:
        now = fn.add(index, i64(first.lo))
        there = TRUE if first.lo == first.hi else fn.at_most(lo.v, now)
        there = fn.and_(there, fn.at_most(now, hi.v))
        return there, Live(Number(first.lo, max(last.hi, first.lo)), now)

    return Walk(Number(first.lo, max(last.hi, first.lo)), count, i64(count), one)


def subsets(fn: Function, whole: Live) -> Walk:
    """The walk over the subsets of a set. Raises TooWide if there may be too many."""
    match whole.packing:
        case Mask(of) if places(of) <= WIDEST_MASK and len(codes := canonical_order(of)) <= LARGEST:
            size = container(whole.packing.width)
        case Slots(of, most, False) if most <= LARGEST and is_monotone(of):
            return _subsets_of_slots(fn, whole, of, most)
        case _:
            raise TooWide(f"the subsets of a set of {whole.packing.width} bits for the members")
    bits = [1 << place_of(of, code) for code in codes]
    chosen = sorted(each for n in range(len(bits) + 1) for each in combinations(range(len(bits)), n))
    table = fn.table([sum(bits[index] for index in each) for each in chosen])

    def one(index: V) -> tuple[V, Live]:
        mask = fn.resize(fn.look_up(table, index), size)
        extra = fn.and_(mask, fn.not_(fn.resize(whole.v, size)))
        return fn.eq(extra, const(size, 0)), Live(whole.packing, mask)

    return Walk(whole.packing, len(chosen), i64(len(chosen)), one)


def _subsets_of_slots(fn: Function, whole: Live, of: Packing, most: int) -> Walk:
    """The walk over the subsets of a set in slots: the chosen slots are moved together."""
    chosen = sorted(each for n in range(most + 1) for each in combinations(range(most), n))
    table = fn.table([sum(1 << place for place in each) for each in chosen])
    count, size = length(fn, whole), whole.v.bits

    def one(index: V) -> tuple[V, Live]:
        mask = fn.resize(fn.look_up(table, index), 64)
        found, taken = const(size, 0), i64(0)
        for place in range(most):
            bit = fn.resize(fn.lshr(mask, i64(place)), 1)
            slot = code(fn, entry(fn, whole, i64(place)))
            moved = fn.shl(fn.resize(slot, size), fn.resize(fn.mul(taken, i64(of.width)), size))
            found = fn.or_(found, fn.select(bit, moved, const(size, 0)))
            taken = fn.add(taken, fn.resize(bit, 64))
        there = fn.is_zero(fn.lshr(mask, count))
        return there, with_length(fn, Slots(of, most), found, taken)

    return Walk(whole.packing, len(chosen), i64(len(chosen)), one)


def walk_of(fn: Function, whole: Live, *, in_order: bool) -> Walk:
    """The walk over the members of a set, bag or option, or the entries of a sequence."""
    match whole.packing:
        case Never() | Mask(Never()) | Slots(Never()) | Sequence(Never()) | Optional(Never()):
            return _empty()
        case Optional(of):
            there = fn.is_set(whole.v)
            return Walk(of, 1, i64(1), lambda _: (there, some(fn, whole, of)))
        case Mask(of) if in_order and not is_monotone(of):
            return _by_table(fn, whole, of)
        case Mask(of):
            return Walk(of, places(of), i64(places(of)), lambda index: candidate(fn, whole, index))
        case Sequence(of, most):
            return Walk(of, most, length(fn, whole), lambda index: candidate(fn, whole, index))
        case Slots(of) if in_order and not is_monotone(of):
            return _by_rank(fn, whole, of)
        case Slots(of, most):

            def one(index: V) -> tuple[V, Live]:
                there, member = candidate(fn, whole, index)
                return is_first(fn, whole, index, there, member), member

            return Walk(of, most, length(fn, whole), one)
        case _:
            raise TypeError(f"{whole.packing} has no members")


def of_case(fn: Function, walk: Walk, case: int) -> Walk:
    """The walk over those candidates of `walk` that are of one case of a union."""
    if isinstance(walk.packing, Never):
        return walk

    def one(index: V) -> tuple[V, Live]:
        there, member = walk.candidate(index)
        return fn.and_(there, fn.eq(tag_of(fn, member), i64(case))), member

    return Walk(walk.packing, walk.count, walk.limit, one)


def of_case_in_mask(fn: Function, whole: Live, of: TaggedUnion, case: int, *, in_order: bool) -> Walk:
    """The walk over the members of a mask that are of one case of a union, whose bits are adjacent."""
    needs_order = in_order and not is_monotone(of)
    codes = canonical_order(of) if needs_order else [code_at(of, place) for place in range(places(of))]
    table = fn.table([place_of(of, code) for code in codes if code >> of.payload == case])
    count = len(table.numbers)
    return Walk(of, count, i64(count), lambda index: candidate(fn, whole, fn.look_up(table, index)))


def _by_table(fn: Function, whole: Live, of: Packing) -> Walk:
    """The walk in canonical order over a mask whose codes sort differently, by a table of its bits."""
    order = [place_of(of, code) for code in canonical_order(of)]
    table = fn.table(order)
    return Walk(of, len(order), i64(len(order)), lambda index: candidate(fn, whole, fn.look_up(table, index)))


def _by_rank(fn: Function, whole: Live, of: Packing) -> Walk:
    """The walk in canonical order over slots whose codes sort differently, by computed ranks."""
    count, ranked = packed_as(whole, Slots).most, ranks(fn, whole)

    def one(index: V) -> tuple[V, Live]:
        there, found = FALSE, known_zero(of).v
        for rank, (is_there, member) in ranked:
            mine = fn.and_(is_there, fn.eq(rank, index))
            there = fn.or_(there, mine)
            found = fn.select(mine, member.v, found)
        return there, Live(of, found)

    return Walk(of, count, i64(count), one)
