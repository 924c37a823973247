"""Sorted runs: files of states in the order of their values, in compressed blocks, and pieces of them.

A block has the first of its states whole and of each other what differs from the one before, all lowest
bytes first, then all next ones: most of these are 0, which zstd makes small.  At the end of the file is an
index of the blocks, so that only those are read that may have a state.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from modelcheck.contract.engine import CannotResume
from modelcheck.explicit.codegen.search.sorted_states import DIGITS
from modelcheck.explicit.codegen.states.layout import WORD, Words
from modelcheck.explicit.disk.compression import compressed, decompressed
from modelcheck.explicit.native.arena import Region, words_of
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.processes.threads import together
from spec.frozen import frozen
from spec.reading import opened, reason_of

BLOCK = 30_000  # states; no power of two, or the bytes of one state would be in one set of the cache
AHEAD = 3  # blocks that are compressed or read at once
PLACE = struct.Struct("<QQ")  # of a block: where it begins, and how many states it has
TAIL = struct.Struct("<QQQ")  # of a file: where the index begins, its size as it is and uncompressed
Piece = tuple[int, int]  # states in order: their address, and how many; there until the next is asked for


def value_of(words: Words) -> int:
    """The number by which states are in order."""
    return sum(word << WORD * place for place, word in enumerate(words))


class Helpers:
    """Threads that help the one that searches: `count` of them, perhaps none."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = ThreadPoolExecutor(count) if count else None

    def together(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Do all tasks, the first in this thread, and wait."""
        together(tasks, self.pool)

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()


@frozen
class StoredRun:
    """What is to be known of a run to open it: its number, states and bytes, and the digest of its index."""

    number: int
    states: int
    size: int
    digest: str


class StateArrays:
    """Sorts, splits and compares arrays of states; `block` is how many states a block has."""

    def __init__(self, kernel: Kernel, block: int = BLOCK) -> None:
        self.call = kernel.sorted_states()
        self.words = kernel.layout.words
        self.width = 8 * self.words
        self.block = block
        self._counts = Region(8 * DIGITS * self.width)

    def sort(self, states: Region, other: Region, count: int) -> Piece:
        """The sorted states, in either of two regions."""
        is_other = self.call["sort_by_value"](states.address, other.address, count, self._counts.address)
        return (other if is_other else states).address, count

    def at(self, address: int, index: int) -> Words:
        """A state of an array."""
        return struct.unpack(f"<{self.words}Q", ctypes.string_at(address + self.width * index, self.width))

    def first_from(self, piece: Piece, value: int) -> int:
        """The index of the first state whose value is not less."""
        words = words_of([value >> WORD * n & (1 << WORD) - 1 for n in range(self.words)])
        return int(self.call["first_from"](*piece, words))

    def packed(self, address: int, count: int) -> bytes:
        """A block of states as it is in a file."""
        size = self.width * count
        buffer = ctypes.create_string_buffer(size)
        self.call["split_bytes"](address, count, buffer)
        return compressed(memoryview(buffer))

    def unpack(self, data: bytes, count: int, to: Region) -> None:
        """Store the states of a block. Raises ValueError."""
        self.call["join_bytes"](decompressed(data, self.width * count), count, to.address)

    def close(self) -> None:
        """Free its memory."""
        self._counts.close()


class SortedRun:
    """A run that is whole; its index is in memory, `width` + 48 bytes or so for each block."""

    def __init__(
        self, path: Path, arrays: StateArrays, stored: StoredRun, firsts: list[int], places: list[Piece]
    ) -> None:
        self.path = path
        self.stored = stored
        self._arrays = arrays
        self.firsts = firsts  # the value of the first state of each block
        self._places = places  # where each block begins, and how many states it has
        self._ends = [place for place, _ in places[1:]]

    def __len__(self) -> int:
        return self.stored.states

    @classmethod
    def known(cls, path: Path, arrays: StateArrays, stored: StoredRun) -> SortedRun:
        """A run that was written before. Raises CannotResume."""
        with _readable(path), opened(path) as file:
            if os.fstat(file.fileno()).st_size != stored.size or stored.size < TAIL.size:
                raise ValueError("another size")
            tail = os.pread(file.fileno(), TAIL.size, stored.size - TAIL.size)
            begin, size, whole = TAIL.unpack(tail)
            if begin + size + TAIL.size != stored.size or whole > stored.size * arrays.width + (1 << 16):
                raise ValueError("another index")
            index = decompressed(os.pread(file.fileno(), size, begin), whole)
        if hashlib.sha256(index + tail).hexdigest() != stored.digest:
            damaged(path)
        entry = PLACE.size + arrays.width
        firsts, places = [], []
        for at in range(0, len(index), entry):
            places.append(PLACE.unpack_from(index, at))
            firsts.append(int.from_bytes(index[at + PLACE.size : at + entry], "little"))
        run = cls(path, arrays, stored, firsts, [*places, (begin, 0)])
        if sum(count for _, count in places) != len(run):
            damaged(path)
        return run

    @property
    def blocks(self) -> range:
        """The indices of its blocks."""
        return range(len(self.firsts))

    def bytes_of(self, file: int, block: int) -> bytes:
        """A block as it is in the file, which is open."""
        begin, _ = self._places[block]
        return os.pread(file, self._ends[block] - begin, begin)

    def read(self, file: int, block: int, to: Region) -> int:
        """Store the states of a block; returns how many. Raises CannotResume."""
        _, count = self._places[block]
        with _readable(self.path):
            self._arrays.unpack(self.bytes_of(file, block), count, to)
        return count

    @contextmanager
    def file(self) -> Iterator[int]:
        """A context with the file open for reading. Raises CannotResume."""
        with _readable(self.path):
            file = opened(self.path)
        with file:
            yield file.fileno()

    def pieces(self, helpers: Helpers) -> Iterator[Piece]:
        """Its states, block by block; helpers read those that follow meanwhile."""
        largest = max(count for _, count in self._places)
        pool = helpers.pool
        buffers = [Region(self._arrays.width * largest) for _ in range(AHEAD if pool is not None else 1)]
        coming: deque[Future[int]] = deque()
        try:
            with self.file() as file:
                for block in self.blocks:
                    buffer = buffers[block % len(buffers)]
                    if pool is None:
                        yield buffer.address, self.read(file, block, buffer)
                        continue
                    while len(coming) < AHEAD and (next_ := block + len(coming)) < len(self.firsts):
                        other = buffers[next_ % AHEAD]
                        coming.append(pool.submit(self.read, file, next_, other))
                    yield buffer.address, coming[0].result()
                    coming.popleft()
        finally:
            for future in coming:
                future.exception()
            for buffer in buffers:
                buffer.close()

    def state(self, index: int) -> Words:
        """The state with an index."""
        buffer = Region(self._arrays.width * max(count for _, count in self._places))
        try:
            with self.file() as file:
                for block in self.blocks:
                    _, count = self._places[block]
                    if index < count:
                        self.read(file, block, buffer)
                        return self._arrays.at(buffer.address, index)
                    index -= count
        finally:
            buffer.close()
        raise IndexError(index)

    def overlaps(self, piece: Piece) -> Iterator[tuple[int, int, int]]:
        """The blocks that may have states of a piece, each with the first of them and the one behind them."""
        address, count = piece
        if count < len(self.firsts):
            yield from self._overlaps_of_few(address, count)
            return
        begin = 0
        for block, following in enumerate([*self.firsts[1:], None]):
            end = count if following is None else self._arrays.first_from(piece, following)
            if begin < end:
                yield block, begin, end
            begin = end

    def _overlaps_of_few(self, address: int, count: int) -> Iterator[tuple[int, int, int]]:
        """The same, where there are fewer states than blocks."""
        blocks = [
            max(0, bisect_right(self.firsts, value_of(self._arrays.at(address, index))) - 1)
            for index in range(count)
        ]
        starts = [index for index in range(count) if not index or blocks[index] != blocks[index - 1]]
        for begin, end in pairwise([*starts, count]):
            yield blocks[begin], begin, end


class RunWriter:
    """Writes a run; `finish` or `drop` it. `grow` counts bytes before they are written."""

    def __init__(
        self,
        path: Path,
        number: int,
        arrays: StateArrays,
        grow: Callable[[int], None],
        helpers: Helpers,
    ) -> None:
        self._path, self._number, self._arrays, self._grow, self._pool = (
            path,
            number,
            arrays,
            grow,
            helpers.pool,
        )
        self._file = path.open("xb")
        self._buffer = Region(arrays.width * arrays.block)
        self._filled = 0
        self._coming: deque[tuple[Future[bytes], int, int]] = deque()
        self._free: list[Region] = []
        self._index: list[tuple[int, int, int]] = []
        self._size, self._states = 0, 0

    def add(self, address: int, count: int) -> None:
        """Add states that follow those before."""
        width, block = self._arrays.width, self._arrays.block
        while count:
            some = min(count, block - self._filled)
            ctypes.memmove(self._buffer.address + width * self._filled, address, width * some)
            self._filled += some
            address, count = address + width * some, count - some
            if self._filled == block:
                self._flush()

    def _flush(self) -> None:
        """Compress the states in the buffer, and write what is compressed."""
        count, buffer = self._filled, self._buffer
        if not count:
            return
        first = value_of(self._arrays.at(buffer.address, 0))
        self._filled = 0
        if self._pool is None:
            self._write(self._arrays.packed(buffer.address, count), count, first)
            return
        self._coming.append((self._pool.submit(self._pack, buffer, count), count, first))
        self._buffer = self._free.pop() if self._free else Region(self._arrays.width * self._arrays.block)
        if len(self._coming) > AHEAD:
            self._write_next()

    def _pack(self, buffer: Region, count: int) -> bytes:
        """A block that is compressed, after which the buffer is free."""
        data = self._arrays.packed(buffer.address, count)
        self._free.append(buffer)
        return data

    def _write_next(self) -> None:
        """Write the first of the blocks that are being compressed."""
        future, count, first = self._coming.popleft()
        self._write(future.result(), count, first)

    def _write(self, data: bytes, count: int, first: int) -> None:
        """Write a compressed block."""
        self._grow(len(data))
        self._file.write(data)
        self._index.append((self._size, count, first))
        self._size += len(data)
        self._states += count

    def finish(self) -> SortedRun | None:
        """The run, whole; None, and no file, if it has no state."""
        self._flush()
        while self._coming:
            self._write_next()
        if not self._states:
            self.drop()
            return None
        width = self._arrays.width
        index = b"".join(PLACE.pack(at, n) + first.to_bytes(width, "little") for at, n, first in self._index)
        data = compressed(index)
        tail = TAIL.pack(self._size, len(data), len(index))
        self._grow(len(data) + len(tail))
        self._file.write(data + tail)
        self._close()
        size = self._size + len(data) + len(tail)
        stored = StoredRun(self._number, self._states, size, hashlib.sha256(index + tail).hexdigest())
        places = [(at, n) for at, n, _ in self._index]
        firsts = [first for *_, first in self._index]
        return SortedRun(self._path, self._arrays, stored, firsts, [*places, (self._size, 0)])

    def drop(self) -> None:
        """Remove what was written."""
        for future, *_ in self._coming:
            future.exception()
        self._coming.clear()
        self._close()
        self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        """Close the file, and free the buffers."""
        self._file.close()
        for buffer in [self._buffer, *self._free]:
            buffer.close()
        self._free = []


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A context in which what cannot be read, or is not as it was written, raises CannotResume."""
    try:
        yield
    except OSError as error:
        raise CannotResume(f"{path} cannot be read: {reason_of(error)}") from None
    except (ValueError, struct.error):
        damaged(path)


def damaged(path: Path) -> NoReturn:
    """Raise CannotResume for a run that is not as it was written."""
    raise CannotResume(f"{path} is damaged: remove the folder, and search again")
