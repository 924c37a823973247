"""Sets and bags made of others, in registers."""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.explicit.codegen.arithmetic import FALSE, V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.conversion import CollectionCell, convert, has, recode
from modelcheck.explicit.codegen.values.members import candidate, inserted, removed
from modelcheck.explicit.codegen.values.packing import (
    WIDEST_MASK,
    Entries,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Slots,
    TooWide,
    join,
    mask_or_slots,
    set_of,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    collection,
    container,
    known_zero,
    packed_as,
    some,
    truth,
)
from modelcheck.explicit.codegen.values.walks import subsets
from spec.model.op import Op

LOOPED = 8  # candidates from which on a loop is made


def of_sets(fn: Function, op: Op, a: Live, b: Live) -> Live:
    """Emit SUBSET, UNION, MINUS or INTERSECT of two sets, or UNION or MINUS of two bags."""
    if isinstance(a.packing, Slots) and a.packing.repeated:
        return _united(fn, a, b) if op is Op.UNION else _bag_without(fn, a, b)
    both = _common(a, b)
    if not isinstance(both, Mask):
        return _of_slots(fn, op, a, b)
    x, y = convert(fn, a, both).v, convert(fn, b, both).v
    match op:
        case Op.SUBSET:
            return truth(fn.is_zero(fn.and_(x, fn.not_(y))))
        case Op.UNION:
            return Live(both, fn.or_(x, y))
        case Op.MINUS:
            return Live(both, fn.and_(x, fn.not_(y)))
        case _:
            return Live(both, fn.and_(x, y))


def _common(a: Live, b: Live) -> Packing:
    """The packing to which both sets are converted before an operation: a mask if one is wide enough."""
    one, other = collection(a), collection(b)
    of = join(one.of, other.of)
    return Mask(of) if isinstance(join(one, other), Mask) else set_of(of, one.most + other.most)


def _of_slots(fn: Function, op: Op, a: Live, b: Live) -> Live:
    """Emit the operation on two sets of which one is in slots, member by member."""
    if op is Op.UNION:
        return _united(fn, a, b)
    if op is Op.SUBSET:
        missed = fn.cell(1, FALSE)
        _each(fn, a, lambda member: fn.store(missed, fn.or_(fn.load(missed), fn.not_(has(fn, b, member)))))
        return truth(fn.not_(fn.load(missed)))
    kept = CollectionCell(fn, a.packing if isinstance(a.packing, Mask) else packed_as(a, Slots))

    def keep(member: Live) -> None:
        inside = has(fn, b, member)
        with fn.when(inside if op is Op.INTERSECT else fn.not_(inside)):
            kept.add(member)

    _each(fn, a, keep)
    return kept.value


def _united(fn: Function, a: Live, b: Live) -> Live:
    """Emit the union of two sets or bags."""
    one, other = collection(a), collection(b)
    of, most = join(one.of, other.of), one.most + other.most
    repeated = isinstance(one, Slots) and one.repeated
    made = Slots(of, most, repeated=True) if repeated else set_of(of, most)
    both = CollectionCell(fn, made, convert(fn, a, made).v)
    _each(fn, b, both.add)
    return both.value


def _bag_without(fn: Function, a: Live, b: Live) -> Live:
    """Emit the bag `a` without the members of the bag `b`, each as often as `b` has it."""
    packing = packed_as(a, Slots)
    left = CollectionCell(fn, packing, a.v)

    def take(member: Live) -> None:
        if isinstance(packing.of, Never):
            return
        got, ok = recode(fn, member, packing.of)
        with fn.when(ok):
            left.become(removed(fn, left.value, got))

    _each(fn, b, take)
    return left.value


def _each(fn: Function, whole: Live, visit: Callable[[Live], None]) -> None:
    """Emit `visit` for every member of a set or bag; for a bag, as often as it has the member."""
    packing = collection(whole)
    if isinstance(packing.of, Never):
        return

    def one(index: V) -> None:
        there, member = candidate(fn, whole, index)
        with fn.when(there):
            visit(member)

    fn.rounds(packing.most, one, written_out=packing.most <= LOOPED)


def elements(fn: Function, a: Live) -> Live:
    """Emit the set of the elements of an option, sequence or bag."""
    if not isinstance(a.packing, Optional):
        whole = packed_as(a, Entries)
        found = CollectionCell(fn, set_of(whole.of, whole.most))
        _each(fn, a, found.add)
        return found.value
    of = a.packing.of
    made, there = set_of(of, 1), fn.is_set(a.v)
    if isinstance(of, Never):
        return known_zero(made)
    one = inserted(fn, known_zero(made), some(fn, a, of))
    return Live(made, fn.select(there, one.v, known_zero(made).v))


def subsets_of(fn: Function, a: Live) -> Live:
    """Emit the set of all subsets of a set."""
    walk = subsets(fn, a)
    found = CollectionCell(fn, mask_or_slots(walk.packing, walk.count))
    with fn.loop(walk.limit) as index:
        there, member = walk.candidate(index)
        with fn.when(there):
            found.add(member)
    return found.value


def numbers_between(fn: Function, a: Live, b: Live) -> Live:
    """Emit the set of the numbers from `a` to `b`, both included; empty if a > b. Raises TooWide."""
    lo, hi = packed_as(a, Number).lo, packed_as(b, Number).hi
    if lo > hi:
        return known_zero(set_of(Never(), 0))
    of = Number(lo, hi)
    if of.codes > WIDEST_MASK:
        raise TooWide(f"a set of up to {of.codes} numbers")
    made = Mask(of)
    bits, top = container(made.width + 1), i64(made.width)
    start = fn.lesser(fn.sub(a.v, i64(lo)), top)
    end = fn.sub(fn.add(b.v, i64(1)), i64(lo))
    end = fn.select(fn.less(end, i64(0)), i64(0), end)
    below, up_to = fn.mask(bits, fn.resize(start, bits)), fn.mask(bits, fn.resize(end, bits))
    return Live(made, fn.resize(fn.and_(up_to, fn.not_(below)), container(made.width)))
