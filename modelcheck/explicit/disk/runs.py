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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

from modelcheck.contract.engine import CannotResume
from modelcheck.explicit.codegen.search.sorted_states import DIGITS, TAG, unit
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.compression import compressed, decompressed
from modelcheck.explicit.native.arena import Region
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
Read = Callable[[int, int], bytes]  # of a file: from where, and how many; fewer at its end
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
    """Sorts, splits and compares arrays of states; `block` is how many states a block has.

    What is read once, soon after it is written, is not worth compressing beyond that.
    """

    def __init__(
        self, call: Mapping[str, Any], words: int, block: int = BLOCK, *, compresses: bool = True
    ) -> None:
        self.call = call
        self.words = words
        self.width = 8 * words
        self.block = block
        self._compresses = compresses
        self._counts = Region(8 * DIGITS * self.width)

    def sort(self, states: int, other: int, count: int) -> Piece:
        """The sorted states, at either of two addresses."""
        is_other = self.call["sort_by_value"](states, other, count, self._counts.address)
        return (other if is_other else states), count

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
        states = memoryview(buffer)[:size]
        return compressed(states) if self._compresses else bytes(states)

    def unpack(self, data: bytes | memoryview, count: int, to: int) -> None:
        """Store the states of a block. Raises ValueError."""
        split = self.split(data, count)
        if len(split) < 2 * count or not self.call["join_bytes"](split, len(split), count, to):
            raise ValueError("another size")

    def split(self, data: bytes | memoryview, count: int) -> bytes:
        """The states of a block, split into bytes. Raises ValueError."""
        return decompressed(data, self._most_split(count)) if self._compresses else bytes(data)

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


@frozen
class RunIndex:
    """Where the blocks of a run are, `width` + 48 bytes or so for each, and what shows that it is its own."""

    states: int
    size: int
    digest: str
    firsts: list[int]  # the value of the first state of each block
    places: list[Place]  # of each block, and where the last one ends

    @classmethod
    def read(cls, read: Read, width: int, states: int, size: int, digest: str) -> RunIndex:
        """The index of a run with these states and bytes. Raises ValueError, OSError, struct.error."""
        tail = read(size - TAIL.size, TAIL.size)
        begin, packed, whole = TAIL.unpack(tail)
        if begin + packed + TAIL.size != size or whole > size * width + (1 << 16):
            raise ValueError("another index")
        data = decompressed(read(begin, packed), whole)
        if len(data) != whole or digest_of(data, tail) != digest:
            raise ValueError("another index")
        entry = PLACE.size + width
        firsts, places = [], []
        for at in range(0, len(data), entry):
            places.append(PLACE.unpack_from(data, at))
            firsts.append(int.from_bytes(data[at + PLACE.size : at + entry], "little"))
        if sum(count for _, count, _ in places) != states:
            raise ValueError("another number of states")
        return cls(states, size, digest, firsts, [*places, (begin, 0, begin)])


def digest_of(index: bytes, tail: bytes) -> str:
    """The digest of an index as it is in a file, and of what follows it."""
    return hashlib.sha256(index + tail).hexdigest()


class RunSource(Protocol):
    """Where the bytes of a run are; `together` are worth reading at once, where more than a block is read."""

    together: int

    def opened(self) -> AbstractContextManager[Read]:
        """A context with what reads them."""
        ...

    def readable(self) -> AbstractContextManager[None]:
        """A context in which an error says, as the source does, what cannot be read or was changed."""
        ...


class RunFile:
    """A run in a file of its own. Raises CannotResume where it cannot be read."""

    together = 0

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def opened(self) -> Iterator[Read]:
        """A context with the file open for reading."""
        with self.readable():
            file = opened(self.path)
        with file:
            descriptor = file.fileno()

            def read(begin: int, size: int) -> bytes:
                return os.pread(descriptor, size, begin)

            yield read

    @contextmanager
    def readable(self) -> Iterator[None]:
        """A context in which an error of reading raises CannotResume."""
        try:
            yield
        except OSError as error:
            raise CannotResume(f"{self.path} cannot be read: {reason_of(error)}") from None
        except (ValueError, struct.error):
            damaged(self.path)

    def index(self, width: int, stored: StoredRun) -> RunIndex:
        """The index of the run that was written there. Raises CannotResume."""
        with self.readable():
            if self.path.stat().st_size != stored.size:
                raise ValueError("another size")
            with self.opened() as read:
                return RunIndex.read(read, width, stored.states, stored.size, stored.digest)


class SortedRun:
    """A run that is whole, with its index in memory; its owner knows it by its number."""

    def __init__(self, source: RunSource, arrays: StateArrays, index: RunIndex, number: int = 0) -> None:
        self.stored = StoredRun(number, index.states, index.size, index.digest)
        self._source = source
        self._arrays = arrays
        self.firsts, self._places = index.firsts, index.places

    def __len__(self) -> int:
        return self.stored.states

    @property
    def blocks(self) -> range:
        """The indices of its blocks."""
        return range(len(self.firsts))

    @property
    def largest(self) -> int:
        """The number of states of the largest block."""
        return max(count for _, count, _ in self._places)

    def read(self, read: Read, block: int, to: int) -> int:
        """Store the states of a block; returns how many. Raises as its source."""
        begin, count, end = self._places[block]
        with self._source.readable():
            self._arrays.unpack(read(begin, end - begin), count, to)
        return count

    def read_tags(self, read: Read, block: int, more: int, to: int) -> None:
        """Store the tags of the states of a block, each and `more`. Raises as its source."""
        _, count, begin = self._places[block]
        end, *_ = self._places[block + 1]
        with self._source.readable():
            self._arrays.unpack_tags(read(begin, end - begin), count, more, to)

    def each(self, blocks: Sequence[int], to: int) -> Iterator[int]:
        """Store the states of each of some blocks, which ascend, before the next; yields how many."""
        for data, count in self._packed(blocks):
            with self._source.readable():
                self._arrays.unpack(data, count, to)
            yield count

    def store(self, to: int) -> None:
        """Store all states, one behind the other."""
        for data, count in self._packed(self.blocks):
            with self._source.readable():
                self._arrays.unpack(data, count, to)
            to += self._arrays.width * count

    def check(self) -> None:
        """Look at the checksum of each block. Raises as its source."""
        for data, count in self._packed(self.blocks):
            with self._source.readable():
                self._arrays.split(data, count)

    def _packed(self, blocks: Sequence[int]) -> Iterator[tuple[memoryview, int]]:
        """The bytes of each of some blocks, and its number of states."""
        with self._source.opened() as read:
            for first, end in self._together(blocks):
                begin, behind = self._places[blocks[first]][0], self._places[blocks[end - 1]][2]
                with self._source.readable():
                    data = memoryview(read(begin, behind - begin))
                for block in blocks[first:end]:
                    start, count, stop = self._places[block]
                    yield data[start - begin : stop - begin], count

    def _together(self, blocks: Sequence[int]) -> Iterator[tuple[int, int]]:
        """From which to which of some blocks are read at once: neighbours, up to what the source says."""
        first = 0
        for at, block in enumerate(blocks):
            _, _, end = self._places[block]
            follows = at > first and blocks[at - 1] + 1 == block
            if at > first and not (follows and end - self._places[blocks[first]][0] <= self._source.together):
                yield first, at
                first = at
        if blocks:
            yield first, len(blocks)

    def pieces(self, helpers: Helpers) -> Iterator[Piece]:
        """Its states, block by block; helpers read those that follow meanwhile."""

        def load(read: Read, block: int, to: int) -> Piece:
            return to, self.read(read, block, to)

        return self._loaded(helpers, load, self._arrays.width)

    def tagged_pieces(self, helpers: Helpers, more: int) -> Iterator[TaggedPiece]:
        """The same with their tags, each and `more`."""
        behind = self._arrays.width * self.largest

        def load(read: Read, block: int, to: int) -> TaggedPiece:
            self.read_tags(read, block, more, to + behind)
            return to, self.read(read, block, to), to + behind

        return self._loaded(helpers, load, self._arrays.width + TAG_SIZE)

    def _loaded(self, helpers: Helpers, load: Callable[[Read, int, int], P], size: int) -> Iterator[P]:
        """What is loaded of each block, into memory of `size` bytes a state."""
        pool = helpers.pool
        buffers = [Region(size * self.largest) for _ in range(AHEAD if pool is not None else 1)]
        coming: deque[Future[P]] = deque()
        try:
            with self._source.opened() as read:
                for block in self.blocks:
                    if pool is None:
                        yield load(read, block, buffers[0].address)
                        continue
                    while len(coming) < AHEAD and (next_ := block + len(coming)) < len(self.firsts):
                        coming.append(pool.submit(load, read, next_, buffers[next_ % AHEAD].address))
                    yield coming[0].result()
                    coming.popleft()
        finally:
            for future in coming:
                future.exception()
            for buffer in buffers:
                buffer.close()

    def state(self, index: int) -> Words:
        """The state with an index."""
        with self._source.opened() as read, closing(Region(self._arrays.width * self.largest)) as buffer:
            for block in self.blocks:
                _, count, _ = self._places[block]
                if index < count:
                    self.read(read, block, buffer.address)
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


def damaged(path: Path) -> NoReturn:
    """Raise CannotResume for a run that is not as it was written."""
    raise CannotResume(f"{path} is damaged: remove the folder, and search again")
