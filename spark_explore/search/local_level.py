"""One level in this process: for levels so small that a job would only cost time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import accumulate, chain
from typing import Protocol
from zlib import crc32

from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import PERIODS, Expanded, Expander, deduplicate, deduplicate_waiting
from spark_explore.search.files import FileTarget, write
from spark_explore.search.marks import (
    Aim,
    Lookout,
    Marked,
    MarkedBlock,
    Marks,
    goals,
    marked,
    put,
    tally,
    wanted,
)
from spark_explore.search.nearby import nearby
from spark_explore.storage.pieces import FilePiece, blocks, count_states, of_shard
from spark_explore.storage.run import RunFolder, RunLevel, marks_name
from spark_explore.storage.spent import LEVELS, CoreSeconds, Stopwatch, TimedStore
from spec.frozen import frozen

Pieces = Sequence[FilePiece]


@frozen
class Advance:
    """The result of searching a level: new and waiting states, counters and findings.

    `spent` is what it took, by the names in `spent.py`.
    """

    new: list[FilePiece]
    waiting: list[FilePiece]
    expanded: Expanded
    finds: dict[int, Words]
    spent: CoreSeconds = field(default_factory=CoreSeconds)


class Executors(Protocol):
    """The interface of what executes the parts of a search: this process or a cluster.

    All may raise OSError and Damaged.
    """

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Expand a frontier; the successors and woken states that are not visited yet."""
        ...

    def deduplicate_waiting(self, level: int, waiting: Sequence[Pieces]) -> list[list[FilePiece]]:
        """For each depth the waiting states not visited and not at an earlier depth."""
        ...

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads to a state not visited; and findings on the way."""
        ...

    def predecessor(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of the states with a step to `state`."""
        ...

    def goals(self, aim: Aim) -> list[Marks]:
        """The marks of all levels: which states are goals."""
        ...

    def look(self, aim: Aim, at: Sequence[Marked], seen: Sequence[Marked]) -> tuple[list[Marks], bool]:
        """The marks of levels after one more step back from the marks of `seen`; whether any was added.

        And whether to look again from those states, for they may lead to each other.
        """
        ...


class LocalExecutor:
    """Executes the parts of a search in this process. Costs the memory of a level's candidates."""

    def __init__(self, kernel: Kernel, run: RunFolder) -> None:
        self._watch = Stopwatch()
        self._kernel = self._watch.kernel(kernel)
        self._run = run
        self._store = TimedStore(run.store, self._watch)
        self._width = 8 * kernel.layout.words

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Search one level."""
        self._watch.take()
        with self._watch.on(LEVELS):
            done = self._advance(level, frontier, woken, paid=paid)
        return replace(done, spent=self._watch.take())

    def _advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Search one level, in smaller parts if memory requires."""
        kernel, store, width = self._kernel, self._store, self._width
        candidates, expanded = self._expand(frontier, paid=paid)
        candidates += blocks(store, woken, width)
        deduplicated = deduplicate(kernel, 1, candidates, self._nearby(candidates))
        place = FileTarget(store, self._run.shards, level)
        new, waiting = write(kernel, place, [deduplicated.new, deduplicated.waiting])
        return Advance(new, waiting, expanded, deduplicated.finds)

    def _expand(self, frontier: Pieces, *, paid: bool) -> tuple[list[bytes], Expanded]:
        """The successors of a frontier in blocks, with the counters."""
        expander = Expander(self._kernel, 1, count_states(frontier))
        try:
            found = blocks(self._store, frontier, self._width)
            return list(expander.blocks(found, paid=paid)), expander.result()
        finally:
            expander.close()

    def _nearby(self, candidates: Sequence[bytes]) -> Iterator[bytes]:
        """What was seen of states that may be these."""
        return nearby(self._kernel, self._store, self._run.seen, candidates, self._run.shards)

    def deduplicate_waiting(self, level: int, waiting: Sequence[Pieces]) -> list[list[FilePiece]]:
        """The waiting states for each depth, deduplicated."""
        store, width = self._store, self._width
        each = [b"".join(blocks(store, pieces, width)) for pieces in waiting]
        seen = [self._nearby(each) for _ in range(0, len(each), PERIODS)]
        place = FileTarget(store, self._run.shards, level)
        return write(self._kernel, place, deduplicate_waiting(self._kernel, 1, each, seen))

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads from these states to new ones."""
        candidates, expanded = self._expand(frontier, paid=True)
        return bool(deduplicate(self._kernel, 1, candidates, self._nearby(candidates)).waiting), expanded

    def predecessor(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of the states with a step to `state`."""
        expander = Expander(self._kernel, 1, 1)
        try:
            found = blocks(self._store, pieces, self._width)
            return expander.predecessor_of(found, state, by_fault=by_fault)
        finally:
            expander.close()

    def goals(self, aim: Aim) -> list[Marks]:
        """The marks of all levels."""
        store, width = self._store, self._width
        found = (goals(self._kernel, aim, blocks(store, level.new, width)) for level in self._run.levels)
        return [self._kept(aim, level, marks) for level, marks in zip(self._run.levels, found, strict=True)]

    def look(self, aim: Aim, at: Sequence[Marked], seen: Sequence[Marked]) -> tuple[list[Marks], bool]:
        """The marks of levels after steps back until nothing is added; whether any was."""
        marks, questions = self._ahead(aim, at)
        table = wanted(self._kernel, 1, questions)
        try:
            table.see(chain.from_iterable(map(self._with_marks, seen)))
            more = True
            while more:
                table.see(self._with(at, marks))
                before = marks.count(0)
                for each in questions:
                    put(self._kernel, marks, table.answer(each), aim)
                more = marks.count(0) < before
        finally:
            table.close()
        ends = accumulate(each.level.count for each in at)
        own = [marks[end - each.level.count : end] for each, end in zip(at, ends, strict=True)]
        return [self._kept(aim, each.level, part) for each, part in zip(at, own, strict=True)], False

    def _ahead(self, aim: Aim, at: Sequence[Marked]) -> tuple[bytearray, list[bytes]]:
        """The marks that need no question, and the questions about successors."""
        lookout, found, questions = Lookout(self._kernel, aim), bytearray(), list[bytes]()
        try:
            for block, old in chain.from_iterable(map(self._with_marks, at)):
                marks = bytearray(old)
                questions += filter(None, lookout.ahead(block, marks, len(found)))
                found += marks
        finally:
            lookout.close()
        return found, questions

    def _with_marks(self, at: Marked) -> Iterator[MarkedBlock]:
        """The states of a level in blocks, each with its marks."""
        return marked(self._store, at.level.new, at.marks.pieces, self._width)

    def _with(self, at: Sequence[Marked], marks: bytearray) -> Iterator[MarkedBlock]:
        """The states of levels with the given marks."""
        start = 0
        for each in at:
            for block in blocks(self._store, each.level.new, self._width):
                count = len(block) // self._width
                yield block, bytes(marks[start : start + count])
                start += count

    def _kept(self, aim: Aim, level: RunLevel, marks: bytes | bytearray) -> Marks:
        """Write the marks of a level."""
        if not marks:
            return Marks((), 0, 0)
        shards = [of_shard(level.new, shard, self._width) for shard in range(self._run.shards)]
        piece = FilePiece(marks_name(aim.which), 0, 0, tuple(map(count_states, shards)), crc32(marks))
        self._store.put(piece.name, [bytes(marks)])
        return Marks((piece,), *tally(marks))
