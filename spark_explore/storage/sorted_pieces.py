"""Where states are: sorted runs, compressed, of one shard each, as parts of files.

The format is that of a search on disk, `modelcheck/explicit/disk/runs.py`: in the order of their values,
in blocks of which an index says where they begin.
"""

from __future__ import annotations

import ctypes
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import Any

from modelcheck.explicit.disk.runs import Helpers, Piece, Read, RunIndex, SortedRun, StateArrays
from modelcheck.explicit.disk.writing import RunWriter
from modelcheck.explicit.native.arena import Region
from spark_explore.storage.pieces import changed, read_whole
from spark_explore.storage.store import Store
from spec.frozen import frozen

BLOCK = 1 << 13  # states: a thin level reads one for each candidate and run, and smaller ones take more room
TOGETHER = 1 << 22  # bytes that are read at once
SMALL = 1 << 16  # bytes of a run that is read whole
OPENED = 1 << 17  # blocks whose places are kept in memory
NO_HELP = Helpers(0)  # a task has one core


@frozen
class SortedPiece:
    """The states of a shard in a part of a file: from which byte, how many, and the digest of their index."""

    name: str
    start: int
    size: int
    shard: int
    count: int
    digest: str

    def as_json(self) -> list[Any]:
        """The piece as JSON data."""
        return [self.name, self.start, self.size, self.shard, self.count, self.digest]

    @property
    def blocks(self) -> int:
        """The number of its blocks."""
        return -(-self.count // BLOCK)


@frozen
class PieceBlocks:
    """Neighbouring blocks of a piece, from the `first` to before the `end`."""

    piece: SortedPiece
    first: int
    end: int

    @property
    def count(self) -> int:
        """The number of states."""
        return min(self.end * BLOCK, self.piece.count) - self.first * BLOCK


Watch = Callable[[str], AbstractContextManager[object]]  # what counts the time of what is done meanwhile
Sorted = tuple[int, Piece]  # a shard, states of it in order


def count_states(pieces: Iterable[SortedPiece | PieceBlocks]) -> int:
    """The number of states."""
    return sum(piece.count for piece in pieces)


def of_shard(pieces: Iterable[SortedPiece], shard: int) -> list[SortedPiece]:
    """The pieces with the states of one shard."""
    return [piece for piece in pieces if piece.shard == shard]


def split(pieces: Iterable[SortedPiece], most: int) -> list[PieceBlocks]:
    """The same states in stretches of at most `most` states, or one block."""
    step, found = max(most // BLOCK, 1), list[PieceBlocks]()
    for piece in pieces:
        for first in range(0, piece.blocks, step):
            found.append(PieceBlocks(piece, first, min(first + step, piece.blocks)))
    return found


class WatchedArrays(StateArrays):
    """Arrays of states whose time for compressing and decompressing is watched."""

    def __init__(self, call: Mapping[str, Any], words: int, watch: Watch, *, compresses: bool) -> None:
        super().__init__(call, words, BLOCK, compresses=compresses)
        self._watch = watch

    def packed(self, address: int, count: int) -> bytes:
        """The states of a block as they are in a file."""
        with self._watch("compress"):
            return super().packed(address, count)

    def unpack(self, data: bytes | memoryview, count: int, to: int) -> None:
        """Store the states of a block. Raises ValueError."""
        with self._watch("decompress"):
            super().unpack(data, count, to)


class SortedPieces:
    """Reads and writes states in a store. Costs, for each block of an opened piece, some 250 bytes of memory.

    What stays for a level only is not compressed beyond what neighbours share: a third instead of a fifth.
    Reading raises Damaged and OSError, writing OSError.
    """

    def __init__(
        self,
        store: Store,
        call: Mapping[str, Any],
        words: int,
        watch: Watch = lambda _: nullcontext(),
        *,
        stays: bool = True,
    ) -> None:
        self.store = store
        self.arrays = WatchedArrays(call, words, watch, compresses=stays)
        self._opened: OrderedDict[SortedPiece, SortedRun] = OrderedDict()
        self._blocks = 0

    def run(self, piece: SortedPiece) -> SortedRun:
        """The run that a piece is, with its index in memory."""
        if piece in self._opened:
            self._opened.move_to_end(piece)
            return self._opened[piece]
        source = StoredPiece(self.store, piece)
        found = self._opened[piece] = SortedRun(source, self.arrays, source.index(self.arrays.width))
        self._blocks += piece.blocks
        while self._blocks > OPENED and len(self._opened) > 1:
            self._blocks -= self._opened.popitem(last=False)[0].blocks
        return found

    def runs(self, pieces: Iterable[SortedPiece]) -> list[SortedRun]:
        """The runs that pieces are."""
        return [self.run(piece) for piece in pieces]

    def blocks(self, pieces: Iterable[SortedPiece | PieceBlocks]) -> Iterator[bytes]:
        """The states in blocks, each in order."""
        width = self.arrays.width
        with closing(Region(width * BLOCK)) as room:
            for each in pieces:
                some = PieceBlocks(each, 0, each.blocks) if isinstance(each, SortedPiece) else each
                for count in self.run(some.piece).each(range(some.first, some.end), room.address):
                    yield room.read(0, width * count)

    def at_hand(self, piece: SortedPiece, data: bytes) -> SortedRun:
        """The run that a piece is whose bytes these are."""
        source = PieceAtHand(piece, data)
        return SortedRun(source, self.arrays, source.index(self.arrays.width))

    def packed(self, name: str, states: Sequence[Sorted]) -> tuple[list[SortedPiece], list[bytes]]:
        """The pieces of a file with runs of these states, none of which is empty; and the bytes of each."""
        pieces, parts, start = list[SortedPiece](), list[bytes](), 0
        for shard, piece in states:
            made = list[bytes]()
            with closing(RunWriter(made.append, self.arrays, NO_HELP)) as writer:
                writer.add(*piece)
                index = writer.finish()
            assert index is not None
            pieces.append(SortedPiece(name, start, index.size, shard, index.states, index.digest))
            parts.append(b"".join(made))
            start += index.size
        return pieces, parts

    def write(self, name: str, states: Sequence[Sorted]) -> list[SortedPiece]:
        """Write runs of states, none of which is empty, to one file; nothing where there are none."""
        pieces, parts = self.packed(name, states)
        if parts:
            self.store.put(name, parts)
        return pieces


class StoredPiece:
    """The bytes of a piece in a store."""

    together = TOGETHER

    def __init__(self, store: Store, piece: SortedPiece) -> None:
        self._store = store
        self._piece = piece

    @contextmanager
    def opened(self) -> Iterator[Read]:
        """A context with what reads them; of a small one all at once."""
        piece, whole = self._piece, memoryview(b"")

        def read(begin: int, size: int) -> bytes:
            nonlocal whole
            if piece.size > SMALL:
                return read_whole(self._store, piece.name, piece.start + begin, size)
            if not whole:
                whole = memoryview(read_whole(self._store, piece.name, piece.start, piece.size))
            return bytes(whole[begin : begin + size])

        yield read

    @contextmanager
    def readable(self) -> Iterator[None]:
        """A context in which what is not as it was written raises Damaged."""
        try:
            yield
        except (ValueError, struct.error):
            raise changed(self._piece.name) from None

    def index(self, width: int) -> RunIndex:
        """The index. Raises Damaged, OSError."""
        piece = self._piece
        with self.opened() as read, self.readable():
            return RunIndex.read(read, width, piece.count, piece.size, piece.digest)


class PieceAtHand(StoredPiece):
    """The bytes of a piece in memory."""

    def __init__(self, piece: SortedPiece, data: bytes) -> None:
        self._piece = piece
        self._data = data

    @contextmanager
    def opened(self) -> Iterator[Read]:
        """A context with what reads them."""
        yield lambda begin, size: self._data[begin : begin + size]


def verify(store: Store, pieces: Iterable[SortedPiece], words: int) -> None:
    """Check the checksums of all blocks. Costs reading and decompressing them. Raises Damaged, OSError."""
    arrays = StateArrays({}, words, BLOCK)
    for piece in pieces:
        source = StoredPiece(store, piece)
        SortedRun(source, arrays, source.index(arrays.width)).check()


def address_of(block: bytes) -> int:
    """The memory address of the bytes, valid as long as they live."""
    return ctypes.cast(ctypes.c_char_p(block), ctypes.c_void_p).value or 0
