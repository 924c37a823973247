"""One level in this process: for levels so small that a job would only cost time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from modelcheck.explicit.kernel import Kernel
from modelcheck.explicit.layout import Words
from spark_explore.files import Place, write
from spark_explore.pieces import Piece, blocks, total
from spark_explore.run import Run
from spark_explore.spent import LEVELS, Spent, Watch, Watched
from spark_explore.steps import PERIODS, Expanded, Expander, settle, sift

Pieces = Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Advance:
    """A level: where its new states are and those that wait, what was counted before, what was found.

    `spent` is what it took, by the names in `spent.py`.
    """

    new: list[Piece]
    waiting: list[Piece]
    expanded: Expanded
    finds: dict[int, Words]
    spent: Spent


class Hands(Protocol):
    """Who does the work of a search: here, or on a cluster; the findings do not depend on it.

    All may raise OSError and Damaged.
    """

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Expand a frontier; what is new of that and of the woken, against all that the run has seen."""
        ...

    def sift(self, level: int, waiting: Sequence[Pieces]) -> list[list[Piece]]:
        """For each depth, what waits there, has not been seen, and does not wait at an earlier depth."""
        ...

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads from a state to one that was not seen; and what was found on the way."""
        ...

    def parent(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of some states with a step to another."""
        ...


class Here:
    """Works in this process, with one core. Costs the memory of a level's candidates."""

    def __init__(self, kernel: Kernel, run: Run) -> None:
        self._watch = Watch()
        self._kernel = self._watch.kernel(kernel)
        self._run = run
        self._store = Watched(run.store, self._watch)
        self._width = 8 * kernel.layout.words

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """One level."""
        self._watch.take()
        with self._watch.on(LEVELS):
            new, waiting, expanded, finds = self._advance(level, frontier, woken, paid=paid)
        return Advance(new, waiting, expanded, finds, self._watch.take())

    def _advance(
        self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool
    ) -> tuple[list[Piece], list[Piece], Expanded, dict[int, Words]]:
        kernel, store, width = self._kernel, self._store, self._width
        candidates, expanded = self._expand(frontier, paid=paid)
        candidates += blocks(store, woken, width)
        settled = settle(kernel, 1, candidates, blocks(store, self._run.seen, width))
        place = Place(store, self._run.shards, level)
        new, waiting = write(kernel, place, [settled.new, settled.waiting])
        return new, waiting, expanded, settled.finds

    def _expand(self, frontier: Pieces, *, paid: bool) -> tuple[list[bytes], Expanded]:
        expander = Expander(self._kernel, 1, total(frontier))
        try:
            found = blocks(self._store, frontier, self._width)
            return list(expander.blocks(found, paid=paid)), expander.told()
        finally:
            expander.close()

    def sift(self, level: int, waiting: Sequence[Pieces]) -> list[list[Piece]]:
        """What waits at each depth."""
        store, width = self._store, self._width
        each = [b"".join(blocks(store, pieces, width)) for pieces in waiting]
        seen = [blocks(store, self._run.seen, width) for _ in range(0, len(each), PERIODS)]
        place = Place(store, self._run.shards, level)
        return write(self._kernel, place, sift(self._kernel, 1, each, seen))

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads from these states to new ones."""
        candidates, expanded = self._expand(frontier, paid=True)
        seen = blocks(self._store, self._run.seen, self._width)
        return bool(settle(self._kernel, 1, candidates, seen).waiting), expanded

    def parent(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of some states with a step to another."""
        expander = Expander(self._kernel, 1, 1)
        try:
            found = blocks(self._store, pieces, self._width)
            return expander.parent_of(found, state, by_fault=by_fault)
        finally:
            expander.close()
