"""Integers in LLVM IR: arithmetic and comparisons as instructions, with constants folded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from spec.frozen import frozen


@frozen
class V:
    """An integer of `bits` bits, two's complement: known at compile time, or computed by the code."""

    bits: int
    text: str
    const: int | None = None  # without sign

    @property
    def signed(self) -> int:
        """The known number, with its sign."""
        if self.const is None:
            raise ValueError(f"{self.text} is not known yet")
        return self.const - (1 << self.bits) if self.const >> (self.bits - 1) else self.const

    def __str__(self) -> str:
        return f"i{self.bits} {self.text}"


@lru_cache(maxsize=1 << 14)  # the same few are written again and again
def const(bits: int, value: int) -> V:
    """A known number."""
    value &= (1 << bits) - 1
    return V(bits, str(value), value)


TRUE, FALSE = const(1, 1), const(1, 0)


def i64(value: int) -> V:
    """A known number of 64 bits."""
    return const(64, value)


@dataclass(slots=True)
class InstructionBlock:
    """Instructions that run one after the other."""

    label: str
    lines: list[str] = field(default_factory=list)
    is_reached: bool = False  # something leads here
    ended: bool = False


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "ult": operator.lt,
    "ule": operator.le,
}


class Arithmetic:
    """Writes instructions into a block; its methods return numbers computed at the current position."""

    def __init__(self) -> None:
        self.block = InstructionBlock("start")
        self._count = 0
        self._known: dict[str, V] = {}  # what was computed on every way to here
        self._order: list[str] = []

    # -------------------------------------------------------------- arithmetic

    def add(self, a: V, b: V) -> V:
        """The sum."""
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("add", a, b, operator.add)

    def sub(self, a: V, b: V) -> V:
        """The difference."""
        return a if b.const == 0 else self._op("sub", a, b, operator.sub)

    def mul(self, a: V, b: V) -> V:
        """The product."""
        if a.const == 0 or b.const == 1:
            return a
        return b if b.const == 0 or a.const == 1 else self._op("mul", a, b, operator.mul)

    def sdiv(self, a: V, b: V) -> V:
        """The quotient with sign, rounded towards 0."""
        return self._pure(a.bits, f"sdiv {a}, {b.text}")

    def udiv(self, a: V, b: V) -> V:
        """The quotient without sign, rounded down."""
        return a if b.const == 1 else self._op("udiv", a, b, operator.floordiv)

    def srem(self, a: V, b: V) -> V:
        """What the quotient with sign leaves; it has the sign of the dividend."""
        return self._pure(a.bits, f"srem {a}, {b.text}")

    def and_(self, a: V, b: V) -> V:
        """The bits that both have."""
        full = (1 << a.bits) - 1
        if a.const == 0 or b.const == full:
            return a
        return b if b.const == 0 or a.const == full else self._op("and", a, b, operator.and_)

    def or_(self, a: V, b: V) -> V:
        """Bitwise or."""
        full = (1 << a.bits) - 1
        if b.const == 0 or a.const == full:
            return a
        return b if a.const == 0 or b.const == full else self._op("or", a, b, operator.or_)

    def xor(self, a: V, b: V) -> V:
        """The bits in which they differ."""
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("xor", a, b, operator.xor)

    def not_(self, a: V) -> V:
        """The other bits."""
        return self.xor(a, const(a.bits, -1))

    def shl(self, a: V, by: V) -> V:
        """The bits moved up; those beyond the highest are lost."""
        return self._shifted("shl", a, by, operator.lshift)

    def lshr(self, a: V, by: V) -> V:
        """The bits moved down, without sign; those below the lowest are lost."""
        return self._shifted("lshr", a, by, operator.rshift)

    def _shifted(self, name: str, a: V, by: V, of: Callable[[int, int], int]) -> V:
        if by.const == 0 or a.const == 0:
            return a
        if by.const is not None and by.const >= a.bits:
            return const(a.bits, 0)
        return self._op(name, a, by, of)

    def _op(self, name: str, a: V, b: V, of: Callable[[int, int], int]) -> V:
        if a.const is not None and b.const is not None:
            return const(a.bits, of(a.const, b.const))
        return self._pure(a.bits, f"{name} {a}, {b.text}")

    def mask(self, bits: int, count: V) -> V:
        """A number of `bits` bits whose lowest `count` are ones; `count`, as wide, is below `bits`."""
        return self.sub(self.shl(const(bits, 1), count), const(bits, 1))

    # -------------------------------------------------------------- comparison

    def eq(self, a: V, b: V) -> V:
        """Whether they are equal."""
        return self._compare("eq", a, b)

    def ne(self, a: V, b: V) -> V:
        """Whether they differ."""
        return self._compare("ne", a, b)

    def is_zero(self, a: V) -> V:
        """Whether no bit is set."""
        return self._compare("eq", a, const(a.bits, 0))

    def is_set(self, a: V) -> V:
        """Whether any bit is."""
        return self._compare("ne", a, const(a.bits, 0))

    def less(self, a: V, b: V) -> V:
        """Less, both with sign."""
        return self._compare("slt", a, b)

    def at_most(self, a: V, b: V) -> V:
        """Whether a <= b, as signed numbers."""
        return self._compare("sle", a, b)

    def below(self, a: V, b: V) -> V:
        """Less, both without sign."""
        return self._compare("ult", a, b)

    def up_to(self, a: V, b: V) -> V:
        """At most, both without sign."""
        return self._compare("ule", a, b)

    def _compare(self, how: str, a: V, b: V) -> V:
        if a.const is not None and b.const is not None:
            pair = (a.signed, b.signed) if how[0] == "s" else (a.const, b.const)
            return TRUE if _COMPARE[how](*pair) else FALSE
        if a.bits == 1 and how in {"eq", "ne"} and (a.const is not None or b.const is not None):
            bit, known = (a, b.const) if a.const is None else (b, a.const)
            return bit if (known == 1) == (how == "eq") else self.not_(bit)
        return self._pure(1, f"icmp {how} {a}, {b.text}")

    # -------------------------------------------------------------- conversion

    def select(self, test: V, then: V, other: V) -> V:
        """One number where the test is true, else the other."""
        if test.const is not None:
            return then if test.const else other
        if then.text == other.text:
            return then
        if then.bits == 1 and then.const is not None:
            return self.or_(test, other) if then.const else self.and_(self.not_(test), other)
        if then.bits == 1 and other.const is not None:
            return self.or_(self.not_(test), then) if other.const else self.and_(test, then)
        return self._pure(then.bits, f"select {test}, {then}, {other}")

    def lesser(self, a: V, b: V) -> V:
        """The lesser of two, both with sign."""
        return self.select(self.less(a, b), a, b)

    def resize(self, a: V, bits: int) -> V:
        """The same number, without sign, in more or fewer bits."""
        if a.bits == bits:
            return a
        if a.const is not None:
            return const(bits, a.const)
        return self._pure(bits, f"{'zext' if bits > a.bits else 'trunc'} {a} to i{bits}")

    # ------------------------------------------------------------------- bits

    def popcount(self, a: V) -> V:
        """How many ones, in 64 bits."""
        if a.const is not None:
            return i64(a.const.bit_count())
        return self.resize(self._pure(a.bits, f"call i{a.bits} @llvm.ctpop.i{a.bits}({a})"), 64)

    def lowest(self, a: V) -> V:
        """The number of the lowest one, in 64 bits; of 0 how many bits there are."""
        if a.const is not None:
            return i64((a.const & -a.const).bit_length() - 1 if a.const else a.bits)
        return self.resize(self._pure(a.bits, f"call i{a.bits} @llvm.cttz.i{a.bits}({a}, i1 false)"), 64)

    def highest(self, a: V) -> V:
        """The number of the highest one, in 64 bits; of 0 it is -1."""
        if a.const is not None:
            return i64(a.const.bit_length() - 1)
        zeros = self._pure(a.bits, f"call i{a.bits} @llvm.ctlz.i{a.bits}({a}, i1 false)")
        return self.sub(i64(a.bits - 1), self.resize(zeros, 64))

    # ----------------------------------------------------------------- writing

    def emit(self, line: str) -> None:
        """An instruction with no result; none after the end of a block, which is unreachable."""
        if not self.block.ended:
            self.block.lines.append("  " + line)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """What is computed inside is not known outside."""
        count = len(self._order)
        yield
        for what in self._order[count:]:
            del self._known[what]
        del self._order[count:]

    def _pure(self, bits: int, what: str) -> V:
        """The result of an instruction that always has the same; once is enough."""
        if what in self._known:
            return self._known[what]
        made = self._named(bits, what)
        if not self.block.ended:  # else it is unreachable
            self._known[what] = made
            self._order.append(what)
        return made

    def _named(self, bits: int, what: str) -> V:
        name = self._fresh()
        self.emit(f"{name} = {what}")
        return V(bits, name)

    def _fresh(self) -> str:
        self._count += 1
        return f"%v{self._count}"
