"""What is left of the candidates of a shard: those that it has not seen, in the order of their values.

Candidates come sorted.  They are merged, and struck out by merging with the runs of what was seen, of which
those blocks are read that may have one of them: so few candidates read little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from ctypes import memmove

from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.merging import drop_seen, merged
from modelcheck.explicit.disk.runs import Piece, SortedRun, StateArrays
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import found_in
from spark_explore.storage.sorted_pieces import BLOCK, NO_HELP, SortedPiece, SortedPieces, address_of
from spec.frozen import frozen

FEW = 8  # sources that are merged; more are sorted, which takes as long as merging them
StatesInOrder = SortedRun | bytes  # sorted states, each once


@frozen
class Settled:
    """The new states of a shard in a level, those that wait for a fault, and findings in the new ones."""

    new: Piece
    waiting: Piece
    finds: dict[int, Words]


@contextmanager
def settled(
    kernel: Kernel,
    arrays: StateArrays,
    candidates: tuple[Sequence[StatesInOrder], Sequence[StatesInOrder]],
    seen: Sequence[SortedRun],
) -> Iterator[Settled]:
    """A context with the candidates of a shard that no run has; of those that wait, what is not free.

    Costs twice the memory of the candidates, and reading the blocks that may have one.
    """
    free, waiting = candidates
    with in_order(arrays, free) as new, in_order(arrays, waiting) as either:
        due = _without(arrays, either, new)
        new_left, due_left = drop_seen(arrays, [new, due], seen, NO_HELP)
        found = new[0], new_left
        yield Settled(found, (due[0], due_left), found_in(kernel, found))


@contextmanager
def settled_waiting(
    pieces: SortedPieces, waiting: Sequence[Sequence[SortedPiece]], seen: Sequence[SortedRun]
) -> Iterator[list[Piece]]:
    """A context with, of each group of states that wait, those that neither an earlier one nor a run has."""
    found, before = list[Piece](), list(seen)
    with ExitStack() as until_end:
        for group in waiting:
            runs = pieces.runs(group)
            states = until_end.enter_context(in_order(pieces.arrays, runs))
            (left,) = drop_seen(pieces.arrays, [states], before, NO_HELP)
            found.append((states[0], left))
            before += runs
        yield found


@contextmanager
def in_order(arrays: StateArrays, sources: Sequence[StatesInOrder]) -> Iterator[Piece]:
    """A context with the states of sources in the order of their values, each once."""
    counts = [_count(arrays, each) for each in sources]
    size = arrays.width * sum(counts)
    with closing(Region(size, huge=True)) as one, closing(Region(size, huge=True)) as other:
        each, to = list[Piece](), one.address
        for source, count in zip(sources, counts, strict=True):
            _store(source, to)
            each.append((to, count))
            to += arrays.width * count
        if len(each) == 1:
            yield each[0]
        elif len(each) <= FEW:
            end = other.address
            for address, count in merged(arrays, [iter([some]) for some in each if some[1]]):
                memmove(end, address, arrays.width * count)
                end += arrays.width * count
            yield other.address, (end - other.address) // arrays.width
        else:
            address, count = arrays.sort(one.address, other.address, sum(counts))
            yield address, arrays.call["distinct"](address, count)


def _count(arrays: StateArrays, source: StatesInOrder) -> int:
    """The number of states of a source."""
    return len(source) if isinstance(source, SortedRun) else len(source) // arrays.width


def _store(source: StatesInOrder, to: int) -> None:
    """Store the states of a source."""
    if isinstance(source, SortedRun):
        source.store(to)
    else:
        memmove(to, address_of(source), len(source))


def _without(arrays: StateArrays, states: Piece, others: Piece) -> Piece:
    """The states of a piece, which changes, that are not in another."""
    with closing(Region(states[1])) as marks:
        arrays.call["subtract"](*states, *others, marks.address)
        return states[0], arrays.call["drop"](*states, marks.address)


def read_at_most(levels: Iterable[int], candidates: int) -> int:
    """The states that are read to settle a number of candidates, given how many each level has."""
    return sum(min(count, candidates * BLOCK) for count in levels)
