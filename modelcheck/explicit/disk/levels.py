"""The search whose states are on disk: level by level, each a sorted run, with the recent ones in memory.

NOTE(late): a new state that the table in memory does not have is only a candidate.  When a
level is expanded its candidates are sorted, those that are in a run are struck out, and what is left
is the level.  So a state may be asked more than once for the properties, which changes nothing: it was
asked at its cheapest first.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain

from modelcheck.contract.engine import Task
from modelcheck.contract.report import Reporter, Stopped
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import CHUNK, SHARDS
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.folder import StateFolder
from modelcheck.explicit.disk.merging import by_part, merged, merged_with_tags, subtracted
from modelcheck.explicit.disk.runs import BLOCK, TAG_SIZE, P, Piece, SortedRun
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
JOINED = 2  # a run is joined with those behind it unless it has more times as many states
PARTS = 8  # of all values, whose runs are joined one after the other: so little is on disk twice
UNEVEN = 2  # a part is cut in two when it has more times the states that a part has on average
WHOLE = -1  # of a run that is not cut into parts
LARGE = 64  # blocks of a run from which on it is cut into parts, and 1/16 of them of a level
MOST_LEVELS = 1 << 8 * TAG_SIZE  # of a run
BEHIND = (1 << 32) - 1  # the bits of a successor that have the number of its predecessor


@frozen
class RunOfLevels:
    """A run of states of some levels, from the `first` to the `last`; tags say of which each is.

    It has all of them whose value is in a `part`.
    """

    run: SortedRun
    first: int
    last: int
    part: int


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


def _alike(runs: Iterable[RunOfLevels]) -> list[RunOfLevels]:
    """The smaller runs, up to the last that has not many times the states of all that are smaller."""
    ordered = sorted(runs, key=lambda each: len(each.run))
    found = states = 0
    for number, each in enumerate(ordered, 1):
        some = ordered[:number]
        levels = 1 + max(one.last for one in some) - min(one.first for one in some)
        if len(each.run) <= JOINED * states and levels <= MOST_LEVELS:
            found = number
        states += len(each.run)
    return ordered[:found]


class LevelsOnDisk(PackedSearch):
    """The levels of the search on disk: the same as in memory; see NOTE(late).

    `seen` are the states of all levels, in few runs to be looked up, of which the last level has its own,
    in the order of their values; `cuts` are the least values of all parts but the first.  `due` are the
    states that wait for the next layer, by the depth at which they enter, and `waking` those that waited
    for this one.
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
        self.seen: list[RunOfLevels] = []
        self.cuts: tuple[int, ...] = ()
        self.due: dict[int, SortedRun] = {}
        self.waking: dict[int, SortedRun] = {}
        self.runs = RunsBack(task, machine, self.kernel, self)
        self.spent: list[SortedRun] = []  # that nothing needs once what follows is whole
        self._expanded: list[SortedRun] = []  # the level before this one, in the same layer
        self._apart: list[SortedRun] = []  # new states of this level
        self._due_apart: list[SortedRun] = []
        self._piece: Piece = 0, 0  # the address of the states to expand, and the number of the first
        self._is_asking = False

    @property
    def knows_ways(self) -> bool:
        """Runs are found without a second search."""
        return True

    @property
    def last(self) -> list[SortedRun]:
        """The states of the last level, in the order of their values."""
        level = len(self.recent.levels) - 1
        return [each.run for each in self.seen if each.last == level]

    # ---------------------------------------------------------------- levels and layers

    def _advance(self, faults: int, depth: int) -> bool:
        """Find the next level, and write it as a run; return whether it has any state."""
        space, before = self.recent, self.last
        if space.levels:
            space.here = space.levels[-1]
            if not before:  # a level without a state is none
                space.levels.pop()
        space.begin(faults, depth)
        self._expanded = before
        self._expand_level(before, faults, depth - 1)
        if (run := self.waking.pop(depth, None)) is not None:
            self._insert(run.pieces(self.helpers))
            self.spent.append(run)
        self.entering.pop(depth, None)
        self._settle(depth)
        return bool(self.last)

    def _expand_level(self, runs: list[SortedRun], faults: int, depth: int) -> None:
        """Expand the states of a level."""
        first, paid, states = 0, self.may_pay(faults), sum(map(len, runs))
        for address, count in chain.from_iterable(run.pieces(self.helpers) for run in runs):
            self._piece, first = (address, HERE | first), first + count
            self.position = Position(faults, depth, [], parts_of([count]))
            self._expand_parts(paid=paid, behind=states - first)

    def _place(self, _shard: int, first: int) -> tuple[int, int]:
        """The address and the number of a state that is to be expanded."""
        address, number = self._piece
        return address + self.arrays.width * first, number + first

    def _settle(self, depth: int) -> None:
        """Write the new states of the level that no run has, and those that wait for the next layer."""
        self._take_note()
        level, states = len(self.recent.levels) - 1, self.recent.apart + self.recent.new(waiting=False)
        with self._new(self._apart, waiting=False) as sources:
            is_cut = len(self.cuts) > 0 and states >= LARGE * self.arrays.block // 16
            found = self._unseen(sources, is_cut=is_cut)
        with self._new(self._due_apart, waiting=True) as sources:
            due = self._unseen(sources)
        self.spent += [*self._apart, *self._due_apart]
        self._apart, self._due_apart = [], []
        self.recent.restart()
        self.recent.apart = 0
        for _, run in due:
            self.due[depth] = run
        for part, run in found:
            self.recent.before += len(run)
            self.seen.append(RunOfLevels(run, level, level, part))
        self._is_whole()
        for part in sorted({each.part for each in self.seen}):
            self._join_runs(part)
        if self.recent.known > self.sizes.known:
            self._make_place()

    def _is_whole(self) -> None:
        """Called where a level, a layer or what is looked up is whole."""

    def _enter_layer(self) -> dict[int, list[Part]]:
        """The depths at which states enter that only one more fault leads to."""
        self.waking = {}
        for depth, run in self.due.items():
            for _, left in self._unseen([run.pieces(self.helpers)]):
                self.waking[depth] = left
            self.spent.append(run)
        self.due = {}
        return {depth: [] for depth in self.waking}

    def _finish(self, faults: int) -> None:
        """Record a complete layer."""
        super()._finish(faults)
        self._is_whole()

    # ---------------------------------------------------------------- one level

    def _insert(self, pieces: Iterable[Piece], *, known: bool = False) -> None:
        """Insert states into the table: new ones, or such as are `known`."""
        entry, block = self.arrays.width + 8, self.sizes.block
        with (
            closing(Region(entry * block)) as entries,
            closing(Region(entry * block)) as out,
            closing(Region(block)) as marks,
        ):
            for address, count in self._sliced(pieces, block):
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

    def _unseen(self, sources: list[Iterator[Piece]], *, is_cut: bool = False) -> list[tuple[int, SortedRun]]:
        """The run of the states that no run has, if there are any; or one for each part, with its number."""
        parts = self._not_seen(self._sliced(merged(self.arrays, sources), SLICE))
        if is_cut:
            return self._written(parts)
        return self._written([(WHOLE, chain.from_iterable(pieces for _, pieces in parts))])

    def _not_seen(self, pieces: Iterable[Piece]) -> Iterator[tuple[int, Iterator[Piece]]]:
        """The states of sorted pieces that no run has, by part."""
        for part, some in by_part(self.arrays, pieces, self.cuts):
            runs = [each.run for each in self.seen if each.part in {WHOLE, part}]
            yield part, subtracted(self.arrays, some, runs, self.helpers)

    def _written(self, parts: Iterable[tuple[int, Iterator[P]]]) -> list[tuple[int, SortedRun]]:
        """The runs of the parts that have states."""
        runs = ((part, self.folder.write(self._minded(pieces))) for part, pieces in parts)
        return [(part, run) for part, run in runs if run is not None]

    def _sliced(self, pieces: Iterable[Piece], most: int) -> Iterator[Piece]:
        """The same pieces, cut where they have more than `most` states."""
        for address, count in pieces:
            for first in range(0, count, most):
                yield address + self.arrays.width * first, min(most, count - first)

    def _minded(self, pieces: Iterable[P]) -> Iterator[P]:
        """The pieces, with a look at the limits after each. Raises Stopped."""
        for piece in pieces:
            yield piece
            self.check_limits()

    def _join_runs(self, part: int) -> None:
        """Join runs of a part that have about as many states, so that there are few to look up."""
        last = self.last
        some = _alike(each for each in self.seen if each.part == part and each.run not in last)
        if len(some) < 2:
            return
        first, end = min(each.first for each in some), max(each.last for each in some)
        sources = [each.run.tagged_pieces(self.helpers, each.first - first) for each in some]
        joined = merged_with_tags(self.arrays, sources)
        others = [each for each in self.seen if each not in some]
        if sum(len(each.run) for each in some) >= self._most_of(part):
            others = self._cut(part, max((each.run for each in some), key=len), others)
            runs = self._written(by_part(self.arrays, joined, self.cuts))
        else:
            runs = self._written([(part, joined)])
        self.spent += [each.run for each in some]
        self.seen = [*others, *(RunOfLevels(run, first, end, own) for own, run in runs)]
        self._is_whole()

    def _most_of(self, part: int) -> int:
        """The number of states from which on what is joined of a part is cut."""
        least = LARGE * self.arrays.block
        return least if part == WHOLE else max(least, UNEVEN * self.recent.before // PARTS)

    def _cut(self, part: int, largest: SortedRun, others: list[RunOfLevels]) -> list[RunOfLevels]:
        """Cut a part in two, or all values into the first parts; returns the runs with their new parts.

        A run that has states of both is of no part from then on.
        """
        before = self.cuts
        if not before:
            self.cuts = largest.cuts(PARTS)
        elif part != WHOLE:
            self.cuts = tuple(sorted({*before, *largest.cuts(2)}))
        grown = len(self.cuts) - len(before) if before else 0
        moved = {each: each + grown * (each > part) for each in range(WHOLE, len(before) + 1)}
        if grown:
            moved[part] = WHOLE
        return [replace(each, part=moved[each.part]) for each in others]

    def _make_place(self) -> None:
        """Empty the table, but for the last levels that fill no more than half of its room."""
        self.recent.empty()
        levels, start = self.recent.levels, self.recent.before - self.sizes.known // 2
        first = bisect_left(levels, start, key=lambda level: level.starts[0])
        self._insert(self._of_levels(first, len(levels)), known=True)
        self.recent.forget_firsts(len(self.kernel.context.of_states))

    def _of_levels(self, first: int, end: int) -> Iterator[Piece]:
        """The states of consecutive levels, which are picked from the runs that have them."""
        for each in self.seen:
            if first <= each.first and each.last < end:
                yield from each.run.pieces(self.helpers)
            elif each.first < end and first <= each.last:
                yield from self._picked(each.run, max(0, first - each.first), end - each.first)

    def _picked(self, run: SortedRun, low: int, high: int) -> Iterator[Piece]:
        """The states of a run whose tags are from `low` to below `high`, a block of them at a time."""
        count, width, block = 0, self.arrays.width, self.arrays.block
        with closing(Region(width * (block + run.largest))) as room:
            for address, states, tags in run.tagged_pieces(self.helpers, 0):
                to = room.address + width * count
                count += self.arrays.call["pick"](address, states, tags, low, high, to)
                if count >= block:
                    yield room.address, count
                    count = 0
            if count:
                yield room.address, count

    # ------------------------------------------------------------------- finds

    def _take_note(self) -> None:
        """Record the finds of all threads, with the states that they are in."""
        super()._take_note()
        self.tally.best = {name: self._with_state(find) for name, find in self.tally.best.items()}
        if self.tally.error is not None:
            self.tally.error = self._with_state(self.tally.error)
        self.recent.forget_firsts(len(self.kernel.context.of_states))
        for worker in self.workers:
            for place in self.kernel.context.finds:
                worker.context[place] = NOWHERE

    def _with_state(self, find: Find) -> Find:
        """The find with a number that its state has for good."""
        number = find.number
        if number & KEPT:
            return find
        words = self._state_here(number ^ HERE) if number & HERE else self.recent.words_of_new(number)
        return replace(find, number=self.recent.keep(find, words))

    def _state_here(self, index: int) -> Words:
        """The state with an index in the level that is expanded."""
        for run in self._expanded:
            if index < len(run):
                return run.state(index)
            index -= len(run)
        raise IndexError(index)

    def kept_state(self, number: int) -> KeptState:
        """The state of a find."""
        return self.recent.kept[number ^ KEPT]

    def before(self, words: Words, faults: int, depth: int, *, by_fault: bool) -> Words | None:
        """A state of a level from which a step leads to a state. Raises Stopped."""
        with self.at_work():
            for piece in self._of_level(faults, depth):
                found = self._leading(piece, words, by_fault=by_fault)
                if found is not None:
                    return found
        return None

    def _of_level(self, faults: int, depth: int | None = None) -> Iterator[Piece]:
        """The states of a level, or of all levels of a layer."""
        some = [
            index
            for index, level in enumerate(self.recent.levels)
            if level.faults == faults and depth in {None, level.depth}
        ]
        return self._of_levels(some[0], some[-1] + 1) if some else iter(())

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
        for address, count in self._of_level(faults):
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
            found = any(any(True for _ in pieces) for _, pieces in self._not_seen(sources[0]))
        self.recent.empty()
        return found
