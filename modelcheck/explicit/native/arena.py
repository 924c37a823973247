"""Memory outside of Python's: reserved at once, taken page by page as it is written."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Sequence

NORESERVE = 0x4000 if sys.platform == "linux" else 0  # takes nothing until it is written
HUGE = 1 << 21  # bytes from which on large pages are worth asking for


def words_of(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    """An array of 64-bit words, for a function to read or to write."""
    return (ctypes.c_uint64 * len(numbers))(*numbers)


class Region:
    """An anonymous memory mapping of `size` bytes, zero until written. Raises MemoryError."""

    def __init__(self, size: int, *, huge: bool = False) -> None:
        size = max(size + -size % mmap.PAGESIZE, mmap.PAGESIZE)
        try:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)
        except (OSError, ValueError, OverflowError) as error:
            raise MemoryError(str(error)) from None
        if huge and size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        self.size = size
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))

    def forget(self, size: int, start: int = 0) -> None:
        """Return pages to the system; they read as zero again."""
        size += -size % mmap.PAGESIZE
        if size > 0:
            self._map.madvise(mmap.MADV_DONTNEED, start, min(size, self.size - start))

    def clear(self, size: int) -> None:
        """Write zeros over the first bytes."""
        ctypes.memset(self.address, 0, size)

    def read(self, start: int, size: int) -> bytes:
        """The bytes of a part."""
        return self._map[start : start + size]

    def write(self, start: int, data: bytes) -> None:
        """Write bytes at an offset."""
        self._map[start : start + len(data)] = data

    def close(self) -> None:
        """Unmap the memory."""
        self._map.close()
