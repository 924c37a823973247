"""Sorted states from several sources as one, each once; and without those that are in runs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby
from operator import itemgetter

from modelcheck.explicit.codegen.search.sorted_states import FROM, FROM_END, INTO, INTO_END, OTHER, OTHER_END
from modelcheck.explicit.disk.runs import Helpers, Piece, SortedRun, StateArrays
from modelcheck.explicit.native.arena import Region, words_of

AT_ONCE = 16  # blocks of what was merged, which are looked up together
SIDES = ((FROM, FROM_END), (OTHER, OTHER_END))
Frame = ctypes.Array[ctypes.c_uint64]
Overlap = tuple[SortedRun, int, int, int]  # a block, and the states of a piece that may be there


def merged(arrays: StateArrays, sources: Sequence[Iterator[Piece]]) -> Iterator[Piece]:
    """The states of sorted sources in order, each once."""
    if not sources:
        return iter(())
    if len(sources) == 1:
        return sources[0]
    middle = len(sources) // 2
    return _of_two(arrays, merged(arrays, sources[:middle]), merged(arrays, sources[middle:]))


def _of_two(arrays: StateArrays, *sources: Iterator[Piece]) -> Iterator[Piece]:
    """The states of two sorted sources."""
    frame = words_of([0] * 6)
    with closing(Region(arrays.width * arrays.block * AT_ONCE)) as room:
        for side, source in zip(SIDES, sources, strict=True):
            _refill(frame, side, source, arrays.width)
        while frame[FROM] and frame[OTHER]:
            frame[INTO], frame[INTO_END] = room.address, room.address + arrays.width * arrays.block * AT_ONCE
            while frame[FROM] and frame[OTHER] and frame[INTO] < frame[INTO_END]:
                arrays.call["merge_sorted"](frame)
                for side, source in zip(SIDES, sources, strict=True):
                    if frame[side[0]] == frame[side[1]]:
                        _refill(frame, side, source, arrays.width)
            yield room.address, (frame[INTO] - room.address) // arrays.width
        for (begin, end), source in zip(SIDES, sources, strict=True):
            if frame[begin]:
                yield frame[begin], (frame[end] - frame[begin]) // arrays.width
                yield from source


def _refill(frame: Frame, side: tuple[int, int], source: Iterator[Piece], width: int) -> None:
    """Set where the next piece of a source is; 0 if there is none."""
    address, count = next(source, (0, 0))
    frame[side[0]], frame[side[1]] = address, address + width * count


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
                    count = run.read(file, block, buffer)
                    states = address + arrays.width * begin
                    arrays.call["subtract"](states, end - begin, buffer.address, count, marks.address + begin)
