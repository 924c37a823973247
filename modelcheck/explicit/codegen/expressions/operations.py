"""The strict operations of the language on values in registers."""

from __future__ import annotations

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import FALSE, InstructionBlock, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.conversion import convert, has, recode, same
from modelcheck.explicit.codegen.values.members import (
    body,
    count_of,
    entry,
    length,
    member_at,
    size,
    with_length,
)
from modelcheck.explicit.codegen.values.packing import (
    MOST,
    Entries,
    Mask,
    Never,
    Number,
    Optional,
    Sequence,
    Slots,
    TooWide,
    join,
)
from modelcheck.explicit.codegen.values.sets import elements, numbers_between, of_sets, subsets_of
from modelcheck.explicit.codegen.values.values import (
    Live,
    code,
    known_zero,
    number,
    option_of,
    packed_as,
    truth,
    value,
)
from spec.model.derived import CoreRewriter
from spec.model.op import Op

CORE = CoreRewriter(
    own={
        *(Op.MIN2, Op.MAX2),  # how far the better of two numbers reaches is known more narrowly
        *(Op.SUBSET, Op.INTERSECT, Op.LEAST, Op.GREATEST),  # of masks an instruction or two
        Op.ELEMENTS,  # a third less code than a quantifier, and three per cent less time to compile it
    }
)


class OperationWriter:
    """Emits code for strict operators; arguments without a result jump to the block `error`."""

    def __init__(self, fn: Function, error: InstructionBlock) -> None:
        self.fn = fn
        self.error = error

    def value(self, expr: ir.Apply, args: list[Live]) -> Live:  # noqa: C901 - a dispatch over an enum
        """Emit code for an operator on arguments that are computed already."""
        fn = self.fn
        if any(isinstance(arg.packing, Never) for arg in args):
            return _anything(expr.type)  # not reached: nothing has such a value
        match expr.op, args:
            case Op.NOT, [a]:
                return truth(fn.not_(a.v))
            case Op.EQ, [a, b]:
                return truth(same(fn, a, b))
            case ((Op.ADD | Op.SUB | Op.MUL | Op.DIV | Op.MOD), [a, b]):
                return self._arithmetic(expr.op, a, b)
            case ((Op.LT | Op.LE), [a, b]):
                both = join(a.packing, b.packing)
                x, y = convert(fn, a, both), convert(fn, b, both)
                return truth(is_before(fn, x, y, or_same=expr.op is Op.LE))
            case ((Op.MIN2 | Op.MAX2), [a, b]):
                return self._better(a, b, least=expr.op is Op.MIN2)
            case Op.IN, [a, b]:
                return truth(self._is_in(a, b))
            case Op.SIZE, [a]:
                return size(fn, a)
            case Op.COUNT, [a, bag]:
                return self._count(a, bag)
            case ((Op.SUBSET | Op.UNION | Op.MINUS | Op.INTERSECT), [a, b]):
                return of_sets(fn, expr.op, a, b)
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
                return elements(fn, a)
            case ((Op.THE | Op.LEAST | Op.GREATEST), [a]):
                return self._member(expr.op, a)
            case Op.SUBSETS, [a]:
                return subsets_of(fn, a)
            case Op.RANGE, [a, b]:
                return numbers_between(fn, a, b)
            case _:
                raise TypeError(f"{expr.op} of {len(args)} arguments")

    # ------------------------------------------------------------------ numbers

    def _arithmetic(self, op: Op, a: Live, b: Live) -> Live:
        """Emit +, -, *, div or mod of numbers, with the bounds of the result."""
        fn, one, other = self.fn, packed_as(a, Number), packed_as(b, Number)
        match op:
            case Op.ADD:
                return self._number(fn.add(a.v, b.v), one.lo + other.lo, one.hi + other.hi)
            case Op.SUB:
                return self._number(fn.sub(a.v, b.v), one.lo - other.hi, one.hi - other.lo)
            case Op.MUL:
                corners = [x * y for x in (one.lo, one.hi) for y in (other.lo, other.hi)]
                return self._number(fn.mul(a.v, b.v), min(corners), max(corners))
            case _:
                return self._divided(op, a, b, one, other)

    def _number(self, v: V, lo: int, hi: int) -> Live:
        """A number within the bounds `lo` and `hi`. Raises TooWide for bounds beyond 62 bits."""
        if max(abs(lo), abs(hi)) >= MOST:
            raise TooWide("a number that may be beyond 62 bits")
        return number(v, lo, hi)

    def _divided(self, op: Op, a: Live, b: Live, of: Number, by: Number) -> Live:
        """Emit div or mod, rounded towards minus infinity; a divisor of 0 is an error of the model."""
        fn = self.fn
        if by.lo <= 0 <= by.hi:
            fn.leave_if(fn.is_zero(b.v), self.error)
        most = max(abs(of.lo), abs(of.hi))
        if a.v.const is not None and b.v.const:
            exact = a.v.signed // b.v.signed if op is Op.DIV else a.v.signed % b.v.signed
            return self._number(i64(exact), exact, exact)
        quotient, rest = fn.sdiv(a.v, b.v), fn.srem(a.v, b.v)
        differs = fn.and_(fn.is_set(rest), fn.less(fn.xor(rest, b.v), i64(0)))
        if op is Op.DIV:
            down = fn.sub(quotient, fn.resize(differs, 64))
            return self._number(down, -most - 1 if of.lo < 0 or by.lo < 0 else 0, most)
        found = fn.add(rest, fn.select(differs, b.v, i64(0)))
        return self._number(found, min(0, by.lo + 1), max(0, by.hi - 1))

    def _better(self, a: Live, b: Live, *, least: bool) -> Live:
        """Emit the lesser (`least`) or greater of two values."""
        fn = self.fn
        both = join(a.packing, b.packing)
        x, y = convert(fn, a, both), convert(fn, b, both)
        first = is_before(fn, x, y, or_same=True) if least else is_before(fn, y, x, or_same=True)
        better = fn.select(first, x.v, y.v)
        if isinstance(a.packing, Number) and isinstance(b.packing, Number):
            pick = min if least else max
            return number(better, pick(a.packing.lo, b.packing.lo), pick(a.packing.hi, b.packing.hi))
        return Live(both, better)

    # ---------------------------------------------------------------- membership

    def _is_in(self, a: Live, b: Live) -> V:
        """Emit the test whether value `a` is in the collection or option `b`."""
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
        """Emit how often value `a` is in a bag."""
        fn, packing = self.fn, packed_as(bag, Slots)
        if isinstance(packing.of, Never):
            return number(i64(0), 0, 0)
        got, ok = recode(fn, a, packing.of)
        return number(count_of(fn, bag, got, ok), 0, packing.most)

    def _member(self, op: Op, a: Live) -> Live:
        """Emit the only, least or greatest member of a set; an error of the model if there is none."""
        fn, only = self.fn, op is Op.THE
        match a.packing:
            case Optional(of):
                fn.leave_if(fn.is_zero(a.v), self.error)
                return value(fn, of, fn.sub(a.v, const(a.v.bits, 1)))
            case Mask(of):
                wrong = fn.ne(fn.popcount(a.v), i64(1)) if only else fn.is_zero(a.v)
                fn.leave_if(wrong, self.error)
                return member_at(fn, of, fn.highest(a.v) if op is Op.GREATEST else fn.lowest(a.v))
            case _:
                count = length(fn, a)
                fn.leave_if(fn.ne(count, i64(1)) if only else fn.is_zero(count), self.error)
                return self._at_index(a, fn.sub(count, i64(1)) if op is Op.GREATEST else i64(0))

    # ---------------------------------------------------------------- sequences

    def _of_sequences(self, op: Op, a: Live, b: Live) -> Live:
        """Emit the concatenation, longest common prefix (its length) or prefix test of sequences."""
        fn, one, other = self.fn, packed_as(a, Sequence), packed_as(b, Sequence)
        of = join(one.of, other.of)
        if isinstance(of, Never):
            empty = {Op.CONCAT: a, Op.COMMON: number(i64(0), 0, 0), Op.STARTS: truth(fn.not_(FALSE))}
            return empty[op]
        if op is Op.CONCAT:
            made = Sequence(of, one.most + other.most)
            first, second = convert(fn, a, made), convert(fn, b, made)
            behind = fn.resize(fn.mul(length(fn, a), i64(of.width)), first.v.bits)
            entries = fn.or_(body(fn, first), fn.shl(body(fn, second), behind))
            return with_length(fn, made, entries, fn.add(length(fn, a), length(fn, b)))
        both = Sequence(of, max(one.most, other.most))
        x, y = body(fn, convert(fn, a, both)), body(fn, convert(fn, b, both))
        if op is Op.STARTS:
            kept = fn.mask(x.bits, fn.resize(fn.mul(length(fn, b), i64(of.width)), x.bits))
            fits = fn.at_most(length(fn, b), length(fn, a))
            return truth(fn.and_(fits, fn.eq(fn.and_(x, kept), y)))
        least = min(one.most, other.most)
        shorter = fn.lesser(length(fn, a), length(fn, b))
        if of.width == 0:
            return number(shorter, 0, least)
        alike = fn.udiv(fn.lowest(fn.xor(x, y)), i64(of.width))
        return number(fn.lesser(shorter, alike), 0, least)

    def _cut(self, a: Live, n: Live, *, keep_start: bool) -> Live:
        """Emit the first `n` entries of a sequence (`keep_start`), or those after them."""
        fn, packing, count = self.fn, packed_as(a, Sequence), length(self.fn, a)
        at = fn.lesser(n.v, count)
        if packed_as(n, Number).lo < 0:
            at = fn.select(fn.less(n.v, i64(0)), i64(0), at)
        bits = fn.resize(fn.mul(at, i64(packing.of.width)), a.v.bits)
        if keep_start:
            return with_length(fn, packing, fn.and_(body(fn, a), fn.mask(a.v.bits, bits)), at)
        return with_length(fn, packing, fn.lshr(body(fn, a), bits), fn.sub(count, at))

    def _entry(self, a: Live, index: V) -> Live:
        """Emit the entry at `index`; beyond the end it is an error of the model."""
        self.fn.leave_if(self.fn.not_(self.fn.below(index, length(self.fn, a))), self.error)
        return self._at_index(a, index)

    def _at_index(self, a: Live, index: V) -> Live:
        """Emit the entry at an index that is known to be in range."""
        packing = packed_as(a, Entries)
        return entry(self.fn, a, index) if packing.most else known_zero(packing.of)

    def _at(self, a: Live, n: Live) -> Live:
        """Emit the entry at index `n` as an option, none beyond the end."""
        fn, packing = self.fn, packed_as(a, Sequence)
        if packing.most == 0:
            return known_zero(Optional(packing.of))
        there = fn.below(n.v, length(fn, a))
        found = option_of(fn, entry(fn, a, fn.select(there, n.v, i64(0))))
        return Live(found.packing, fn.select(there, found.v, known_zero(found.packing).v))


def is_before(fn: Function, a: Live, b: Live, *, or_same: bool = False) -> V:
    """Emit the comparison a < b (`or_same`: a <= b) of two values of the same ordered packing."""
    if isinstance(a.packing, Number):
        return fn.at_most(a.v, b.v) if or_same else fn.less(a.v, b.v)
    x, y = code(fn, a), code(fn, b)
    return fn.up_to(x, y) if or_same else fn.below(x, y)


def _anything(of: t.Type) -> Live:
    """Any value of a type, for code that is never reached."""
    match of:
        case t.Bool():
            return truth(FALSE)
        case t.Int() | t.Range():
            return known_zero(Number(0, 0))
        case _:
            return known_zero(Never())
