"""Sorted states from several sources as one, each once; and without those that are in runs."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate, groupby
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
Some = tuple[int, int, int]  # states of a piece: their address, how many, and the address of their marks
Overlap = tuple[SortedRun, int, list[Some]]  # a block, and the states that may be there


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
    """The states of sorted pieces that are in none of the runs; the pieces are changed."""
    for piece in pieces:
        (left,) = drop_seen(arrays, [piece], seen, helpers)
        if left:
            yield piece[0], left


def drop_seen(
    arrays: StateArrays, pieces: Sequence[Piece], seen: Sequence[SortedRun], helpers: Helpers
) -> list[int]:
    """Remove from sorted pieces the states that are in a run; returns how many are left of each.

    Of a run the blocks are read, once for all pieces, that may have one of them.
    """
    ends = list(accumulate((count for _, count in pieces), initial=0))
    with closing(Region(ends[-1])) as marks:
        own = [marks.address + end for end in ends]
        found = [(run, *each) for run in seen for each in _overlaps(arrays, run, pieces, own)]
        threads = 1 + helpers.count
        helpers.together([partial(_mark, arrays, found[n::threads]) for n in range(threads)])
        return [
            arrays.call["drop"](address, count, mark)
            for (address, count), mark in zip(pieces, own, strict=False)
        ]


def _overlaps(
    arrays: StateArrays, run: SortedRun, pieces: Sequence[Piece], marks: Sequence[int]
) -> Iterator[tuple[int, list[Some]]]:
    """The blocks of a run that may have states of the pieces, in order, each with which these are."""
    found: dict[int, list[Some]] = {}
    for piece, mark in zip(pieces, marks, strict=False):
        for block, begin, end in run.overlaps(piece) if piece[1] else ():
            some = piece[0] + arrays.width * begin, end - begin, mark + begin
            found.setdefault(block, []).append(some)
    yield from sorted(found.items())


def _mark(arrays: StateArrays, overlaps: Sequence[Overlap]) -> None:
    """Mark the states that are in the blocks."""
    with closing(Region(arrays.width * max((run.largest for run, *_ in overlaps), default=0))) as buffer:
        for run, group in groupby(overlaps, key=itemgetter(0)):
            blocks = list(group)
            counts = run.each([block for _, block, _ in blocks], buffer.address)
            for count, (_, _, some) in zip(counts, blocks, strict=True):
                for address, many, mark in some:
                    arrays.call["subtract"](address, many, buffer.address, count, mark)


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
