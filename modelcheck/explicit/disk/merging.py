"""Sorted states from several sources as one, each once; and without those that are in runs."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import cast

from modelcheck.explicit.codegen.search.sorted_states import (
    FROM,
    FROM_END,
    FROM_TAGS,
    INTO,
    INTO_END,
    INTO_TAGS,
    OTHER,
    OTHER_END,
    OTHER_TAGS,
)
from modelcheck.explicit.disk.runs import (
    TAG_SIZE,
    Helpers,
    P,
    Piece,
    SortedRun,
    StateArrays,
    TaggedPiece,
)
from modelcheck.explicit.native.arena import Region, words_of

AT_ONCE = 8  # blocks of what was merged, which are looked up together
SIDES = ((FROM, FROM_END, FROM_TAGS), (OTHER, OTHER_END, OTHER_TAGS))
Frame = ctypes.Array[ctypes.c_uint64]
Overlap = tuple[SortedRun, int, int, int]  # a block, and the states of a piece that may be there


def merged(arrays: StateArrays, sources: Sequence[Iterator[Piece]]) -> Iterator[Piece]:
    """The states of sorted sources in order, each once."""
    return _merged(sources, partial(_of_two, arrays)) if sources else iter(())


def merged_with_tags(arrays: StateArrays, sources: Sequence[Iterator[TaggedPiece]]) -> Iterator[TaggedPiece]:
    """The same with their tags."""
    return _merged(sources, partial(_of_two_with_tags, arrays))


def _merged(
    sources: Sequence[Iterator[P]], of_two: Callable[[Iterator[P], Iterator[P]], Iterator[P]]
) -> Iterator[P]:
    """The states of sorted sources, two at a time."""
    if len(sources) == 1:
        return sources[0]
    middle = len(sources) // 2
    return of_two(_merged(sources[:middle], of_two), _merged(sources[middle:], of_two))


def _of_two(arrays: StateArrays, one: Iterator[Piece], other: Iterator[Piece]) -> Iterator[Piece]:
    """The states of two sorted sources."""
    sources = [((address, count, 0) for address, count in source) for source in (one, other)]
    for address, count, _ in _from_both(arrays, "merge_sorted", sources, arrays.block * AT_ONCE):
        yield address, count


def _of_two_with_tags(
    arrays: StateArrays, one: Iterator[TaggedPiece], other: Iterator[TaggedPiece]
) -> Iterator[TaggedPiece]:
    """The same with their tags."""
    return _from_both(arrays, "merge_tagged", [one, other], arrays.block)


def _from_both(
    arrays: StateArrays, merge: str, sources: Sequence[Iterator[TaggedPiece]], most: int
) -> Iterator[TaggedPiece]:
    """The states of two sorted sources, and tags where both have them, at most `most` at once."""
    frame, width = words_of([0] * 9), arrays.width
    with closing(Region((width + TAG_SIZE) * most)) as room:
        tags = room.address + width * most
        for side, source in zip(SIDES, sources, strict=True):
            _refill(frame, side, source, width)
        while frame[FROM] and frame[OTHER]:
            frame[INTO], frame[INTO_END], frame[INTO_TAGS] = room.address, tags, tags
            while frame[FROM] and frame[OTHER] and frame[INTO] < frame[INTO_END]:
                arrays.call[merge](frame)
                for side, source in zip(SIDES, sources, strict=True):
                    if frame[side[0]] == frame[side[1]]:
                        _refill(frame, side, source, width)
            yield room.address, (frame[INTO] - room.address) // width, tags
        for (begin, end, own), source in zip(SIDES, sources, strict=True):
            if frame[begin]:
                yield frame[begin], (frame[end] - frame[begin]) // width, frame[own]
                yield from source


def _refill(frame: Frame, side: tuple[int, int, int], source: Iterator[TaggedPiece], width: int) -> None:
    """Set where the next piece of a source is; 0 if there is none."""
    begin, end, own = side
    address, count, tags = next(source, (0, 0, 0))
    frame[begin], frame[end], frame[own] = address, address + width * count, tags


def subtracted(
    arrays: StateArrays, pieces: Iterable[Piece], seen: Sequence[SortedRun], helpers: Helpers
) -> Iterator[Piece]:
    """The states of sorted pieces that are in none of the runs; the pieces are changed.

    Of a run the blocks are read that may have one of them.
    """
    for address, count in pieces:
        with closing(Region(count)) as marks:
            found = [(run, *overlap) for run in seen for overlap in run.overlaps((address, count))]
            threads = 1 + helpers.count
            helpers.together(
                [partial(_mark, arrays, address, found[n::threads], marks) for n in range(threads)]
            )
            left = arrays.call["drop"](address, count, marks.address)
        if left:
            yield address, left


def _mark(arrays: StateArrays, address: int, overlaps: Sequence[Overlap], marks: Region) -> None:
    """Mark the states that are in the blocks."""
    with closing(Region(arrays.width * arrays.block)) as buffer:
        for run, blocks in groupby(overlaps, key=itemgetter(0)):
            with run.file() as file:
                for _, block, begin, end in blocks:
                    count = run.read(file, block, buffer.address)
                    states = address + arrays.width * begin
                    arrays.call["subtract"](states, end - begin, buffer.address, count, marks.address + begin)


def by_part(
    arrays: StateArrays, pieces: Iterable[P], cuts: Sequence[int]
) -> Iterator[tuple[int, Iterator[P]]]:
    """Sorted pieces by which of the `cuts` are not above their states, each part before the next is taken."""
    for part, some in groupby(_cut(arrays, pieces, cuts), key=itemgetter(0)):
        yield part, map(itemgetter(1), some)


def _cut(arrays: StateArrays, pieces: Iterable[P], cuts: Sequence[int]) -> Iterator[tuple[int, P]]:
    """Sorted pieces, cut where a part ends, with the number of the part."""
    for piece in pieces:
        address, count, tags = piece[0], piece[1], piece[2:]
        begin = 0
        while begin < count:
            part = bisect_right(cuts, arrays.value_at(address, begin))
            end = arrays.first_from((address, count), cuts[part]) if part < len(cuts) else count
            yield part, cast("P", _slice(arrays.width, begin, end, address, *tags))
            begin = end


def _slice(width: int, begin: int, end: int, address: int, *tags: int) -> tuple[int, ...]:
    """A part of a piece."""
    return address + width * begin, end - begin, *(each + TAG_SIZE * begin for each in tags)
