"""Writes LLVM's language: functions of whole numbers, blocks, cells, loops, with constants folded on the way.

A kernel is mostly constants (members, offsets, masks), and most of what is
written for one of them falls away at once; so a few thousand instructions are
left for LLVM to look at, and it is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class V:
    """A whole number of so many bits, two's complement: known now, or computed by the code."""

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


def const(bits: int, value: int) -> V:
    """A known number."""
    value &= (1 << bits) - 1
    return V(bits, str(value), value)


TRUE, FALSE = const(1, 1), const(1, 0)


def i64(value: int) -> V:
    """A known number of 64 bits."""
    return const(64, value)


@dataclass(slots=True)
class Block:
    """Instructions that run one after the other."""

    label: str
    lines: list[str] = field(default_factory=list)
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A place for a number that changes; LLVM makes a register of it."""

    bits: int
    name: str


@dataclass(frozen=True, slots=True)
class Table:
    """Known numbers in memory."""

    name: str
    bits: int
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        items = ", ".join(f"i{self.bits} {number}" for number in self.numbers)
        return f"{self.name} = internal constant [{len(self.numbers)} x i{self.bits}] [{items}]"


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "ult": lambda a, b: a < b,
    "ule": lambda a, b: a <= b,
}


class Function:
    """A function being written; what its methods return are numbers computed where it then stands."""

    def __init__(
        self, name: str, params: Sequence[tuple[str, str]], result: str, attributes: str = ""
    ) -> None:
        self.name = name
        self._head = (
            f"define {result} @{name}({', '.join(f'{kind} %{p}' for kind, p in params)}) {attributes}"
        )
        self._entry = Block("entry")
        self._count = 0
        self.block = Block("start")
        self.blocks = [self.block]
        self._known: dict[str, V] = {}  # what was computed on every way to here
        self._order: list[str] = []
        self.tables: list[Table] = []

    def __str__(self) -> str:
        lines = [self._head + " {", "entry:", *self._entry.lines, "  br label %start"]
        for block in self.blocks:
            lines.append(f"{block.label}:")
            lines += block.lines
            if not block.ended:
                lines.append("  unreachable")
        return "\n".join([*map(str, self.tables), *lines, "}"])

    @property
    def size(self) -> int:
        """How many instructions there are by now."""
        return sum(len(block.lines) for block in self.blocks)

    # ------------------------------------------------------------ control flow

    def new(self, hint: str) -> Block:
        """A block that nothing leads to yet."""
        self._count += 1
        return Block(f"{hint}.{self._count}")

    def begin(self, block: Block) -> None:
        """From here on, write into that block."""
        self.blocks.append(block)
        self.block = block

    def emit(self, line: str) -> None:
        """An instruction with no result; none behind the end of a block, which nobody reaches."""
        if not self.block.ended:
            self.block.lines.append("  " + line)

    def end(self, line: str) -> None:
        """The last instruction of a block."""
        self.emit(line)
        self.block.ended = True

    def goto(self, block: Block) -> None:
        """Go on in that block."""
        self.end(f"br label %{block.label}")

    def fork(self, test: V, then: Block, other: Block, likely: str = "") -> None:
        """Go on in one block or the other."""
        if test.const is None:
            self.end(f"br {test}, label %{then.label}, label %{other.label}{likely}")
        else:
            self.goto(then if test.const else other)

    @contextmanager
    def when(self, test: V) -> Iterator[None]:
        """What is written inside runs when the test is true."""
        if test.const == 1:
            yield
            return
        inside, after = self.new("when"), self.new("after")
        self.fork(test, inside, after)
        with self.remembering():
            self.begin(inside)
            yield
        self.goto(after)
        self.begin(after)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """What is computed inside is not known outside."""
        count = len(self._order)
        yield
        for what in self._order[count:]:
            del self._known[what]
        del self._order[count:]

    def leave_if(self, test: V, to: Block) -> None:
        """Go on elsewhere when the test is true."""
        if test.const == 0:
            return
        stay = self.new("go")
        self.fork(test, to, stay)
        self.begin(stay)

    @contextmanager
    def loop(self, count: V, first: V | None = None) -> Iterator[V]:
        """What is written inside runs for each number from `first` (or 0) to below `count`, which is inside."""
        index = self.cell(64, first or i64(0))
        test, inside, after = self.new("test"), self.new("loop"), self.new("done")
        self.goto(test)
        with self.remembering():
            self.begin(test)
            now = self.load(index)
            self.fork(self.less(now, count), inside, after)
            self.begin(inside)
            yield now
            self.store(index, self.add(now, i64(1)))
            self.goto(test)
        self.begin(after)

    # ------------------------------------------------------------------- cells

    def cell(self, bits: int, first: V | None = None) -> Cell:
        """A new cell, holding `first`."""
        made = Cell(bits, self._fresh())
        self._entry.lines.append(f"  {made.name} = alloca i{bits}")
        if first is not None:
            self.store(made, first)
        return made

    def store(self, cell: Cell, value: V) -> None:
        """Put a number into a cell."""
        self.emit(f"store {value}, ptr {cell.name}")

    def load(self, cell: Cell) -> V:
        """The number in a cell."""
        return self._named(cell.bits, f"load i{cell.bits}, ptr {cell.name}")

    def array(self, count: int) -> str:
        """A pointer to so many words of this call's own."""
        name = self._fresh()
        self._entry.lines.append(f"  {name} = alloca [{count} x i64]")
        return name

    # ------------------------------------------------------------------ memory

    def table(self, numbers: Sequence[int]) -> Table:
        """A table of known numbers."""
        bits = 64 * max(1, -(-max(numbers, default=0).bit_length() // 64))
        made = Table(f"@{self.name}.table.{len(self.tables)}", bits, tuple(numbers))
        self.tables.append(made)
        return made

    def look_up(self, table: Table, index: V) -> V:
        """A number of a table."""
        if index.const is not None:
            return const(table.bits, table.numbers[index.const])
        return self.read(table.name, index, table.bits)

    def at(self, pointer: str, index: V | int, kind: str = "i64") -> str:
        """A pointer to an item behind another."""
        if (index if isinstance(index, int) else index.const) == 0:
            return pointer
        name = self._fresh()
        shown = i64(index) if isinstance(index, int) else index
        self.emit(f"{name} = getelementptr {kind}, ptr {pointer}, {shown}")
        return name

    def read(self, pointer: str, index: V | int = 0, bits: int = 64) -> V:
        """The number in memory there."""
        return self._named(
            bits, f"load i{bits}, ptr {self.at(pointer, index, f'i{bits}')}, align {bits // 8}"
        )

    def write(self, pointer: str, value: V, index: V | int = 0) -> None:
        """Put a number into memory."""
        place = self.at(pointer, index, f"i{value.bits}")
        self.emit(f"store {value}, ptr {place}, align {value.bits // 8}")

    def pointer(self, value: V) -> str:
        """An address as a pointer."""
        name = self._fresh()
        self.emit(f"{name} = inttoptr {value} to ptr")
        return name

    def address(self, pointer: str) -> V:
        """A pointer as a number."""
        return self._named(64, f"ptrtoint ptr {pointer} to i64")

    def call(self, bits: int, name: str, *args: V | str) -> V:
        """The result of a function; pointers are given as their names."""
        given = ", ".join(f"ptr {arg}" if isinstance(arg, str) else str(arg) for arg in args)
        return self._named(bits, f"call i{bits} @{name}({given})")

    # -------------------------------------------------------------- arithmetic

    def add(self, a: V, b: V) -> V:
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const + b.const)
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("add", a, b)

    def sub(self, a: V, b: V) -> V:
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const - b.const)
        return a if b.const == 0 else self._op("sub", a, b)

    def mul(self, a: V, b: V) -> V:
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const * b.const)
        if a.const == 0 or b.const == 1:
            return a
        return b if b.const == 0 or a.const == 1 else self._op("mul", a, b)

    def sdiv(self, a: V, b: V) -> V:
        return self._op("sdiv", a, b)

    def udiv(self, a: V, b: V) -> V:
        if a.const is not None and b.const:
            return const(a.bits, a.const // b.const)
        return a if b.const == 1 else self._op("udiv", a, b)

    def srem(self, a: V, b: V) -> V:
        return self._op("srem", a, b)

    def and_(self, a: V, b: V) -> V:
        full = (1 << a.bits) - 1
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const & b.const)
        if a.const == 0 or b.const == full:
            return a
        return b if b.const == 0 or a.const == full else self._op("and", a, b)

    def or_(self, a: V, b: V) -> V:
        full = (1 << a.bits) - 1
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const | b.const)
        if b.const == 0 or a.const == full:
            return a
        return b if a.const == 0 or b.const == full else self._op("or", a, b)

    def xor(self, a: V, b: V) -> V:
        if a.const is not None and b.const is not None:
            return const(a.bits, a.const ^ b.const)
        if b.const == 0:
            return a
        return b if a.const == 0 else self._op("xor", a, b)

    def not_(self, a: V) -> V:
        return self.xor(a, const(a.bits, -1))

    def shl(self, a: V, by: V) -> V:
        if by.const == 0 or a.const == 0:
            return a
        if by.const is not None and by.const >= a.bits:
            return const(a.bits, 0)
        if a.const is not None and by.const is not None:
            return const(a.bits, a.const << by.const)
        return self._op("shl", a, by)

    def lshr(self, a: V, by: V) -> V:
        if by.const == 0 or a.const == 0:
            return a
        if by.const is not None and by.const >= a.bits:
            return const(a.bits, 0)
        if a.const is not None and by.const is not None:
            return const(a.bits, a.const >> by.const)
        return self._op("lshr", a, by)

    def mask(self, bits: int, count: V) -> V:
        """So many ones, fewer than there are bits; `count` has as many bits as the result."""
        return self.sub(self.shl(const(bits, 1), count), const(bits, 1))

    # -------------------------------------------------------------- comparison

    def eq(self, a: V, b: V) -> V:
        return self._compare("eq", a, b)

    def ne(self, a: V, b: V) -> V:
        return self._compare("ne", a, b)

    def less(self, a: V, b: V) -> V:
        return self._compare("slt", a, b)

    def at_most(self, a: V, b: V) -> V:
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
        if a.bits == 1 and how in {"eq", "ne"} and b.const is not None:
            return a if (b.const == 1) == (how == "eq") else self.not_(a)
        if a.bits == 1 and how in {"eq", "ne"} and a.const is not None:
            return self._compare(how, b, a)
        return self._pure(1, f"icmp {how} {a}, {b.text}")

    # -------------------------------------------------------------- conversion

    def select(self, test: V, then: V, other: V) -> V:
        if test.const is not None:
            return then if test.const else other
        if then.text == other.text:
            return then
        if then.bits == 1 and then.const is not None:
            return self.or_(test, other) if then.const else self.and_(self.not_(test), other)
        if then.bits == 1 and other.const is not None:
            return self.or_(self.not_(test), then) if other.const else self.and_(test, then)
        return self._pure(then.bits, f"select {test}, {then}, {other}")

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
        return self.resize(self._intrinsic("ctpop", a), 64)

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

    def _intrinsic(self, name: str, a: V) -> V:
        return self._pure(a.bits, f"call i{a.bits} @llvm.{name}.i{a.bits}({a})")

    # ----------------------------------------------------------------- writing

    def _op(self, name: str, a: V, b: V) -> V:
        return self._pure(a.bits, f"{name} {a}, {b.text}")

    def _pure(self, bits: int, what: str) -> V:
        """The result of an instruction that always has the same; once is enough."""
        if what in self._known:
            return self._known[what]
        made = self._named(bits, what)
        if not self.block.ended:  # else nobody computes it
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
