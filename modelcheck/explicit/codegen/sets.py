"""Sets and bags made of others, in registers."""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.conversion import convert, has, recode
from modelcheck.explicit.codegen.members import candidate, inserted, removed
from modelcheck.explicit.codegen.packing import (
    WIDEST_MASK,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Sequence,
    Slots,
    TooWide,
    join,
    mask_or_slots,
    set_of,
)
from modelcheck.explicit.codegen.values import Live, container, known_zero, some, truth
from modelcheck.explicit.codegen.walks import subsets
from spec.op import Op

LOOPED = 8  # candidates from which on a loop is made


def of_sets(fn: Function, op: Op, a: Live, b: Live) -> Live:
    """What SUBSET, UNION, MINUS and INTERSECT make of two sets or bags."""
    if isinstance(a.packing, Slots) and a.packing.repeated:
        return _of_bags(fn, op, a, b)
    both = _common(a.packing, b.packing)
    if not isinstance(both, Mask):
        return _of_slots(fn, op, a, b)
    x, y = convert(fn, a, both).v, convert(fn, b, both).v
    match op:
        case Op.SUBSET:
            return truth(fn.eq(fn.and_(x, fn.not_(y)), const(x.bits, 0)))
        case Op.UNION:
            return Live(both, fn.or_(x, y))
        case Op.MINUS:
            return Live(both, fn.and_(x, fn.not_(y)))
        case _:
            return Live(both, fn.and_(x, y))


def _common(a: Packing, b: Packing) -> Packing:
    """A mask for both sets, where one will do."""
    match a, b:
        case ((Mask() | Slots()), (Mask() | Slots())):
            of = join(a.of, b.of)
            return Mask(of) if isinstance(join(a, b), Mask) else set_of(of, _most(a) + _most(b))
        case _:
            raise TypeError(f"{a} and {b} are no sets")


def _of_slots(fn: Function, op: Op, a: Live, b: Live) -> Live:
    match op:
        case Op.SUBSET:
            return truth(fn.not_(_any(fn, a, lambda member: fn.not_(has(fn, b, member)))))
        case Op.UNION:
            return _inserted_all(fn, a, b, repeated=False)
        case Op.MINUS:
            return _kept(fn, a, lambda member: fn.not_(has(fn, b, member)))
        case _:
            return _kept(fn, a, lambda member: has(fn, b, member))


def _of_bags(fn: Function, op: Op, a: Live, b: Live) -> Live:
    if op is Op.UNION:
        return _inserted_all(fn, a, b, repeated=True)
    if op is not Op.MINUS:
        raise TypeError(f"{op} of bags")
    packing = a.packing
    if not isinstance(packing, Slots):
        raise TypeError(f"{packing} is no bag")
    cell = fn.cell(a.v.bits, a.v)

    def take(member: Live) -> None:
        if isinstance(packing.of, Never):
            return
        got, ok = recode(fn, member, packing.of)
        with fn.when(ok):
            fn.store(cell, removed(fn, Live(packing, fn.load(cell)), got).v)

    _each(fn, b, take)
    return Live(packing, fn.load(cell))


def _each(fn: Function, whole: Live, visit: Callable[[Live], None]) -> None:
    """Visit every member, a bag's as often as it is in it."""
    packing = whole.packing
    if not isinstance(packing, Mask | Slots | Sequence) or isinstance(packing.of, Never):
        return
    count = packing.width if isinstance(packing, Mask) else packing.most

    def one(index: V) -> None:
        there, member = candidate(fn, whole, index)
        with fn.when(there):
            visit(member)

    if count <= LOOPED:
        for place in range(count):
            one(i64(place))
    else:
        with fn.loop(i64(count)) as index:
            one(index)


def _any(fn: Function, whole: Live, test: Callable[[Live], V]) -> V:
    found = fn.cell(1, FALSE)
    _each(fn, whole, lambda member: fn.store(found, fn.or_(fn.load(found), test(member))))
    return fn.load(found)


def _kept(fn: Function, whole: Live, test: Callable[[Live], V]) -> Live:
    cell = fn.cell(whole.v.bits, known_zero(whole.packing).v)

    def keep(member: Live) -> None:
        with fn.when(test(member)):
            fn.store(cell, inserted(fn, Live(whole.packing, fn.load(cell)), member).v)

    _each(fn, whole, keep)
    return Live(whole.packing, fn.load(cell))


def _inserted_all(fn: Function, a: Live, b: Live, *, repeated: bool) -> Live:
    if not isinstance(a.packing, Mask | Slots) or not isinstance(b.packing, Mask | Slots):
        raise TypeError(f"{a.packing} and {b.packing} are no sets")
    of, most = join(a.packing.of, b.packing.of), _most(a.packing) + _most(b.packing)
    made = Slots(of, most, repeated=True) if repeated else set_of(of, most)
    cell = fn.cell(container(made.width), convert(fn, a, made).v)

    def insert(member: Live) -> None:
        fn.store(cell, inserted(fn, Live(made, fn.load(cell)), convert(fn, member, of)).v)

    _each(fn, b, insert)
    return Live(made, fn.load(cell))


def elements(fn: Function, a: Live) -> Live:
    """The set of what an option, sequence or bag has in it."""
    match a.packing:
        case Optional(of):
            made, there = set_of(of, 1), fn.ne(a.v, const(a.v.bits, 0))
            if isinstance(of, Never):
                return known_zero(made)
            one = inserted(fn, known_zero(made), some(fn, a, of))
            return Live(made, fn.select(there, one.v, known_zero(made).v))
        case Sequence(of, most) | Slots(of, most, True):
            made = set_of(of, most)
            cell = fn.cell(container(made.width), known_zero(made).v)

            def insert(member: Live) -> None:
                fn.store(cell, inserted(fn, Live(made, fn.load(cell)), member).v)

            _each(fn, a, insert)
            return Live(made, fn.load(cell))
        case _:
            return a


def subsets_of(fn: Function, a: Live) -> Live:
    """The set of all subsets."""
    walk = subsets(fn, a)
    made = mask_or_slots(walk.packing, walk.count)
    cell = fn.cell(container(made.width), known_zero(made).v)
    with fn.loop(walk.limit) as index:
        there, member = walk.candidate(index)
        with fn.when(there):
            fn.store(cell, inserted(fn, Live(made, fn.load(cell)), member).v)
    return Live(made, fn.load(cell))


def numbers_between(fn: Function, a: Live, b: Live) -> Live:
    """The set of the whole numbers from one to another."""
    first, last = a.packing, b.packing
    if not isinstance(first, Number) or not isinstance(last, Number):
        raise TypeError("a range is of numbers")
    lo, hi = first.lo, last.hi
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


def _most(of: Packing) -> int:
    """How many members a set of that packing can have."""
    match of:
        case Mask():
            return of.width
        case Slots(_, most):
            return most
        case _:
            raise TypeError(f"{of} is no set")
