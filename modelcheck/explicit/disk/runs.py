"""Sorted runs: files of states in the order of their values, in compressed blocks, and pieces of them.

A block has the first of its states whole and of each other what differs from the one before, which zstd
makes smaller still; and next to them their tags, small numbers, if there are any.  At the end of the file
is an index of the blocks, so that only those are read that may have a state.
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
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NoReturn, TypeVar

from modelcheck.contract.engine import CannotResume
from modelcheck.explicit.codegen.search.sorted_states import DIGITS, TAG, unit
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.compression import compressed, decompressed
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.processes.threads import together
from spec.frozen import frozen
from spec.reading import opened, reason_of

BLOCK = 60_000  # states
AHEAD = 3  # blocks that are compressed or read at once
PLACE = struct.Struct("<QQQ")  # of a block: where it begins, how many states it has, where their tags are
TAIL = struct.Struct("<QQQ")  # of a file: where the index begins, its size as it is and uncompressed
TAG_SIZE = TAG // 8
Piece = tuple[int, int]  # states in order: their address, and how many; there until the next is asked for
TaggedPiece = tuple[int, int, int]  # the same, and the address of their tags
Place = tuple[int, int, int]  # of a block, as in the index
PackedBlock = tuple[bytes, bytes]  # states and tags, compressed
P = TypeVar("P", Piece, TaggedPiece)


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

    def value_at(self, address: int, index: int) -> int:
        """The value of a state of an array."""
        return int.from_bytes(ctypes.string_at(address + self.width * index, self.width), "little")

    def first_from(self, piece: Piece, value: int) -> int:
        """The index of the first state whose value is not less."""
        return int(self.call["first_from"](*piece, value.to_bytes(self.width, "little")))

    def packed(self, address: int, count: int) -> bytes:
        """The states of a block as they are in a file."""
        buffer = ctypes.create_string_buffer(self._most_split(count))
        size = self.call["split_bytes"](address, count, buffer)
        return compressed(memoryview(buffer)[:size])

    def unpack(self, data: bytes, count: int, to: int) -> None:
        """Store the states of a block. Raises ValueError."""
        split = decompressed(data, self._most_split(count))
        if len(split) < 2 * count or not self.call["join_bytes"](split, len(split), count, to):
            raise ValueError("another size")

    def _most_split(self, count: int) -> int:
        """The most bytes that states have when they are split."""
        return (self.width + unit(self.words)) * count + self.width

    def packed_tags(self, address: int, count: int) -> bytes:
        """The tags of a block as they are in a file."""
        buffer = ctypes.create_string_buffer(TAG_SIZE * count)
        self.call["split_tags"](address, count, buffer)
        return compressed(memoryview(buffer))

    def unpack_tags(self, data: bytes, count: int, more: int, to: int) -> None:
        """Store the tags of a block, 0 without data, each and `more`. Raises ValueError."""
        size = TAG_SIZE * count
        split = decompressed(data, size) if data else bytes(size)
        if len(split) != size:
            raise ValueError("another size")
        self.call["join_tags"](split, count, more, to)

    def close(self) -> None:
        """Free its memory."""
        self._counts.close()


class SortedRun:
    """A run that is whole; its index is in memory, `width` + 48 bytes or so for each block."""

    def __init__(
        self, path: Path, arrays: StateArrays, stored: StoredRun, firsts: list[int], places: list[Place]
    ) -> None:
        self.path = path
        self.stored = stored
        self._arrays = arrays
        self.firsts = firsts  # the value of the first state of each block
        self._places = places  # of each block, and where the last one ends

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
            if len(index) != whole:
                raise ValueError("another size")
        if hashlib.sha256(index + tail).hexdigest() != stored.digest:
            damaged(path)
        entry = PLACE.size + arrays.width
        firsts, places = [], []
        for at in range(0, len(index), entry):
            places.append(PLACE.unpack_from(index, at))
            firsts.append(int.from_bytes(index[at + PLACE.size : at + entry], "little"))
        run = cls(path, arrays, stored, firsts, [*places, (begin, 0, begin)])
        if sum(count for _, count, _ in places) != len(run):
            damaged(path)
        return run

    @property
    def blocks(self) -> range:
        """The indices of its blocks."""
        return range(len(self.firsts))

    @property
    def largest(self) -> int:
        """The number of states of the largest block."""
        return max(count for _, count, _ in self._places)

    def read(self, file: int, block: int, to: int) -> int:
        """Store the states of a block; returns how many. Raises CannotResume."""
        begin, count, end = self._places[block]
        with _readable(self.path):
            self._arrays.unpack(os.pread(file, end - begin, begin), count, to)
        return count

    def read_tags(self, file: int, block: int, more: int, to: int) -> None:
        """Store the tags of the states of a block, each and `more`. Raises CannotResume."""
        _, count, begin = self._places[block]
        end, *_ = self._places[block + 1]
        with _readable(self.path):
            self._arrays.unpack_tags(os.pread(file, end - begin, begin), count, more, to)

    @contextmanager
    def file(self) -> Iterator[int]:
        """A context with the file open for reading. Raises CannotResume."""
        with _readable(self.path):
            file = opened(self.path)
        with file:
            yield file.fileno()

    def pieces(self, helpers: Helpers) -> Iterator[Piece]:
        """Its states, block by block; helpers read those that follow meanwhile."""

        def load(file: int, block: int, to: int) -> Piece:
            return to, self.read(file, block, to)

        return self._loaded(helpers, load, self._arrays.width)

    def tagged_pieces(self, helpers: Helpers, more: int) -> Iterator[TaggedPiece]:
        """The same with their tags, each and `more`."""
        behind = self._arrays.width * self.largest

        def load(file: int, block: int, to: int) -> TaggedPiece:
            self.read_tags(file, block, more, to + behind)
            return to, self.read(file, block, to), to + behind

        return self._loaded(helpers, load, self._arrays.width + TAG_SIZE)

    def _loaded(self, helpers: Helpers, load: Callable[[int, int, int], P], size: int) -> Iterator[P]:
        """What is loaded of each block, into memory of `size` bytes a state."""
        pool = helpers.pool
        buffers = [Region(size * self.largest) for _ in range(AHEAD if pool is not None else 1)]
        coming: deque[Future[P]] = deque()
        try:
            with self.file() as file:
                for block in self.blocks:
                    if pool is None:
                        yield load(file, block, buffers[0].address)
                        continue
                    while len(coming) < AHEAD and (next_ := block + len(coming)) < len(self.firsts):
                        coming.append(pool.submit(load, file, next_, buffers[next_ % AHEAD].address))
                    yield coming[0].result()
                    coming.popleft()
        finally:
            for future in coming:
                future.exception()
            for buffer in buffers:
                buffer.close()

    def state(self, index: int) -> Words:
        """The state with an index."""
        with self.file() as file, closing(Region(self._arrays.width * self.largest)) as buffer:
            for block in self.blocks:
                _, count, _ = self._places[block]
                if index < count:
                    self.read(file, block, buffer.address)
                    return self._arrays.at(buffer.address, index)
                index -= count
        raise IndexError(index)

    def cuts(self, parts: int) -> tuple[int, ...]:
        """The values at which to cut it into that many parts, or fewer, of about as many states each."""
        places = {len(self.firsts) * part // parts for part in range(1, parts)}
        return tuple(self.firsts[place] for place in sorted(places))

    def overlaps(self, piece: Piece) -> Iterator[tuple[int, int, int]]:
        """The blocks that may have states of a piece, each with the first of them and the one behind them."""
        address, count = piece
        lowest, highest = (self._block_of(address, index) for index in (0, count - 1))
        if count < highest - lowest:
            yield from self._overlaps_of_few(address, count)
            return
        begin = 0
        for block in range(lowest, highest + 1):
            end = count if block == highest else self._arrays.first_from(piece, self.firsts[block + 1])
            if begin < end:
                yield block, begin, end
            begin = end

    def _overlaps_of_few(self, address: int, count: int) -> Iterator[tuple[int, int, int]]:
        """The same, where there are fewer states than blocks."""
        blocks = [self._block_of(address, index) for index in range(count)]
        starts = [index for index in range(count) if not index or blocks[index] != blocks[index - 1]]
        for begin, end in pairwise([*starts, count]):
            yield blocks[begin], begin, end

    def _block_of(self, address: int, index: int) -> int:
        """The block that may have a state of an array."""
        return max(0, bisect_right(self.firsts, self._arrays.value_at(address, index)) - 1)


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
        self._tags = arrays.width * arrays.block  # where they are in a buffer
        self._buffer = self._new_buffer()
        self._filled, self._is_tagged = 0, False
        self._coming: deque[tuple[Future[PackedBlock], int, int]] = deque()
        self._free: list[Region] = []
        self._index: list[tuple[Place, int]] = []
        self._size, self._states = 0, 0

    def _new_buffer(self) -> Region:
        """Memory for the states of a block, and for their tags."""
        return Region(self._tags + TAG_SIZE * self._arrays.block)

    def add(self, address: int, count: int, tags: int = 0) -> None:
        """Add states that follow those before; `tags` is the address of theirs, if they have any."""
        width, block = self._arrays.width, self._arrays.block
        self._is_tagged = tags != 0
        while count:
            some = min(count, block - self._filled)
            ctypes.memmove(self._buffer.address + width * self._filled, address, width * some)
            if tags:
                to = self._buffer.address + self._tags + TAG_SIZE * self._filled
                ctypes.memmove(to, tags, TAG_SIZE * some)
                tags += TAG_SIZE * some
            self._filled += some
            address, count = address + width * some, count - some
            if self._filled == block:
                self._flush()

    def _flush(self) -> None:
        """Compress the states in the buffer, and write what is compressed."""
        count, buffer = self._filled, self._buffer
        if not count:
            return
        first = self._arrays.value_at(buffer.address, 0)
        self._filled = 0
        if self._pool is None:
            self._write(self._packed(buffer, count), count, first)
            return
        self._coming.append((self._pool.submit(self._pack, buffer, count), count, first))
        self._buffer = self._free.pop() if self._free else self._new_buffer()
        if len(self._coming) > AHEAD:
            self._write_next()

    def _pack(self, buffer: Region, count: int) -> PackedBlock:
        """A block that is compressed, after which the buffer is free."""
        data = self._packed(buffer, count)
        self._free.append(buffer)
        return data

    def _packed(self, buffer: Region, count: int) -> PackedBlock:
        """A block that is compressed."""
        tags = b""
        if self._is_tagged:
            tags = self._arrays.packed_tags(buffer.address + self._tags, count)
        return self._arrays.packed(buffer.address, count), tags

    def _write_next(self) -> None:
        """Write the first of the blocks that are being compressed."""
        future, count, first = self._coming.popleft()
        self._write(future.result(), count, first)

    def _write(self, data: PackedBlock, count: int, first: int) -> None:
        """Write a compressed block."""
        states, tags = data
        self._grow(len(states) + len(tags))
        self._file.write(states + tags)
        self._index.append(((self._size, count, self._size + len(states)), first))
        self._size += len(states) + len(tags)
        self._states += count

    def finish(self) -> SortedRun | None:
        """The run, whole; None, and no file, if it has no state."""
        self._flush()
        while self._coming:
            self._write_next()
        if not self._states:
            self.drop()
            return None
        width, end = self._arrays.width, self._size
        index = b"".join(PLACE.pack(*place) + first.to_bytes(width, "little") for place, first in self._index)
        data = compressed(index)
        tail = TAIL.pack(end, len(data), len(index))
        self._grow(len(data) + len(tail))
        self._file.write(data + tail)
        self._close()
        size = end + len(data) + len(tail)
        stored = StoredRun(self._number, self._states, size, hashlib.sha256(index + tail).hexdigest())
        places = [place for place, _ in self._index]
        firsts = [first for _, first in self._index]
        return SortedRun(self._path, self._arrays, stored, firsts, [*places, (end, 0, end)])

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
