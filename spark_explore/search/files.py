"""Blocks of states become files of a run, and where they are."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import address_of, shares
from spark_explore.storage.pieces import FilePiece
from spark_explore.storage.run import left_name, new_name
from spark_explore.storage.store import Store


class FileTarget(NamedTuple):
    """Where to write: the store, the level, and the shard, or None for all together."""

    store: Store
    shards: int
    level: int
    shard: int | None = None


def write(kernel: Kernel, place: FileTarget, blocks: Sequence[bytes]) -> list[list[FilePiece]]:
    """Write blocks to one file; for each block its piece, or none if it is empty. Raises OSError.

    Nothing counts that no manifest names, so whoever fails or is late leaves nothing behind but a file.
    """
    if not any(blocks):
        return [[] for _ in blocks]
    name, start, found = new_name(place.level, place.shard), 0, list[list[FilePiece]]()
    for block in blocks:
        found.append([_piece(kernel, place, name, start, block)] if block else [])
        start += len(block)
    place.store.put(name, blocks)
    return found


def leave(kernel: Kernel, place: FileTarget, block: bytes) -> list[FilePiece]:
    """Write a block to a temporary file of the level; its piece, or none if it is empty."""
    if not block:
        return []
    name = left_name(place.level)
    place.store.put(name, [block])
    count = len(block) // (8 * kernel.layout.words)
    return [FilePiece(name, 0, 0, tuple(shares(kernel, address_of(block), count, place.shards)), 0)]


def _piece(kernel: Kernel, place: FileTarget, name: str, start: int, block: bytes) -> FilePiece:
    """The piece of a file that a block is."""
    count = len(block) // (8 * kernel.layout.words)
    if place.shard is None:
        counts = shares(kernel, address_of(block), count, place.shards)
        return FilePiece(name, start, 0, tuple(counts), zlib.crc32(block))
    return FilePiece(name, start, place.shard, (count,), zlib.crc32(block))


def by_depth(depths: Sequence[int], pieces: Sequence[Sequence[FilePiece]]) -> dict[int, list[FilePiece]]:
    """The pieces grouped by depth."""
    return {depth: list(each) for depth, each in zip(depths, pieces, strict=True) if each}
