"""What is written for each state as it is: pieces of files, by shard."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spark_explore.storage.store import Store
from spec.frozen import frozen

READ = 1 << 22  # bytes read at once


class Damaged(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised for a file of a run that is not as it was written."""


def changed(name: str) -> Damaged:
    """The error of a file that is not as it was written."""
    return Damaged(f"{name} is not as it was written")


@frozen
class FilePiece:
    """A part of a file: offset, number of entries per shard, and checksum."""

    name: str
    start: int
    shard: int
    counts: tuple[int, ...]
    sum: int

    @property
    def count(self) -> int:
        """The number of entries."""
        return sum(self.counts)

    def of(self, shard: int, width: int) -> FilePiece | None:
        """The sub-piece with the entries of one shard, `width` bytes each; None if there are none."""
        at = shard - self.shard
        if not 0 <= at < len(self.counts) or not self.counts[at]:
            return None
        return FilePiece(self.name, self.start + width * sum(self.counts[:at]), shard, (self.counts[at],), 0)

    def as_json(self) -> list[Any]:
        """The piece as JSON data."""
        return [self.name, self.start, self.shard, list(self.counts), self.sum]


def piece_from_json(data: Sequence[Any]) -> FilePiece:
    """The inverse of `FilePiece.as_json`."""
    name, start, shard, counts, sum_ = data
    return FilePiece(name, start, shard, tuple(counts), sum_)


def of_shard(pieces: Iterable[FilePiece], shard: int, width: int) -> list[FilePiece]:
    """The pieces with the entries of one shard."""
    found = (piece.of(shard, width) for piece in pieces)
    return [piece for piece in found if piece is not None]


def blocks(store: Store, pieces: Iterable[FilePiece], width: int) -> Iterator[bytes]:
    """The entries in blocks of a few megabytes. Raises Damaged, OSError."""
    step = max(READ // width, 1) * width
    for piece in pieces:
        end = piece.start + width * piece.count
        for start in range(piece.start, end, step):
            size = min(step, end - start)
            yield read_whole(store, piece.name, start, size)


def read_whole(store: Store, name: str, start: int, size: int) -> bytes:
    """A number of bytes of a file. Raises Damaged, OSError."""
    found = store.read(name, start, size)
    if len(found) != size:
        raise Damaged(f"{name} is shorter than it was")
    return found


def verify(store: Store, pieces: Iterable[FilePiece], width: int) -> None:
    """Check the files' checksums. Costs reading them. Raises Damaged, OSError."""
    for piece in pieces:
        sum_ = 0
        for block in blocks(store, [piece], width):
            sum_ = zlib.crc32(block, sum_)
        if sum_ != piece.sum:
            raise changed(piece.name)
