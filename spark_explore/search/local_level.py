"""One level in this process: for levels so small that a job would only cost time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from ctypes import string_at
from dataclasses import field, replace
from itertools import accumulate, chain
from typing import Protocol
from zlib import crc32

from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import Expanded, Expander, SuccessorTable, least
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
from spark_explore.search.settling import Settled, StatesInOrder, settled, settled_waiting
from spark_explore.storage.pieces import FilePiece
from spark_explore.storage.run import RunFolder, RunLevel, marks_name, new_name
from spark_explore.storage.sorted_pieces import SortedPiece, SortedPieces, count_states, of_shard
from spark_explore.storage.spent import LEVELS, CoreSeconds, Stopwatch, TimedStore
from spark_explore.storage.store import Remembering
from spec.frozen import frozen

Pieces = Sequence[SortedPiece]
FreeAndWaiting = tuple[list[StatesInOrder], list[StatesInOrder]]  # candidates of a shard


@frozen
class Advance:
    """The result of searching a level: new and waiting states, counters and findings.

    `spent` is what it took, by the names in `spent.py`.
    """

    new: list[SortedPiece]
    waiting: list[SortedPiece]
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

    def deduplicate_waiting(self, level: int, waiting: Sequence[Pieces]) -> list[list[SortedPiece]]:
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
        self._store = Remembering(TimedStore(run.store, self._watch))
        self._states = SortedPieces(
            self._store, self._watch.sorted_states(kernel), kernel.layout.words, self._watch.on
        )

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Search one level."""
        self._watch.take()
        with self._watch.on(LEVELS):
            done = self._advance(level, frontier, woken, paid=paid)
        return replace(done, spent=self._watch.take())

    def _advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Search one level."""
        candidates, expanded = self._expand(frontier, paid=paid)
        for piece in woken:
            candidates[piece.shard][0].append(self._states.run(piece))
        with ExitStack() as until_end:
            found = {
                shard: until_end.enter_context(self._settled(shard, some))
                for shard, some in sorted(candidates.items())
            }
            new = [(shard, each.new) for shard, each in found.items() if each.new[1]]
            waiting = [(shard, each.waiting) for shard, each in found.items() if each.waiting[1]]
            pieces = self._states.write(new_name(level, None), [*new, *waiting])
        finds = least(chain.from_iterable(each.finds.items() for each in found.values()))
        return Advance(pieces[: len(new)], pieces[len(new) :], expanded, finds)

    def _expand(self, frontier: Pieces, *, paid: bool) -> tuple[dict[int, FreeAndWaiting], Expanded]:
        """The successors of a frontier by shard, with the counters."""
        arrays = self._states.arrays
        table = SuccessorTable(self._kernel, arrays, self._run.shards, count_states(frontier))
        found: dict[int, FreeAndWaiting] = defaultdict(lambda: ([], []))
        try:
            for each in chain.from_iterable(table.candidates(self._states.blocks(frontier), paid=paid)):
                for kept, (address, count) in zip(found[each.shard], (each.free, each.waiting), strict=True):
                    if count:
                        kept.append(string_at(address, arrays.width * count))
            return found, table.result()
        finally:
            table.close()

    def _settled(self, shard: int, candidates: FreeAndWaiting) -> AbstractContextManager[Settled]:
        """A context with what is new of the candidates of a shard."""
        seen = self._states.runs(self._run.seen[shard])
        return settled(self._kernel, self._states.arrays, candidates, seen)

    def deduplicate_waiting(self, level: int, waiting: Sequence[Pieces]) -> list[list[SortedPiece]]:
        """The waiting states for each depth, deduplicated."""
        entering: list[list[SortedPiece]] = [[] for _ in waiting]
        for shard in sorted({piece.shard for pieces in waiting for piece in pieces}):
            own, seen = [of_shard(pieces, shard) for pieces in waiting], self._run.seen[shard]
            with settled_waiting(self._states, own, self._states.runs(seen)) as left:
                some = [(number, (shard, states)) for number, states in enumerate(left) if states[1]]
                pieces = self._states.write(new_name(level, shard), [states for _, states in some])
            for (number, _), piece in zip(some, pieces, strict=True):
                entering[number].append(piece)
        return entering

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads from these states to new ones."""
        candidates, expanded = self._expand(frontier, paid=True)
        return any(self._has_waiting(shard, some) for shard, some in candidates.items()), expanded

    def _has_waiting(self, shard: int, candidates: FreeAndWaiting) -> bool:
        """Whether a candidate of a shard that waits is new."""
        with self._settled(shard, candidates) as found:
            return found.waiting[1] > 0

    def predecessor(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of the states with a step to `state`."""
        expander = Expander(self._kernel)
        try:
            return expander.predecessor_of(self._states.blocks(pieces), state, by_fault=by_fault)
        finally:
            expander.close()

    def goals(self, aim: Aim) -> list[Marks]:
        """The marks of all levels."""
        found = (goals(self._kernel, aim, self._states.blocks(level.new)) for level in self._run.levels)
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
        return marked(self._states, at.level.new, at.marks.pieces)

    def _with(self, at: Sequence[Marked], marks: bytearray) -> Iterator[MarkedBlock]:
        """The states of levels with the given marks."""
        start = 0
        for each in at:
            for block in self._states.blocks(each.level.new):
                count = len(block) // self._states.arrays.width
                yield block, bytes(marks[start : start + count])
                start += count

    def _kept(self, aim: Aim, level: RunLevel, marks: bytes | bytearray) -> Marks:
        """Write the marks of a level."""
        if not marks:
            return Marks((), 0, 0)
        counts = [count_states(level.of_shard(shard)) for shard in range(self._run.shards)]
        piece = FilePiece(marks_name(aim.which), 0, 0, tuple(counts), crc32(marks))
        self._store.put(piece.name, [bytes(marks)])
        return Marks((piece,), *tally(marks))
