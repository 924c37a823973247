"""Of what was seen, the part that a few candidates may be in: where it is in files, their hashes say.

A file has the states of a shard in the order of their hashes, which are anywhere alike, so the place of a
candidate is known but for a few times the square root of their number.  What is read is looked at: where it
does not go beyond the candidate on both sides, the states of the shard are read whole.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import isqrt

from modelcheck.explicit.codegen.search.runtime import WAITS
from modelcheck.explicit.native.arena import words_of
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.storage.pieces import FilePiece, blocks
from spark_explore.storage.store import Store
from spec.frozen import frozen

FEW = 1 << 10  # candidates; where there are more, all is read
LOOK = 2_000  # states that are read in the time of a look, whatever it reads
HASH = 64  # bits


def nearby(
    kernel: Kernel, store: Store, pieces: Iterable[FilePiece], candidates: Sequence[bytes], shards: int
) -> Iterator[bytes]:
    """All states of the pieces that are candidates, and some more; blocks of them in no order.

    Costs reading the pieces, or, of few candidates, for each of them a look into each piece.
    Raises Damaged, OSError.
    """
    width = 8 * kernel.layout.words
    if sum(map(len, candidates)) > FEW * width:
        yield from blocks(store, pieces, width)
        return
    wanted = sorted(set(_hashes(kernel, candidates)))
    for piece in pieces:
        if piece.count <= LOOK:
            yield from blocks(store, [piece], width)
            continue
        for shard in range(piece.shard, piece.shard + len(piece.counts)):
            own = piece.of(shard, width)
            if own is not None:
                first, last = (-(-(each << HASH) // shards) for each in (shard, shard + 1))
                mine = wanted[bisect_left(wanted, first) : bisect_left(wanted, last)]
                yield from _of_shard(kernel, store, own, mine, shards)


def read_at_most(pieces: Iterable[FilePiece], candidates: int) -> int:
    """The states that `nearby` reads of pieces for a number of candidates; looks count as states."""
    if candidates > FEW:
        return sum(piece.count for piece in pieces)
    every = [(piece.count, len(piece.counts)) for piece in pieces]
    return sum(min(count, candidates * (LOOK + 2 * _margin(count // parts))) for count, parts in every)


def _of_shard(
    kernel: Kernel, store: Store, piece: FilePiece, wanted: Sequence[int], shards: int
) -> Iterator[bytes]:
    """The states of one shard's piece that may have these hashes, which are sorted."""
    count, width = piece.count, 8 * kernel.layout.words
    found = _stretches(count, wanted, shards)
    if sum(each.end - each.start + LOOK for each in found) >= count:
        yield from blocks(store, [piece], width)
        return
    for each in found:
        at = piece.start + width * each.start
        part = FilePiece(piece.name, at, piece.shard, (each.end - each.start,), 0)
        read = list(blocks(store, [part], width))
        low, high = kernel.call["hash"](read[0][:width]), kernel.call["hash"](read[-1][-width:])
        if (each.start > 0 and low >= each.least) or (each.end < count and high <= each.most):
            yield from blocks(store, [piece], width)
            return
        yield from read


@frozen
class FileStretch:
    """From and to which state to read, for candidates with hashes from the least to the most."""

    start: int
    end: int
    least: int
    most: int


def _stretches(count: int, wanted: Iterable[int], shards: int) -> list[FileStretch]:
    """Where to read among `count` states, in order and apart."""
    margin, found = _margin(count), list[FileStretch]()
    for hash_ in wanted:
        at = _place(hash_, count, shards)
        start, end, least = max(at - margin, 0), min(at + margin, count), hash_
        if found and start <= found[-1].end:
            last = found.pop()
            start, least = last.start, last.least
        found.append(FileStretch(start, end, least, hash_))
    return found


def _margin(count: int) -> int:
    """The states on each side of where one is to be: four standard deviations of their number before it."""
    return 2 * isqrt(count) + 1


def _place(hash_: int, count: int, shards: int) -> int:
    """Where a state with a hash is to be among those of its shard."""
    return (hash_ * shards & (1 << HASH) - 1) * count >> HASH


def _hashes(kernel: Kernel, candidates: Iterable[bytes]) -> Iterator[int]:
    """The hash of each candidate, whether or not it waits."""
    hash_, (word, bit) = kernel.call["hash"], kernel.layout.mark(WAITS)
    for state in struct.iter_unpack(f"<{kernel.layout.words}Q", b"".join(candidates)):
        words = list(state)
        words[word] &= ~bit
        yield hash_(words_of(words))
