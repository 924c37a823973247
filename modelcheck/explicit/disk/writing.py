"""Writing sorted runs, block by block, in the order of the values of their states."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from modelcheck.explicit.disk.compression import compressed
from modelcheck.explicit.disk.runs import (
    AHEAD,
    PLACE,
    TAG_SIZE,
    TAIL,
    Helpers,
    Place,
    RunIndex,
    StateArrays,
    digest_of,
)
from modelcheck.explicit.native.arena import Region

PackedBlock = tuple[bytes, bytes]  # states and tags, compressed


class RunWriter:
    """Writes a run: gives `write` its bytes from the first to the last. Close it."""

    def __init__(self, write: Callable[[bytes], object], arrays: StateArrays, helpers: Helpers) -> None:
        self._put, self._arrays, self._pool = write, arrays, helpers.pool
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
        self._put(states + tags)
        self._index.append(((self._size, count, self._size + len(states)), first))
        self._size += len(states) + len(tags)
        self._states += count

    def finish(self) -> RunIndex | None:
        """The index of the run, which is whole; None, and nothing is written, if it has no state."""
        self._flush()
        while self._coming:
            self._write_next()
        if not self._states:
            return None
        width, end = self._arrays.width, self._size
        index = b"".join(PLACE.pack(*place) + first.to_bytes(width, "little") for place, first in self._index)
        data = compressed(index)
        tail = TAIL.pack(end, len(data), len(index))
        self._put(data + tail)
        places = [place for place, _ in self._index]
        return RunIndex(
            self._states,
            end + len(data) + len(tail),
            digest_of(index, tail),
            [first for _, first in self._index],
            [*places, (end, 0, end)],
        )

    def close(self) -> None:
        """Wait for what is being compressed, and free the memory."""
        for future, *_ in self._coming:
            future.exception()
        self._coming.clear()
        for buffer in [self._buffer, *self._free]:
            buffer.close()
        self._free = []
