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
    """An LLVM integer of `bits` bits (two's complement): a constant, or the result of an instruction."""

    bits: int
    text: str
    const: int | None = None  # without sign

    @property
    def signed(self) -> int:
        """The constant as a signed number. Raises ValueError if the value is no constant."""
        if self.const is None:
            raise ValueError(f"{self.text} is not known yet")
        return self.const - (1 << self.bits) if self.const >> (self.bits - 1) else self.const

    def __str__(self) -> str:
        return f"i{self.bits} {self.text}"


@lru_cache(maxsize=1 << 14)  # the same few are written again and again
def const(bits: int, value: int) -> V:
    """The constant `value`, reduced to `bits` bits."""
    value &= (1 << bits) - 1
    return V(bits, str(value), value)


TRUE, FALSE = const(1, 1), const(1, 0)


def i64(value: int) -> V:
    """The constant `value` in 64 bits."""
    return const(64, value)


@dataclass(slots=True)
class InstructionBlock:
    """An LLVM basic block: a label and the instructions that run one after the other."""

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
    """Emits integer instructions into the current block; each method returns the value it computes."""

    def __init__(self) -> None:
        self.block = InstructionBlock("start")
        self._count = 0
        self._known: dict[str, V] = {}  # what was computed on every way to here, in this order

    # -------------------------------------------------------------- arithmetic

    def add(self, a: V, b: V) -> V:
        """Emit a + b, modulo 2 to the width."""
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("add", a, b, operator.add)

    def sub(self, a: V, b: V) -> V:
        """Emit a - b, modulo 2 to the width."""
        return a if b.const == 0 else self._op("sub", a, b, operator.sub)

    def mul(self, a: V, b: V) -> V:
        """Emit a * b, modulo 2 to the width."""
        if a.const == 0 or b.const == 1:
            return a
        return b if b.const == 0 or a.const == 1 else self._op("mul", a, b, operator.mul)

    def sdiv(self, a: V, b: V) -> V:
        """Emit the signed quotient a / b, rounded towards 0."""
        return self._pure(a.bits, f"sdiv {a}, {b.text}")

    def udiv(self, a: V, b: V) -> V:
        """Emit the unsigned quotient a / b, rounded down."""
        return a if b.const == 1 else self._op("udiv", a, b, operator.floordiv)

    def srem(self, a: V, b: V) -> V:
        """Emit the remainder of the signed division a / b; it has the sign of `a`."""
        return self._pure(a.bits, f"srem {a}, {b.text}")

    def and_(self, a: V, b: V) -> V:
        """Emit the bitwise and of `a` and `b`."""
        full = (1 << a.bits) - 1
        if a.const == 0 or b.const == full:
            return a
        return b if b.const == 0 or a.const == full else self._op("and", a, b, operator.and_)

    def or_(self, a: V, b: V) -> V:
        """Emit the bitwise or of `a` and `b`."""
        full = (1 << a.bits) - 1
        if b.const == 0 or a.const == full:
            return a
        return b if a.const == 0 or b.const == full else self._op("or", a, b, operator.or_)

    def xor(self, a: V, b: V) -> V:
        """Emit the bitwise exclusive or of `a` and `b`."""
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("xor", a, b, operator.xor)

    def not_(self, a: V) -> V:
        """Emit the bitwise complement of `a`."""
        return self.xor(a, const(a.bits, -1))

    def shl(self, a: V, by: V) -> V:
        """Emit `a` shifted left by `by` bits; bits shifted out are lost."""
        return self._shifted("shl", a, by, operator.lshift)

    def lshr(self, a: V, by: V) -> V:
        """Emit `a` shifted right by `by` bits, filled with zeros."""
        return self._shifted("lshr", a, by, operator.rshift)

    def _shifted(self, name: str, a: V, by: V, of: Callable[[int, int], int]) -> V:
        """Emit the shift `name` (which `of` computes on constants), folded if it is by 0 or by all bits."""
        if by.const == 0 or a.const == 0:
            return a
        if by.const is not None and by.const >= a.bits:
            return const(a.bits, 0)
        return self._op(name, a, by, of)

    def _op(self, name: str, a: V, b: V, of: Callable[[int, int], int]) -> V:
        """Emit the binary instruction `name`, or the constant that `of` computes if both are constants."""
        if a.const is not None and b.const is not None:
            return const(a.bits, of(a.const, b.const))
        return self._pure(a.bits, f"{name} i{a.bits} {a.text}, {b.text}")

    def mask(self, bits: int, count: V) -> V:
        """Emit a number of `bits` bits whose lowest `count` are ones; `count`, as wide, is below `bits`."""
        return self.sub(self.shl(const(bits, 1), count), const(bits, 1))

    # -------------------------------------------------------------- comparison

    def eq(self, a: V, b: V) -> V:
        """Emit the comparison a == b, a value of one bit."""
        return self._compare("eq", a, b)

    def ne(self, a: V, b: V) -> V:
        """Emit the comparison a != b, a value of one bit."""
        return self._compare("ne", a, b)

    def is_zero(self, a: V) -> V:
        """Emit the test a == 0."""
        return self._compare("eq", a, const(a.bits, 0))

    def is_set(self, a: V) -> V:
        """Emit the test a != 0."""
        return self._compare("ne", a, const(a.bits, 0))

    def less(self, a: V, b: V) -> V:
        """Emit the signed comparison a < b."""
        return self._compare("slt", a, b)

    def at_most(self, a: V, b: V) -> V:
        """Emit the signed comparison a <= b."""
        return self._compare("sle", a, b)

    def below(self, a: V, b: V) -> V:
        """Emit the unsigned comparison a < b."""
        return self._compare("ult", a, b)

    def up_to(self, a: V, b: V) -> V:
        """Emit the unsigned comparison a <= b."""
        return self._compare("ule", a, b)

    def _compare(self, how: str, a: V, b: V) -> V:
        """Emit `icmp` with the LLVM predicate `how`, or its result if both values are constants."""
        if a.const is not None and b.const is not None:
            pair = (a.signed, b.signed) if how[0] == "s" else (a.const, b.const)
            return TRUE if _COMPARE[how](*pair) else FALSE
        if a.bits == 1 and how in {"eq", "ne"} and (a.const is not None or b.const is not None):
            bit, known = (a, b.const) if a.const is None else (b, a.const)
            return bit if (known == 1) == (how == "eq") else self.not_(bit)
        return self._pure(1, f"icmp {how} i{a.bits} {a.text}, {b.text}")

    # -------------------------------------------------------------- conversion

    def select(self, test: V, then: V, other: V) -> V:
        """Emit `then` if `test` is true, else `other`, without a branch; both are computed."""
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
        """Emit the signed minimum of `a` and `b`."""
        return self.select(self.less(a, b), a, b)

    def resize(self, a: V, bits: int) -> V:
        """Emit `a` extended with zeros, or cut to its lowest bits, in `bits` bits."""
        if a.bits == bits:
            return a
        if a.const is not None:
            return const(bits, a.const)
        return self._pure(bits, f"{'zext' if bits > a.bits else 'trunc'} {a} to i{bits}")

    # ------------------------------------------------------------------- bits

    def popcount(self, a: V) -> V:
        """Emit the number of one bits in `a`, in 64 bits."""
        if a.const is not None:
            return i64(a.const.bit_count())
        return self.resize(self._pure(a.bits, f"call i{a.bits} @llvm.ctpop.i{a.bits}({a})"), 64)

    def lowest(self, a: V) -> V:
        """Emit the index of the lowest one bit of `a`, in 64 bits; the width of `a` if it is 0."""
        if a.const is not None:
            return i64((a.const & -a.const).bit_length() - 1 if a.const else a.bits)
        return self.resize(self._pure(a.bits, f"call i{a.bits} @llvm.cttz.i{a.bits}({a}, i1 false)"), 64)

    def highest(self, a: V) -> V:
        """Emit the index of the highest one bit of `a`, in 64 bits; -1 if it is 0."""
        if a.const is not None:
            return i64(a.const.bit_length() - 1)
        zeros = self._pure(a.bits, f"call i{a.bits} @llvm.ctlz.i{a.bits}({a}, i1 false)")
        return self.sub(i64(a.bits - 1), self.resize(zeros, 64))

    # ----------------------------------------------------------------- writing

    def emit(self, line: str) -> None:
        """Append an instruction without a result; does nothing if the block has ended (unreachable code)."""
        if not self.block.ended:
            self.block.lines.append("  " + line)

    @contextmanager
    def local_values(self) -> Iterator[None]:
        """Forget, at the end of the `with`, the values computed in it, which are not reused outside."""
        count = len(self._known)
        yield
        while len(self._known) > count:
            self._known.popitem()  # the last

    def _pure(self, bits: int, what: str) -> V:
        """Emit an instruction without side effects, or return the value of an equal one emitted before."""
        known = self._known.get(what)
        if known is not None:
            return known
        made = self._named(bits, what)
        if not self.block.ended:  # else it is unreachable
            self._known[what] = made
        return made

    def _named(self, bits: int, what: str) -> V:
        """Emit the instruction `what` and return its result, in a register with a new name."""
        self._count = count = self._count + 1
        block = self.block
        if not block.ended:  # else it is unreachable
            block.lines.append(f"  %v{count} = {what}")
        return V(bits, f"%v{count}")

    def _fresh(self) -> str:
        """A new register name of the function."""
        self._count += 1
        return f"%v{self._count}"
