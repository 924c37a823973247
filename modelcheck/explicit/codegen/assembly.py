"""Writes LLVM IR: functions over integers, with basic blocks, loops, registers and memory.

A kernel is mostly constants (members, offsets, masks), and most of what is
written for one of them falls away at once; so a few thousand instructions are
left for LLVM to look at, and it is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from modelcheck.explicit.codegen.arithmetic import Arithmetic, InstructionBlock, V, const, i64
from spec.frozen import frozen


@frozen
class Register:
    """A mutable local variable of the LLVM function, on its stack; LLVM promotes it to a register."""

    bits: int
    name: str


@frozen
class ConstantTable:
    """A constant array of the kernel, of integers of `bits` bits; `str` is its definition in LLVM IR."""

    name: str
    bits: int
    numbers: tuple[int, ...]

    def __str__(self) -> str:
        items = ", ".join(f"i{self.bits} {number}" for number in self.numbers)
        return f"{self.name} = internal constant [{len(self.numbers)} x i{self.bits}] [{items}]"


class Function(Arithmetic):
    """An LLVM function under construction: control flow, local variables, memory and calls."""

    def __init__(
        self, name: str, params: Sequence[tuple[str, str]], result: str, attributes: str = "nounwind"
    ) -> None:
        super().__init__()
        self.name = name
        named = ", ".join(f"{kind} %{p}" for kind, p in params)
        self._head = f"define {_returned(result)} @{name}({named}) {attributes}"
        self._entry = InstructionBlock("entry")
        self.blocks = [self.block]
        self.tables: list[ConstantTable] = []
        self._unchanged = {f"%{p}" for kind, p in params if "readonly" in kind}  # what is there stays so
        self._lasting = set(self._unchanged)  # addresses

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
        """The number of instructions emitted so far."""
        return sum(len(block.lines) for block in self.blocks)

    # ------------------------------------------------------------ control flow

    def new(self, hint: str) -> InstructionBlock:
        """A new, empty block, whose label begins with `hint`; nothing jumps to it yet."""
        self._count += 1
        return InstructionBlock(f"{hint}.{self._count}")

    def begin(self, block: InstructionBlock, *, early: bool = False) -> None:
        """Emit into `block` from here on; if nothing jumps to it (nor will: `early`), emit nothing."""
        block.is_reached |= early
        if block.is_reached:
            self.blocks.append(block)
        else:
            block.ended = True
        self.block = block

    def end(self, line: str) -> None:
        """Emit the terminating instruction of the current block."""
        self.emit(line)
        self.block.ended = True

    def exit(self, block: InstructionBlock, line: str) -> None:
        """Emit `block` with only the terminating instruction `line`, such as a return."""
        self.begin(block)
        self.end(line)

    def goto(self, block: InstructionBlock) -> None:
        """End the current block with a jump to `block`."""
        self._lead_to(block)
        self.end(f"br label %{block.label}")

    def fork(self, test: V, then: InstructionBlock, other: InstructionBlock, likely: str = "") -> None:
        """End the current block with a jump to `then` if `test` is true, else to `other`."""
        if test.const is None:
            self._lead_to(then, other)
            self.end(f"br {test}, label %{then.label}, label %{other.label}{likely}")
        else:
            self.goto(then if test.const else other)

    def _lead_to(self, *blocks: InstructionBlock) -> None:
        """Record that the current block jumps to these, so that `begin` emits them."""
        if not self.block.ended:
            for block in blocks:
                assert block.is_reached or not block.ended, f"{block.label} was left out"
                block.is_reached = True

    def either(self, test: V, blocks: Sequence[InstructionBlock], *ways: Callable[[], None]) -> None:
        """Emit an if/else: `ways` are its two branches, `blocks` theirs and the one where they join."""
        then, other, after = blocks
        self.fork(test, then, other)
        for block, way in zip((then, other), ways, strict=True):
            with self.local_values():
                self.begin(block)
                way()
                self.goto(after)
        self.begin(after)

    @contextmanager
    def when(self, test: V) -> Iterator[None]:
        """Emit the code of the `with` so that it runs only if `test` is true."""
        if test.const == 1:
            yield
            return
        inside, after = self.new("when"), self.new("after")
        self.fork(test, inside, after)
        with self.local_values():
            self.begin(inside)
            yield
        self.goto(after)
        self.begin(after)

    def leave_if(self, test: V, to: InstructionBlock) -> None:
        """Emit a jump to block `to` if `test` is true; the code that follows runs otherwise."""
        if test.const == 0:
            return
        stay = self.new("go")
        self.fork(test, to, stay)
        self.begin(stay)

    @contextmanager
    def loop(self, count: V, first: V | None = None) -> Iterator[V]:
        """Emit the code of the `with` as a loop; it gets the index, from `first` (or 0) to below `count`."""
        index = self.cell(64, first or i64(0))
        test, inside, after = self.new("test"), self.new("loop"), self.new("done")
        self.goto(test)
        with self.local_values():
            self.begin(test)
            now = self.load(index)
            self.fork(self.less(now, count), inside, after)
            self.begin(inside)
            yield now
            self.store(index, self.add(now, i64(1)))
            self.goto(test)
        self.begin(after)

    @contextmanager
    def during(self, test: Callable[[], V]) -> Iterator[None]:
        """Emit the code of the `with` as a loop that runs while the test is true."""
        again, inside, after = self.new("again"), self.new("inside"), self.new("after")
        self.goto(again)
        with self.local_values():
            self.begin(again)
            self.fork(test(), inside, after)
            self.begin(inside)
            yield
            self.goto(again)
        self.begin(after)

    def rounds(
        self, count: int, write: Callable[[V], None], *, written_out: bool, limit: V | None = None
    ) -> None:
        """Emit `write(index)` for each index below `count`: unrolled, or as a loop up to `limit`."""
        if written_out:
            for number in range(count):
                write(i64(number))
        else:
            with self.loop(limit or i64(count)) as index:
                write(index)

    # ------------------------------------------------------------------- cells

    def cell(self, bits: int, first: V | None = None) -> Register:
        """A new local variable of `bits` bits, with the initial value `first` if there is one."""
        made = Register(bits, self._fresh())
        self._entry.lines.append(f"  {made.name} = alloca i{bits}")
        if first is not None:
            self.store(made, first)
        return made

    def store(self, cell: Register, value: V) -> None:
        """Emit the assignment of `value` to the local variable `cell`."""
        self.emit(f"store {value}, ptr {cell.name}")

    def load(self, cell: Register) -> V:
        """Emit reading the local variable `cell`."""
        return self._named(cell.bits, f"load i{cell.bits}, ptr {cell.name}")

    def array(self, count: int) -> str:
        """Emit the allocation of `count` words on the stack of the function; returns the pointer."""
        name = self._fresh()
        self._entry.lines.append(f"  {name} = alloca [{count} x i64]")
        self._lasting.add(name)
        return name

    # ------------------------------------------------------------------ memory

    def table(self, numbers: Sequence[int]) -> ConstantTable:
        """A constant array of the kernel with these numbers, shared with an equal one of the function."""
        for known in self.tables:
            if known.numbers == tuple(numbers):
                return known
        bits = 64 * max(1, -(-max(numbers, default=0).bit_length() // 64))
        made = ConstantTable(f"@{self.name}.table.{len(self.tables)}", bits, tuple(numbers))
        self.tables.append(made)
        self._unchanged.add(made.name)
        self._lasting.add(made.name)
        return made

    def look_up(self, table: ConstantTable, index: V) -> V:
        """Emit reading the number at `index` in a constant array."""
        if index.const is not None:
            return const(table.bits, table.numbers[index.const])
        return self.read(table.name, index, table.bits)

    def at(self, pointer: str, index: V | int, kind: str = "i64") -> str:
        """Emit the address of item `index` of the array of `kind` at `pointer`."""
        if (index if isinstance(index, int) else index.const) == 0:
            return pointer
        shown = i64(index) if isinstance(index, int) else index
        made = self._pure if pointer in self._lasting else self._named
        return made(64, f"getelementptr {kind}, ptr {pointer}, {shown}").text

    def read(self, pointer: str, index: V | int = 0, bits: int = 64, *, align: int = 0) -> V:
        """Emit loading item `index` of the array of `bits`-bit integers at `pointer`.

        The address is a multiple of their bytes, or of `align`.
        """
        made = self._pure if pointer in self._unchanged else self._named
        place = self.at(pointer, index, f"i{bits}")
        return made(bits, f"load i{bits}, ptr {place}, align {align or bits // 8}")

    def write(self, pointer: str, value: V, index: V | int = 0, *, align: int = 0) -> None:
        """Emit storing `value` as item `index` of the array at `pointer`; its address is as in `read`."""
        place = self.at(pointer, index, f"i{value.bits}")
        self.emit(f"store {value}, ptr {place}, align {align or value.bits // 8}")

    def pointer(self, value: V) -> str:
        """Emit the conversion of an address, an integer, to a pointer."""
        name = self._fresh()
        self.emit(f"{name} = inttoptr {value} to ptr")
        return name

    def address(self, pointer: str) -> V:
        """Emit the conversion of a pointer to its address, an integer."""
        return self._named(64, f"ptrtoint ptr {pointer} to i64")

    def call(self, bits: int, name: str, *args: V | str) -> V:
        """Emit a call of function `name`, with its result of `bits` bits; pointers are passed by name."""
        given = ", ".join(f"ptr {arg}" if isinstance(arg, str) else str(arg) for arg in args)
        return self._named(bits, f"call {_returned(f'i{bits}')} @{name}({given})")


def _returned(kind: str) -> str:
    """The type of a result, with how it is returned: one bit as a whole byte, or LLVM cannot be quick."""
    return f"zeroext {kind}" if kind == "i1" else kind
