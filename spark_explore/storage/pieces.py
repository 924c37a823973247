"""Where states are: pieces of files, by shard."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spark_explore.storage.store import Store
from spec.frozen import frozen

READ = 1 << 22  # bytes read at once


class Damaged(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised for a file of a run that is not as it was written."""


@frozen
class FilePiece:
    """A part of a file of states: offset, number of states per shard, and checksum."""

    name: str
    start: int
    shard: int
    counts: tuple[int, ...]
    sum: int

    @property
    def count(self) -> int:
        """The number of states."""
        return sum(self.counts)

    def of(self, shard: int, width: int) -> FilePiece | None:
        """The sub-piece with the states of one shard, `width` bytes each; None if there are none."""
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
    """The pieces with the states of one shard."""
    found = (piece.of(shard, width) for piece in pieces)
    return [piece for piece in found if piece is not None]


def count_states(pieces: Iterable[FilePiece]) -> int:
    """The number of states."""
    return sum(piece.count for piece in pieces)


def split(pieces: Iterable[FilePiece], most: int, width: int) -> list[FilePiece]:
    """The same states in pieces of at most `most` states, without shards."""
    found = []
    for piece in pieces:
        for first in range(0, piece.count, most):
            count = min(most, piece.count - first)
            found.append(FilePiece(piece.name, piece.start + width * first, 0, (count,), 0))
    return found


def blocks(store: Store, pieces: Iterable[FilePiece], width: int) -> Iterator[bytes]:
    """The states in blocks of a few megabytes. Raises Damaged, OSError."""
    step = max(READ // width, 1) * width
    for piece in pieces:
        end = piece.start + width * piece.count
        for start in range(piece.start, end, step):
            size = min(step, end - start)
            found = store.read(piece.name, start, size)
            if len(found) != size:
                raise Damaged(f"{piece.name} is shorter than it was")
            yield found


def verify(store: Store, pieces: Iterable[FilePiece], width: int) -> None:
    """Check the files' checksums. Costs reading them. Raises Damaged, OSError."""
    for piece in pieces:
        sum_ = 0
        for block in blocks(store, [piece], width):
            sum_ = zlib.crc32(block, sum_)
        if sum_ != piece.sum:
            raise Damaged(f"{piece.name} is not as it was written")
