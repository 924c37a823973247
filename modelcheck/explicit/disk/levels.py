"""The search whose states are on disk: level by level, each a sorted run, with the recent ones in memory.

NOTE(late): a new state that the table in memory does not have is only a candidate.  When a
level is expanded its candidates are sorted, those that are in a run are struck out, and what is left
is the level.  So a state may be asked more than once for the properties, which changes nothing: it was
asked at its cheapest first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from modelcheck.contract.engine import Task
from modelcheck.contract.report import Reporter, Stopped
from modelcheck.explicit.codegen.search.runtime import CHUNK, SHARDS
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.folder import StateFolder
from modelcheck.explicit.disk.merging import merged, subtracted
from modelcheck.explicit.disk.runs import BLOCK, Piece, SortedRun
from modelcheck.explicit.disk.space import HERE, KEPT, KeptState, RecentSpace
from modelcheck.explicit.disk.ways import RunsBack
from modelcheck.explicit.native.arena import Region, words_of
from modelcheck.explicit.search.rounds import PackedSearch, Part, Position, parts_of
from modelcheck.explicit.search.tally import Find
from modelcheck.processes.memory import available, resident
from spec.frozen import frozen
from spec.meaning.semantics import Machine

SLICE = 1 << 20  # states that are looked up between two looks at the limits
SHARE = 0.8  # of the memory that is left, for states
FEWEST = 1 << 16  # states that there is always room for
JOINED = 2  # a run is joined with the next unless it is more times as large
BEHIND = (1 << 32) - 1  # the bits of a successor that have the number of its predecessor


@frozen
class Room:
    """How many states memory has room for: new ones before they are a run, known ones; states of a block."""

    new: int
    known: int
    block: int = BLOCK


def room_for(words: int, memory: int | None) -> Room:
    """The room in what is left of `memory` bytes, None for all that is free.

    A new state takes its place among the new ones and twice that while they are sorted, and a known one
    twelve bytes a word or so in the table.
    """
    free = available() or 0 if memory is None else max(0, memory - resident())
    new, known = 24 * words + 8, 14 * words  # bytes of each
    return Room(max(FEWEST, int(0.4 * SHARE * free / new)), max(FEWEST, int(0.6 * SHARE * free / known)))


class LevelsOnDisk(PackedSearch):
    """The levels of the search on disk: the same as in memory; see NOTE(late).

    `runs_of_levels` are the states by level, `seen` the same states in fewer runs, to be looked up,
    `due` the states that wait for the next layer, by the depth at which they enter.
    """

    def __init__(
        self,
        task: Task,
        space: RecentSpace,
        machine: Machine,
        reporter: Reporter,
        threads: int,
        folder: StateFolder,
        sizes: Room,
    ) -> None:
        super().__init__(task, space, machine, reporter, threads)
        self.recent, self.folder, self.sizes = space, folder, sizes
        self.arrays, self.helpers = folder.arrays, folder.helpers
        self.runs_of_levels: list[SortedRun | None] = []
        self.seen: list[SortedRun] = []
        self.due: list[tuple[int, SortedRun]] = []
        self.waking: dict[int, list[SortedRun]] = {}
        self.runs = RunsBack(task, machine, self.kernel, self)
        self.spent: list[SortedRun] = []  # that nothing needs once what follows is whole
        self._expanded: SortedRun | None = None  # the level before this one, in the same layer
        self._apart: list[SortedRun] = []  # new states of this level
        self._due_apart: list[SortedRun] = []
        self._piece: Piece = 0, 0  # the address of the states to expand, and the number of the first
        self._is_asking = False

    @property
    def knows_ways(self) -> bool:
        """Runs are found without a second search."""
        return True

    # ---------------------------------------------------------------- levels and layers

    def _advance(self, faults: int, depth: int) -> bool:
        """Find the next level, and write it as a run; return whether it has any state."""
        space, before = self.recent, self._last_run()
        if space.levels:
            space.here = space.levels[-1]
            if before is None:  # a level without a state is none
                space.levels.pop()
                self.runs_of_levels.pop()
        space.begin(faults, depth)
        self.runs_of_levels.append(None)
        self._expanded = before
        if before is not None:
            self._expand_run(before, faults, depth - 1)
        for run in self.waking.pop(depth, []):
            self._insert_run(run)
            self.spent.append(run)
        self.entering.pop(depth, None)
        self._settle(depth)
        return self.runs_of_levels[-1] is not None

    def _last_run(self) -> SortedRun | None:
        """The states of the last level."""
        return self.runs_of_levels[-1] if self.runs_of_levels else None

    def _expand_run(self, run: SortedRun, faults: int, depth: int) -> None:
        """Expand the states of a level."""
        first, paid = 0, self.may_pay(faults)
        for address, count in run.pieces(self.helpers):
            self._piece, first = (address, HERE | first), first + count
            self.position = Position(faults, depth, [], parts_of([count]))
            self._expand_parts(paid=paid, behind=len(run) - first)

    def _place(self, _shard: int, first: int) -> tuple[int, int]:
        """The address and the number of a state that is to be expanded."""
        address, number = self._piece
        return address + self.arrays.width * first, number + first

    def _settle(self, depth: int) -> None:
        """Write the new states of the level that no run has, and those that wait for the next layer."""
        self._take_note()
        with self._new(self._apart, waiting=False) as sources:
            run = self._unseen(sources)
        with self._new(self._due_apart, waiting=True) as sources:
            due = self._unseen(sources)
        self.spent += [*self._apart, *self._due_apart]
        self._apart, self._due_apart = [], []
        self.recent.restart()
        self.recent.apart = 0
        if due is not None:
            self.due.append((depth, due))
        if run is not None:
            self.runs_of_levels[-1] = run
            self.recent.before += len(run)
            self.seen.append(run)
        self._is_whole()
        if run is not None:
            self._join_runs()
        if self.recent.known > self.sizes.known:
            self._make_place()

    def _is_whole(self) -> None:
        """Called where a level, a layer or what is looked up is whole."""

    def _enter_layer(self) -> dict[int, list[Part]]:
        """The depths at which states enter that only one more fault leads to."""
        due: dict[int, list[SortedRun]] = {}
        for depth, run in self.due:
            left = self._unseen([run.pieces(self.helpers)])
            if left is not None:
                due.setdefault(depth, []).append(left)
            self.spent.append(run)
        self.due, self.waking = [], due
        return {depth: [] for depth in due}

    def _finish(self, faults: int) -> None:
        """Record a complete layer."""
        super()._finish(faults)
        self._is_whole()

    # ---------------------------------------------------------------- one level

    def _insert_run(self, run: SortedRun, *, known: bool = False) -> None:
        """Insert states into the table: new ones, or such as are `known`."""
        entry, block = self.arrays.width + 8, self.sizes.block
        with (
            closing(Region(entry * block)) as entries,
            closing(Region(entry * block)) as out,
            closing(Region(block)) as marks,
        ):
            for address, count in run.pieces(self.helpers):
                self.arrays.call["with_meta"](address, count, entries.address)
                chunk = self._chunks[0]
                chunk.out = out.address
                offsets = ctypes.addressof(chunk) + 8 * CHUNK["offsets"]
                self.kernel.call["sort"](entries.address, count, out.address, offsets, marks.address)
                self._begin_round(1, paid=False)
                self._insert_chunks(1, self.workers)
                if known:
                    self.recent.restart()
                elif self._is_tight():
                    self._set_apart()
                self.check_limits()

    def _look_around(self, faults: int, depth: int, waiting: int) -> None:
        """Check the limits, report progress, and write new states where memory has no more room for them."""
        super()._look_around(faults, depth, waiting)
        if not self._is_asking and self._is_tight():
            self._set_apart()

    def _is_tight(self) -> bool:
        """Whether memory has no more room for new states."""
        new = self.recent.new(waiting=False) + self.recent.new(waiting=True)
        return new > self.sizes.new or (new > 0 and self.recent.known > self.sizes.known)

    def _set_apart(self) -> None:
        """Write the new states so far, which may be in runs already; empty the table if it is full."""
        self._take_note()
        for waiting, apart in ((False, self._apart), (True, self._due_apart)):
            with self._new([], waiting=waiting) as sources:
                run = self.folder.write(self._minded(merged(self.arrays, sources)))
            if run is not None:
                apart.append(run)
                self.recent.apart += 0 if waiting else len(run)
        self.recent.restart()
        if self.recent.known > self.sizes.known:
            self.recent.empty()

    @contextmanager
    def _new(self, apart: list[SortedRun], *, waiting: bool) -> Iterator[list[Iterator[Piece]]]:
        """A context with the new states, or those that wait, sorted: in memory, and set apart before."""
        size = self.arrays.width * self.recent.new(waiting=waiting)
        with closing(Region(size)) as one, closing(Region(size)) as other:
            piece = self.recent.take_new(self.arrays, (one, other), waiting=waiting)
            yield [*(run.pieces(self.helpers) for run in apart), iter([piece] if piece[1] else [])]

    def _unseen(self, sources: list[Iterator[Piece]]) -> SortedRun | None:
        """The run of the states that no run has; None if there is none."""
        pieces = self._sliced(merged(self.arrays, sources))
        return self.folder.write(self._minded(subtracted(self.arrays, pieces, self.seen, self.helpers)))

    def _sliced(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The same pieces, none of them large."""
        for address, count in pieces:
            for first in range(0, count, SLICE):
                yield address + self.arrays.width * first, min(SLICE, count - first)

    def _minded(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces, with a look at the limits after each. Raises Stopped."""
        for piece in pieces:
            yield piece
            self.check_limits()

    def _join_runs(self) -> None:
        """Join runs of about the same size, so that there are few to look up; levels stay as they are."""
        while len(self.seen) > 1 and len(self.seen[-2]) <= JOINED * len(self.seen[-1]):
            sources = [run.pieces(self.helpers) for run in self.seen[-2:]]
            joined = self.folder.write(self._minded(merged(self.arrays, sources)))
            assert joined is not None
            self.spent += [run for run in self.seen[-2:] if run not in self.runs_of_levels]
            self.seen[-2:] = [joined]
            self._is_whole()

    def _make_place(self) -> None:
        """Empty the table, but for the last levels that fill no more than half of its room."""
        self.recent.empty()
        left = self.sizes.known // 2
        for run in reversed(self.runs_of_levels):
            if run is not None:
                left -= len(run)
                if left < 0:
                    return
                self._insert_run(run, known=True)
                self.recent.forget_firsts(len(self.kernel.context.of_states))

    # ------------------------------------------------------------------- finds

    def _take_note(self) -> None:
        """Record the finds of all threads, with the states that they are in."""
        super()._take_note()
        self.tally.best = {name: self._with_state(find) for name, find in self.tally.best.items()}
        if self.tally.error is not None:
            self.tally.error = self._with_state(self.tally.error)
        self.recent.forget_firsts(len(self.kernel.context.of_states))

    def _with_state(self, find: Find) -> Find:
        """The find with a number that its state has for good."""
        number = find.number
        if number & KEPT:
            return find
        if number & HERE:
            assert self._expanded is not None
            words = self._expanded.state(number ^ HERE)
        else:
            words = self.recent.words_of_new(number)
        return replace(find, number=self.recent.keep(find, words))

    def kept_state(self, number: int) -> KeptState:
        """The state of a find."""
        return self.recent.kept[number ^ KEPT]

    def before(self, words: Words, faults: int, depth: int, *, by_fault: bool) -> Words | None:
        """A state of a level from which a step leads to a state. Raises Stopped."""
        with self.at_work():
            for run in self._of_level(faults, depth):
                for piece in run.pieces(self.helpers):
                    found = self._leading(piece, words, by_fault=by_fault)
                    if found is not None:
                        return found
        return None

    def _of_level(self, faults: int, depth: int | None = None) -> list[SortedRun]:
        """The states of a level, or of all levels of a layer."""
        levels = zip(self.recent.levels, self.runs_of_levels, strict=True)
        return [
            run
            for level, run in levels
            if run is not None and level.faults == faults and depth in {None, level.depth}
        ]

    def _leading(self, piece: Piece, words: Words, *, by_fault: bool) -> Words | None:
        """A state of a piece from which a step leads to a state."""
        self._piece = piece[0], 0
        self.position = Position(0, 0)
        parts, target, entry = parts_of(piece[1:]), words_of(words), self.arrays.width + 8
        while parts:
            taken = [parts.pop() for _ in range(min(self.round_size, len(parts)))]
            self._fill_round(taken)
            self._expand_chunks(len(taken), self.spare_workers(), paid=by_fault)
            for chunk in self._chunks[: len(taken)]:
                at = self.arrays.call["seek"](chunk.out, chunk.offsets[SHARDS], target, by_fault)
                if at >= 0:
                    meta = ctypes.c_uint64.from_address(chunk.out + entry * at + self.arrays.width).value
                    return self.arrays.at(piece[0], meta & BEHIND)
            self._put_back(taken, parts)
            self.check_limits()
        return None

    def _leads_elsewhere(self) -> bool:
        """Whether one more fault than the budget allows reaches a new state or breaks more."""
        counted, self.workers, self._is_asking = self.workers, self.spare_workers(), True
        try:
            return self._reaches_new(len(self.layers) - 1) or any(
                self.tally.breaks_more(worker.context) for worker in self.workers
            )
        except Stopped:  # what there is within the budget is known
            return True
        finally:
            self.workers, self._is_asking = counted, False
            self.recent.restart()

    def _reaches_new(self, faults: int) -> bool:
        """Whether a fault leads from a state of a layer to one that no run has. Raises Stopped."""
        is_first = True
        for run in self._of_level(faults):
            for address, count in run.pieces(self.helpers):
                self._piece = address, 0
                self.position = Position(faults, self.reached[1], [], parts_of([count]))
                self._expand_parts(paid=True)
                if (is_first or self._is_tight()) and self._has_unseen():
                    return True
                is_first = False
        return self._has_unseen()

    def _has_unseen(self) -> bool:
        """Whether a state that waits is in no run; there are no new ones then."""
        with self._new([], waiting=True) as sources:
            found = any(True for _ in subtracted(self.arrays, sources[0], self.seen, self.helpers))
        self.recent.empty()
        return found
