"""The strict operations of the language on values in registers."""

from __future__ import annotations

from collections.abc import Callable

import spec.ir as ir
from modelcheck.explicit.arithmetic import FALSE, Block, V, const, i64
from modelcheck.explicit.assembly import Function
from modelcheck.explicit.conversion import convert, has, recode, same
from modelcheck.explicit.members import (
    body,
    candidate,
    count_of,
    entry,
    inserted,
    length,
    removed,
    size,
    with_length,
)
from modelcheck.explicit.packing import (
    MOST,
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
from modelcheck.explicit.values import (
    Live,
    code,
    container,
    known_zero,
    number,
    option_of,
    some,
    truth,
    value,
)
from modelcheck.explicit.walks import subsets
from spec.ir import Op

LOOPED = 8  # of so many candidates a loop is made


class Operations:
    """Writes operations; what has no value for its arguments leaves for `error`."""

    def __init__(self, fn: Function, error: Block) -> None:
        self.fn = fn
        self.error = error

    def value(self, expr: ir.Apply, args: list[Live]) -> Live:  # noqa: C901 - a dispatch over an enum
        """The value of an operation for these arguments."""
        fn = self.fn
        match expr.op, args:
            case Op.NOT, [a]:
                return truth(fn.not_(a.v))
            case Op.EQ, [a, b]:
                return truth(same(fn, a, b))
            case Op.NE, [a, b]:
                return truth(fn.not_(same(fn, a, b)))
            case ((Op.ADD | Op.SUB | Op.MUL | Op.DIV | Op.MOD | Op.NEG), _):
                return self._arithmetic(expr.op, args)
            case ((Op.LT | Op.LE), [a, b]):
                return truth(self._is_before(a, b, or_same=expr.op is Op.LE))
            case ((Op.MIN2 | Op.MAX2), [a, b]):
                return self._better(a, b, least=expr.op is Op.MIN2)
            case Op.IN, [a, b]:
                return truth(self._is_in(a, b))
            case Op.SIZE, [a]:
                return size(fn, a)
            case Op.COUNT, [a, bag]:
                return self._count(a, bag)
            case ((Op.SUBSET | Op.UNION | Op.MINUS | Op.INTERSECT), [a, b]):
                return self._of_sets(expr.op, a, b)
            case ((Op.CONCAT | Op.COMMON | Op.STARTS), [a, b]):
                return self._of_sequences(expr.op, a, b)
            case ((Op.TAKE | Op.DROP), [a, n]):
                return self._cut(a, n, keep_start=expr.op is Op.TAKE)
            case Op.INDEX, [a, n]:
                return self._entry(a, n.v)
            case Op.LAST, [a]:
                return self._entry(a, fn.sub(length(fn, a), i64(1)))
            case Op.AT, [a, n]:
                return self._at(a, n)
            case Op.ELEMENTS, [a]:
                return self._elements(a)
            case Op.THE, [a]:
                return self._the(a)
            case ((Op.LEAST | Op.GREATEST), [a]):
                return self._extreme(a, least=expr.op is Op.LEAST)
            case Op.SUBSETS, [a]:
                return self._subsets(a)
            case Op.RANGE, [a, b]:
                return self._range(a, b)
            case _:
                raise TypeError(f"{expr.op} of {len(args)} arguments")

    # ------------------------------------------------------------------ numbers

    def _arithmetic(self, op: Op, args: list[Live]) -> Live:
        fn = self.fn
        if any(isinstance(arg.packing, Never) for arg in args):
            return known_zero(Number(0, 0))
        ends = [(p.lo, p.hi) for arg in args if isinstance(p := arg.packing, Number)]
        match op, args, ends:
            case Op.ADD, [a, b], [(lo, hi), (lo2, hi2)]:
                return self._number(fn.add(a.v, b.v), lo + lo2, hi + hi2)
            case Op.SUB, [a, b], [(lo, hi), (lo2, hi2)]:
                return self._number(fn.sub(a.v, b.v), lo - hi2, hi - lo2)
            case Op.NEG, [a], [(lo, hi)]:
                return self._number(fn.sub(i64(0), a.v), -hi, -lo)
            case Op.MUL, [a, b], [(lo, hi), (lo2, hi2)]:
                corners = [x * y for x in (lo, hi) for y in (lo2, hi2)]
                return self._number(fn.mul(a.v, b.v), min(corners), max(corners))
            case Op.DIV | Op.MOD, [a, b], [(lo, hi), (lo2, hi2)]:
                return self._divided(op, a, b, (lo, hi), (lo2, hi2))
            case _:
                raise TypeError(f"{op} of {args}")

    def _number(self, v: V, lo: int, hi: int) -> Live:
        if max(abs(lo), abs(hi)) >= MOST:
            raise TooWide("a number that may be beyond 62 bits")
        return number(v, lo, hi)

    def _divided(self, op: Op, a: Live, b: Live, of: tuple[int, int], by: tuple[int, int]) -> Live:
        """Rounds towards minus infinity; the rest has the sign of the divisor."""
        fn = self.fn
        if by[0] <= 0 <= by[1]:
            fn.leave_if(fn.eq(b.v, i64(0)), self.error)
        most = max(abs(of[0]), abs(of[1]))
        if a.v.const is not None and b.v.const:
            exact = a.v.signed // b.v.signed if op is Op.DIV else a.v.signed % b.v.signed
            return self._number(i64(exact), exact, exact)
        quotient, rest = fn.sdiv(a.v, b.v), fn.srem(a.v, b.v)
        differs = fn.and_(fn.ne(rest, i64(0)), fn.less(fn.xor(rest, b.v), i64(0)))
        if op is Op.DIV:
            down = fn.sub(quotient, fn.resize(differs, 64))
            return self._number(down, -most - 1 if of[0] < 0 or by[0] < 0 else 0, most)
        found = fn.add(rest, fn.select(differs, b.v, i64(0)))
        return self._number(found, min(0, by[0] + 1), max(0, by[1] - 1))

    def _is_before(self, a: Live, b: Live, *, or_same: bool) -> V:
        fn = self.fn
        both = join(a.packing, b.packing)
        x, y = convert(fn, a, both), convert(fn, b, both)
        if isinstance(both, Number):
            return fn.at_most(x.v, y.v) if or_same else fn.less(x.v, y.v)
        return fn.up_to(code(fn, x), code(fn, y)) if or_same else fn.below(code(fn, x), code(fn, y))

    def _better(self, a: Live, b: Live, *, least: bool) -> Live:
        fn = self.fn
        both = join(a.packing, b.packing)
        x, y = convert(fn, a, both), convert(fn, b, both)
        first = self._is_before(x, y, or_same=True) if least else self._is_before(y, x, or_same=True)
        if isinstance(a.packing, Number) and isinstance(b.packing, Number):
            pick = min if least else max
            lo, hi = pick(a.packing.lo, b.packing.lo), pick(a.packing.hi, b.packing.hi)
            return number(fn.select(first, x.v, y.v), lo, hi)
        return Live(both, fn.select(first, x.v, y.v))

    # ---------------------------------------------------------------- membership

    def _is_in(self, a: Live, b: Live) -> V:
        fn = self.fn
        match b.packing:
            case Optional(Never()):
                return FALSE
            case Optional(of):
                got, ok = recode(fn, a, of)
                wanted = option_of(fn, got)
                return fn.and_(ok, fn.eq(fn.resize(wanted.v, b.v.bits), b.v))
            case _:
                return has(fn, b, a)

    def _count(self, a: Live, bag: Live) -> Live:
        fn, packing = self.fn, bag.packing
        if not isinstance(packing, Slots):
            raise TypeError(f"{packing} is no bag")
        if isinstance(packing.of, Never):
            return number(i64(0), 0, 0)
        got, ok = recode(fn, a, packing.of)
        return number(count_of(fn, bag, got, ok), 0, packing.most)

    # --------------------------------------------------------------------- sets

    def _of_sets(self, op: Op, a: Live, b: Live) -> Live:
        fn = self.fn
        if isinstance(a.packing, Slots) and a.packing.repeated:
            return self._of_bags(op, a, b)
        both = self._common(a.packing, b.packing)
        if not isinstance(both, Mask):
            return self._of_slots(op, a, b)
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

    def _common(self, a: Packing, b: Packing) -> Packing:
        """A mask for both sets, where one will do."""
        match a, b:
            case ((Mask() | Slots()), (Mask() | Slots())):
                of = join(a.of, b.of)
                return Mask(of) if isinstance(join(a, b), Mask) else set_of(of, _most(a) + _most(b))
            case _:
                raise TypeError(f"{a} and {b} are no sets")

    def _of_slots(self, op: Op, a: Live, b: Live) -> Live:
        fn = self.fn
        match op:
            case Op.SUBSET:
                return truth(fn.not_(self._any(a, lambda member: fn.not_(has(fn, b, member)))))
            case Op.UNION:
                return self._inserted_all(a, b, repeated=False)
            case Op.MINUS:
                return self._kept(a, lambda member: fn.not_(has(fn, b, member)))
            case _:
                return self._kept(a, lambda member: has(fn, b, member))

    def _of_bags(self, op: Op, a: Live, b: Live) -> Live:
        if op is Op.UNION:
            return self._inserted_all(a, b, repeated=True)
        if op is not Op.MINUS:
            raise TypeError(f"{op} of bags")
        fn, packing = self.fn, a.packing
        if not isinstance(packing, Slots):
            raise TypeError(f"{packing} is no bag")
        cell = fn.cell(a.v.bits, a.v)

        def take(member: Live) -> None:
            if isinstance(packing.of, Never):
                return
            got, ok = recode(fn, member, packing.of)
            with fn.when(ok):
                fn.store(cell, removed(fn, Live(packing, fn.load(cell)), got).v)

        self._each(b, take)
        return Live(packing, fn.load(cell))

    def _each(self, whole: Live, visit: Callable[[Live], None]) -> None:
        """Visit every member, a bag's as often as it is in it."""
        fn, packing = self.fn, whole.packing
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

    def _any(self, whole: Live, test: Callable[[Live], V]) -> V:
        fn = self.fn
        found = fn.cell(1, FALSE)
        self._each(whole, lambda member: fn.store(found, fn.or_(fn.load(found), test(member))))
        return fn.load(found)

    def _kept(self, whole: Live, test: Callable[[Live], V]) -> Live:
        fn = self.fn
        cell = fn.cell(whole.v.bits, known_zero(whole.packing).v)

        def keep(member: Live) -> None:
            with fn.when(test(member)):
                fn.store(cell, inserted(fn, Live(whole.packing, fn.load(cell)), member).v)

        self._each(whole, keep)
        return Live(whole.packing, fn.load(cell))

    def _inserted_all(self, a: Live, b: Live, *, repeated: bool) -> Live:
        fn = self.fn
        if not isinstance(a.packing, Mask | Slots) or not isinstance(b.packing, Mask | Slots):
            raise TypeError(f"{a.packing} and {b.packing} are no sets")
        of, most = join(a.packing.of, b.packing.of), _most(a.packing) + _most(b.packing)
        made = Slots(of, most, repeated=True) if repeated else set_of(of, most)
        cell = fn.cell(container(made.width), convert(fn, a, made).v)

        def insert(member: Live) -> None:
            fn.store(cell, inserted(fn, Live(made, fn.load(cell)), convert(fn, member, of)).v)

        self._each(b, insert)
        return Live(made, fn.load(cell))

    def _elements(self, a: Live) -> Live:
        fn = self.fn
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

                self._each(a, insert)
                return Live(made, fn.load(cell))
            case _:
                return a

    def _the(self, a: Live) -> Live:
        fn = self.fn
        match a.packing:
            case Optional(of):
                fn.leave_if(fn.eq(a.v, const(a.v.bits, 0)), self.error)
                return value(fn, of, fn.sub(a.v, const(a.v.bits, 1)))
            case Mask(of):
                fn.leave_if(fn.ne(fn.popcount(a.v), i64(1)), self.error)
                return value(fn, of, fn.lowest(a.v))
            case Slots(of, most):
                fn.leave_if(fn.ne(length(fn, a), i64(1)), self.error)
                return entry(fn, a, i64(0)) if most else known_zero(of)
            case _:
                raise TypeError(f"{a.packing} has no one member")

    def _extreme(self, a: Live, *, least: bool) -> Live:
        """The members are of an ordered type, so their codes are in order."""
        fn = self.fn
        match a.packing:
            case Mask(of):
                fn.leave_if(fn.eq(a.v, const(a.v.bits, 0)), self.error)
                return value(fn, of, fn.lowest(a.v) if least else fn.highest(a.v))
            case Slots(of, most):
                count = length(fn, a)
                fn.leave_if(fn.eq(count, i64(0)), self.error)
                if most == 0:
                    return known_zero(of)
                return entry(fn, a, i64(0) if least else fn.sub(count, i64(1)))
            case _:
                raise TypeError(f"{a.packing} has no least member")

    def _subsets(self, a: Live) -> Live:
        fn, walk = self.fn, subsets(self.fn, a)
        made = mask_or_slots(walk.packing, walk.count)
        cell = fn.cell(container(made.width), known_zero(made).v)
        with fn.loop(walk.limit) as index:
            there, member = walk.candidate(index)
            with fn.when(there):
                fn.store(cell, inserted(fn, Live(made, fn.load(cell)), member).v)
        return Live(made, fn.load(cell))

    def _range(self, a: Live, b: Live) -> Live:
        fn = self.fn
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
        start = self._least(fn.sub(a.v, i64(lo)), top)
        end = fn.sub(fn.add(b.v, i64(1)), i64(lo))
        end = fn.select(fn.less(end, i64(0)), i64(0), end)
        below, up_to = fn.mask(bits, fn.resize(start, bits)), fn.mask(bits, fn.resize(end, bits))
        return Live(made, fn.resize(fn.and_(up_to, fn.not_(below)), container(made.width)))

    # ---------------------------------------------------------------- sequences

    def _of_sequences(self, op: Op, a: Live, b: Live) -> Live:
        fn = self.fn
        if not isinstance(a.packing, Sequence) or not isinstance(b.packing, Sequence):
            raise TypeError(f"{a.packing} and {b.packing} are no sequences")
        of, most = join(a.packing.of, b.packing.of), a.packing.most + b.packing.most
        if isinstance(of, Never):
            empty = {Op.CONCAT: a, Op.COMMON: number(i64(0), 0, 0), Op.STARTS: truth(fn.not_(FALSE))}
            return empty[op]
        if op is Op.CONCAT:
            made = Sequence(of, most)
            first, second = convert(fn, a, made), convert(fn, b, made)
            behind = fn.resize(fn.mul(length(fn, a), i64(of.width)), first.v.bits)
            entries = fn.or_(body(fn, first), fn.shl(body(fn, second), behind))
            return with_length(fn, made, entries, fn.add(length(fn, a), length(fn, b)))
        both = Sequence(of, max(a.packing.most, b.packing.most))
        x, y = body(fn, convert(fn, a, both)), body(fn, convert(fn, b, both))
        if op is Op.STARTS:
            kept = fn.mask(x.bits, fn.resize(fn.mul(length(fn, b), i64(of.width)), x.bits))
            fits = fn.at_most(length(fn, b), length(fn, a))
            return truth(fn.and_(fits, fn.eq(fn.and_(x, kept), y)))
        least = min(a.packing.most, b.packing.most)
        shorter = self._least(length(fn, a), length(fn, b))
        if of.width == 0:
            return number(shorter, 0, least)
        alike = fn.udiv(fn.lowest(fn.xor(x, y)), i64(of.width))
        return number(self._least(shorter, alike), 0, least)

    def _least(self, a: V, b: V) -> V:
        return self.fn.select(self.fn.less(a, b), a, b)

    def _cut(self, a: Live, n: Live, *, keep_start: bool) -> Live:
        fn, packing = self.fn, a.packing
        if not isinstance(packing, Sequence):
            raise TypeError(f"{packing} is no sequence")
        count = length(fn, a)
        at = fn.select(fn.less(n.v, i64(0)), i64(0), self._least(n.v, count))
        if isinstance(n.packing, Number) and n.packing.lo >= 0:
            at = self._least(n.v, count)
        bits = fn.resize(fn.mul(at, i64(packing.of.width)), a.v.bits)
        if keep_start:
            return with_length(fn, packing, fn.and_(body(fn, a), fn.mask(a.v.bits, bits)), at)
        return with_length(fn, packing, fn.lshr(body(fn, a), bits), fn.sub(count, at))

    def _entry(self, a: Live, index: V) -> Live:
        fn, packing = self.fn, a.packing
        if not isinstance(packing, Sequence):
            raise TypeError(f"{packing} is no sequence")
        fn.leave_if(fn.not_(fn.below(index, length(fn, a))), self.error)
        return entry(fn, a, index) if packing.most else known_zero(packing.of)

    def _at(self, a: Live, n: Live) -> Live:
        fn, packing = self.fn, a.packing
        if not isinstance(packing, Sequence):
            raise TypeError(f"{packing} is no sequence")
        if packing.most == 0:
            return known_zero(Optional(packing.of))
        there = fn.below(n.v, length(fn, a))
        found = option_of(fn, entry(fn, a, fn.select(there, n.v, i64(0))))
        return Live(found.packing, fn.select(there, found.v, const(found.v.bits, 0)))


def _most(of: Packing) -> int:
    """How many members a set of that packing can have."""
    match of:
        case Mask():
            return of.width
        case Slots(_, most):
            return most
        case _:
            raise TypeError(f"{of} is no set")
