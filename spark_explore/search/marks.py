"""Marks next to states, a byte for each, while ways back are looked for: 0 where none is known.

What is done with them, wherever that happens: mark goals, ask about successors, answer.  A question
is a successor with the number of the state it comes from, among those that are looked at together.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from modelcheck.explicit.codegen.search.blocks import SPILL
from modelcheck.explicit.codegen.search.context import CURSOR
from modelcheck.explicit.codegen.search.runtime import BEYOND, FINE
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import CHUNK
from spark_explore.storage.pieces import FilePiece, blocks, piece_from_json
from spark_explore.storage.run import RunLevel
from spark_explore.storage.sorted_pieces import SortedPiece, SortedPieces, address_of
from spec.frozen import frozen

ALONE = 1  # the width of a mark
SPARSE = 0.4  # the load factor at most of a table where most look-ups find nothing
MarkedBlock = tuple[bytes, bytes]  # a block of states, and the mark of each


@frozen
class Marks:
    """The files with a level's marks, and how many states have no way to a goal, or only out of the scope."""

    pieces: tuple[FilePiece, ...]
    open: int
    beyond: int

    def as_json(self) -> list[Any]:
        """The marks as JSON data."""
        return [[piece.as_json() for piece in self.pieces], self.open, self.beyond]


def marks_from_json(data: Sequence[Any]) -> Marks:
    """The inverse of `Marks.as_json`."""
    pieces, open_, beyond = data
    return Marks(tuple(map(piece_from_json, pieces)), open_, beyond)


def joined(marks: Sequence[Marks]) -> Marks:
    """The marks of one level, joined from those of its shards in order."""
    pieces = tuple(piece for each in marks for piece in each.pieces)
    return Marks(pieces, sum(each.open for each in marks), sum(each.beyond for each in marks))


@frozen
class Marked:
    """A level with its marks, and the file that lists their pieces."""

    level: RunLevel
    marks: Marks
    name: str


@frozen
class Aim:
    """The goal of a `recoverable`, by number; or, in the second pass, a step beyond the scope."""

    which: int
    beyond: bool = False

    @property
    def mark(self) -> int:
        """The mark for states with a way."""
        return BEYOND if self.beyond else FINE


def marked(
    pieces: SortedPieces, states: Iterable[SortedPiece], marks: Iterable[FilePiece]
) -> Iterator[MarkedBlock]:
    """Blocks of states, each with its marks. Raises Damaged, OSError."""
    rest, more = b"", blocks(pieces.store, marks, ALONE)
    for block in pieces.blocks(states):
        count = len(block) // pieces.arrays.width
        while len(rest) < count:
            rest += next(more)
        yield block, rest[:count]
        rest = rest[count:]


# -------------------------------------------------------------------------- goals


def goals(kernel: Kernel, aim: Aim, states: Iterable[bytes]) -> bytes:
    """The marks of states: which are goals."""
    words, found = kernel.layout.words, []
    for block in states:
        count = len(block) // (8 * words)
        marks = bytearray(count)
        kernel.call["mark_goals"](block, count, _address(marks), aim.which)
        found.append(marks)
    return b"".join(found)


# ---------------------------------------------------------------------- questions


class Lookout:
    """Expands states without a mark by one step, to ask about their successors."""

    def __init__(self, kernel: Kernel, aim: Aim) -> None:
        self._kernel = kernel
        self._aim = aim
        self._width = 8 * kernel.layout.words
        self._room = (self._width + 8) * (CHUNK + 2 * kernel.most)
        self._context = (ctypes.c_uint64 * kernel.context.size)(*kernel.context.new())
        self._scratch = Region(self._room)

    def ahead(self, block: bytes, marks: bytearray, first: int) -> Iterator[bytes]:
        """The questions about a block whose first state has number `first`; sets sure marks."""
        count, done, context = len(block) // self._width, 0, self._context
        start, look = self._scratch.address, self._kernel.call["look_ahead"]
        while done < count:
            context[CURSOR] = start
            done += look(
                context,
                address_of(block) + self._width * done,
                count - done,
                _address(marks) + done,
                first + done,
                start + self._room,
                self._aim.which,
                self._aim.beyond,
            )
            yield self._scratch.read(0, context[CURSOR] - start)

    def close(self) -> None:
        """Free the memory."""
        self._scratch.close()


def dealt(kernel: Kernel, questions: bytes, shards: int) -> tuple[bytes, tuple[int, ...]]:
    """The questions sorted by the shard that they are about, and the number for each."""
    counts, ends = (ctypes.c_uint64 * shards)(), (ctypes.c_uint64 * shards)()
    out = ctypes.create_string_buffer(len(questions))
    kernel.call["deal"](questions, len(questions) // entry_size(kernel), shards, counts, ends, out)
    return out.raw, tuple(counts)


def entry_size(kernel: Kernel) -> int:
    """The size of a question in bytes."""
    return 8 * (kernel.layout.words + 1)


# ------------------------------------------------------------------------ answers


class Overflow(Exception):  # noqa: N818 - the answer is a larger table
    """Raised if a table is too small for its states."""


class Wanted:
    """A hash table of the states that questions of one shard (or all) are about; open ones are tagged."""

    def __init__(self, kernel: Kernel, shards: int, most: int) -> None:
        self._call = kernel.call
        self._shards = shards
        self._width, self._entry = 8 * kernel.layout.words, entry_size(kernel)
        self._slots = int(most / SPARSE) + 16
        self._table = Region(self._width * (self._slots + SPILL), huge=True)
        self._tags = Region(self._slots + SPILL)
        self.count = 0

    def want(self, questions: bytes) -> None:
        """Add questions. Raises Overflow."""
        many = len(questions) // self._entry
        new = self._call["want"](*self._parts(), questions, many)
        if new < 0:
            raise Overflow
        self.count += new

    def see(self, states: Iterable[MarkedBlock]) -> None:
        """Look up the marks of the wanted states, until all are known."""
        if self.count:
            for block, marks in states:
                many = len(block) // self._width
                self.count -= self._call["untag_marked"](*self._parts(), block, many, marks)
                if not self.count:
                    break

    def answer(self, questions: bytes) -> bytes:
        """The numbers of the states that lead to a marked one, four bytes each."""
        many = len(questions) // self._entry
        out = ctypes.create_string_buffer(4 * many)
        found = self._call["answer"](*self._parts(), questions, many, out)
        return out.raw[: 4 * found]

    def close(self) -> None:
        """Free the memory."""
        self._table.close()
        self._tags.close()

    def _parts(self) -> tuple[int, int, int, int]:
        """The arguments of the kernel's functions for the table."""
        return self._table.address, self._slots, self._tags.address, self._shards


def answers(
    kernel: Kernel, shards: int, questions: Sequence[bytes], seen: Iterable[MarkedBlock]
) -> list[bytes]:
    """For each block of questions the numbers of those whose step leads to a state with a mark.

    Costs a table of what is asked about, and a look into it for each state with a mark.
    """
    table = wanted(kernel, shards, questions)
    try:
        table.see(seen)
        return [table.answer(each) for each in questions]
    finally:
        table.close()


def wanted(kernel: Kernel, shards: int, questions: Sequence[bytes]) -> Wanted:
    """A table of the states that questions are about."""
    room = sum(map(len, questions)) // entry_size(kernel)
    while True:
        table = Wanted(kernel, shards, room)
        try:
            for each in questions:
                table.want(each)
        except Overflow:
            table.close()
            room *= 2
        else:
            return table


def put(kernel: Kernel, marks: bytearray, numbers: bytes, aim: Aim) -> None:
    """Mark the states with these numbers."""
    kernel.call["put_marks"](_address(marks), numbers, len(numbers) // 4, aim.mark)


def tally(marks: bytes | bytearray) -> tuple[int, int]:
    """The number of states without a mark, and with a way only beyond the scope."""
    return marks.count(0), marks.count(BEYOND)


def _address(marks: bytearray) -> int:
    """The memory address of the marks."""
    return ctypes.addressof(ctypes.c_char.from_buffer(marks)) if marks else 0
