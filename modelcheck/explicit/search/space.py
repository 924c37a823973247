"""The visited set in shards: packed states, predecessors, the frontier, states that wait for a fault."""

from __future__ import annotations

import ctypes
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.insertion import INSERT, REVISIT
from modelcheck.explicit.codegen.search.runtime import (
    COUNT,
    FAILED,
    FIRSTS,
    FRONTIER,
    LATEST,
    LOCAL,
    LOCAL_BITS,
    MOST_STATES,
    NEW,
    NUMBER,
    OPEN,
    PENDING,
    SHARDS,
    SLOTS,
    TABLE,
    TRAPPED,
    WAITING,
    WAYS,
)
from modelcheck.explicit.codegen.states.layout import PackedLayout, Words
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from spec.frozen import frozen
from spec.meaning.semantics import State

ROOT = (1 << 32) - 1  # the predecessor of an initial state
LONGEST = 9  # bytes of the way to a state, of which there are 32 bits and at most 24: NOTE(ways)
SMALL = 1 << 9  # slots of a table at first
AT_ONCE = 1 << 17  # slots that move to a larger table before their memory is let go
FULL = 0.85  # a table is never fuller
FEW = 1 << 12  # states of a shard whose memory is left to the next search
WORTH = 1 << 20  # a frontier of fewer bytes is not worth keeping in memory for the next
GROWTH = 1.35  # how much larger the next one is
FAST_GROWTH = 2  # how much while it has fewer than LARGE slots
LARGE = 1 << 18


@frozen
class PackedLevel:
    """A level: the states of one layer and depth; `starts` has the first number in each shard."""

    starts: tuple[int, ...]
    faults: int
    depth: int


class Shard:
    """The memory of one shard: table, frontier, the ways to its states."""

    def __init__(self, number: int, layout: PackedLayout, room: int, *, ways: bool) -> None:
        words = layout.words
        entry = 8 * (words + 1)
        self.number = number
        self.slots = SMALL
        self.table = Region(layout.slot * SMALL)
        self.ways = Region(LONGEST * room * ways)
        self.frontiers = [Region(8 * words * room), Region(8 * words * room)]
        self.pending = [Region(entry * room), Region(entry * room)]
        self.written = [0, 0]  # bytes at most of each frontier, since its pages were given back
        self.waited = 0  # bytes of the first of `pending`

    def keep_ways(self, room: int) -> None:
        """Allocate empty memory for the ways to up to `room` states."""
        self.ways.close()
        self.ways = Region(LONGEST * room)

    def clear(self, slot: int) -> None:
        """Make an empty table of slots of some bytes; what else there is, is written before it is read."""
        if self.slots == SMALL:
            self.table.clear(slot * SMALL)
        else:
            self.table.close()
            self.slots, self.table = SMALL, Region(slot * SMALL)
        self.written, self.waited = [0, 0], 0

    def close(self) -> None:
        """Free the memory."""
        for region in (self.table, self.ways, *self.frontiers, *self.pending):
            region.close()


@frozen
class SlotRange:
    """A range of slots of a shard's table, with its address."""

    shard: Shard
    first: int
    slots: int
    address: int


class SpareShards:
    """The shards of a search that found few states, for the next whose slots have as many bytes.

    To reserve memory and to touch its pages takes longer than many a small search.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bool], list[Shard]] = {}

    def take(self, slot: int, *, ways: bool) -> list[Shard]:
        """The shards that were kept, empty; none if there are none."""
        return self._kept.pop((slot, ways), [])

    def keep(self, shards: list[Shard], slot: int, *, ways: bool) -> None:
        """Keep shards, which have few states."""
        for shard in shards:
            shard.clear(slot)
        for shard in self._kept.pop((slot, ways), []):
            shard.close()
        self._kept[slot, ways] = shards

    def close(self) -> None:
        """Free the memory."""
        for shards in self._kept.values():
            for shard in shards:
                shard.close()
        self._kept.clear()


class NoWay(Exception):  # noqa: N818 - the answer is to search again
    """Raised for a state whose predecessor was not stored."""


class PackedSpace:
    """The visited set: states numbered in each shard in the order of discovery, by faults and then by depth.

    Without `ways` the predecessors of states are not remembered.  `insert` is the function of the kernel
    by which states are found; `spare` has memory of earlier searches, and gets this one's.
    """

    def __init__(self, kernel: Kernel, *, ways: bool = True, spare: SpareShards | None = None) -> None:
        self.kernel = kernel
        self._spare = spare
        self.ways = ways
        self.insert = INSERT
        self.words = kernel.layout.words
        self.slot = kernel.layout.slot
        self.entry = self.words + 1
        self.levels: list[PackedLevel] = []
        self.size = FIRSTS + len(kernel.context.noted)
        self.memory = (ctypes.c_uint64 * (SHARDS * self.size))()
        self.room = MOST_STATES
        self.shards = [] if spare is None else spare.take(self.slot, ways=ways)
        self.shards = self.shards or self._shards()
        for shard in self.shards:
            self._tell(shard, {NUMBER: shard.number << LOCAL_BITS})
            self._tell(shard, dict.fromkeys(range(TRAPPED, self.size), NOWHERE) | {OPEN: kernel.open})
            self.use(shard)
            self._begin_ways(shard)

    def _shards(self) -> list[Shard]:
        """The shards, with as much reserved address space as possible."""
        while True:
            made: list[Shard] = []
            try:
                made.extend(
                    Shard(number, self.kernel.layout, self.room, ways=self.ways) for number in range(SHARDS)
                )
            except MemoryError:
                for shard in made:
                    shard.close()
                self.room //= 4
                if self.room < SMALL:
                    raise
            else:
                return made

    def __len__(self) -> int:
        return sum(self._row(LOCAL))

    @property
    def address(self) -> int:
        """The address of the shards' words."""
        return ctypes.addressof(self.memory)

    def word(self, shard: Shard, place: int) -> int:
        """A word of a shard."""
        return self.memory[shard.number * self.size + place]

    def _row(self, place: int) -> list[int]:
        """A word of every shard."""
        return self.memory[place :: self.size]

    def _tell(self, shard: Shard, words: dict[int, int]) -> None:
        """Store words of a shard."""
        for place, word in words.items():
            self.memory[shard.number * self.size + place] = word

    def use(self, shard: Shard) -> None:
        """Store the addresses of a shard's regions; new states go to the second of each pair."""
        self._tell(
            shard,
            {
                TABLE: shard.table.address,
                SLOTS: shard.slots,
                FRONTIER: shard.frontiers[1].address,
                PENDING: shard.pending[1].address,
            },
        )

    def _begin_ways(self, shard: Shard, size: int = 0) -> None:
        """Store where the next way of a shard goes, behind `size` bytes."""
        self._tell(shard, {WAYS: (shard.ways.address + size) * self.ways})

    def size_of_ways(self, shard: Shard) -> int:
        """The bytes of the ways to the states of a shard."""
        return (self.word(shard, WAYS) - shard.ways.address) * self.ways

    def words_of(self, shard: Shard) -> list[int]:
        """The bytes of a shard's ways, and its words without addresses."""
        return [self.size_of_ways(shard), *(self.word(shard, place) for place in self._places())]

    def _places(self) -> list[int]:
        """The words of a shard that are no addresses, but for the numbers of slots and of the shard."""
        return [COUNT, LOCAL, NEW, WAITING, OPEN, LATEST, *range(TRAPPED, self.size)]

    def take(self, shard: Shard, words: Sequence[int]) -> None:
        """Restore the words of a shard."""
        ways, *others = words
        self._begin_ways(shard, ways)
        self._tell(shard, dict(zip(self._places(), others, strict=True)))
        shard.waited = 8 * self.entry * self.room  # at most

    # ------------------------------------------------------------------ levels

    def begin(self, faults: int, depth: int) -> None:
        """Begin a level: states from here on are of that layer and depth."""
        starts = tuple(self._row(LOCAL))
        if self.levels and self.levels[-1].starts == starts:
            self.levels.pop()
        self.levels.append(PackedLevel(starts, faults, depth))

    def level(self, number: int) -> PackedLevel:
        """The level of a state."""
        shard, local = number >> LOCAL_BITS, number & (1 << LOCAL_BITS) - 1
        return self.levels[bisect_right(self.levels, local, key=lambda level: level.starts[shard]) - 1]

    @property
    def has_new(self) -> bool:
        """Whether states were found since the last `turn`."""
        return any(self._row(NEW))

    def turn(self) -> list[int]:
        """Make the new states the frontier; returns how many each shard has."""
        counts = self._row(NEW)
        for shard, count in zip(self.shards, counts, strict=True):
            written = 8 * self.words * count
            shard.frontiers.reverse()
            shard.written = [max(shard.written[1], written), shard.written[0]]
            if written < WORTH <= shard.written[1]:
                shard.frontiers[1].forget(shard.written[1])
                shard.written[1] = 0
            own = shard.number * self.size  # at each level: no dict is made
            self.memory[own + NEW], self.memory[own + FRONTIER] = 0, shard.frontiers[1].address
        return counts

    def mark_expanded(self, counts: Sequence[int]) -> None:
        """Mark the states of the frontier as expanded; `counts` is how many each shard has."""
        for shard, count in zip(self.shards, counts, strict=True):
            self.kernel.call["mark_expanded"](self.address, self.size, shard.frontiers[0].address, count)

    def turn_layer(self) -> None:
        """Enter the next layer: the waiting states become pending."""
        for shard in self.shards:
            waited, shard.waited = shard.waited, 8 * self.entry * self.word(shard, WAITING)
            shard.pending.reverse()
            if waited >= WORTH:
                shard.pending[1].forget(waited)
            self._tell(shard, {WAITING: 0, PENDING: shard.pending[1].address})

    def waiting(self) -> tuple[int, ...]:
        """The number of states waiting for the next layer in each shard."""
        return tuple(self._row(WAITING))

    def still_waiting(self, shard: Shard) -> bool:
        """Whether a shard has states that only a fault leads to."""
        return self.word(shard, COUNT) > self.word(shard, LOCAL)

    # ---------------------------------------------------------------- inserting

    def is_tight(self, shard: Shard, more: int) -> bool:
        """Whether a shard's table is too small for `more` states. Raises MemoryError."""
        if self.word(shard, LOCAL) + more > self.room or self.word(shard, WAITING) + more > self.room:
            raise MemoryError("more states than there are numbers")
        return self.word(shard, COUNT) + more > FULL * shard.slots

    def tight(self, more: Sequence[int]) -> list[Shard]:
        """The shards whose tables are too small for `more` states, by number. Raises MemoryError."""
        some, there = max(more), max(*self._row(COUNT), *self._row(WAITING))
        if there + some <= FULL * SMALL:  # as many a small search: no look at each
            return []
        return [shard for shard in self.shards if self.is_tight(shard, more[shard.number])]

    def grow(self, shard: Shard, more: int) -> None:
        """Enlarge a shard's table. Raises MemoryError."""
        growth = FAST_GROWTH if shard.slots < LARGE else GROWTH
        slots = max(int(shard.slots * growth), int((self.word(shard, COUNT) + more) / FULL) + 1)
        table = Region(self.slot * slots, huge=True)
        for first in range(0, shard.slots, AT_ONCE):  # what has moved is let go: never are both whole
            start, some = self.slot * first, min(AT_ONCE, shard.slots - first)
            self.kernel.call["rehash"](shard.table.address + start, some, table.address, slots)
            shard.table.forget(self.slot * some, start)
        shard.table.close()
        shard.table, shard.slots = table, slots
        self.use(shard)

    def start(self, states: Iterable[Words]) -> None:
        """Insert the initial states, each with its index."""
        for ordinal, words in enumerate(states):
            entry = struct.pack(f"<{self.entry}Q", *words, ROOT | ordinal << 32)
            shard = self.shards[self.kernel.shard_of(words)]
            if self.is_tight(shard, 1):
                self.grow(shard, 1)
            buffer = ctypes.create_string_buffer(entry, len(entry))
            self._insert(shard, ctypes.addressof(buffer), 1)

    def _insert(self, shard: Shard, address: int, count: int) -> None:
        """Insert entries into a shard."""
        self.kernel.call[self.insert](self.address + 8 * self.size * shard.number, address, count)

    def wake(self, shard: Shard, start: int, end: int) -> None:
        """Insert the pending states that were not found with fewer faults."""
        self._insert(shard, shard.pending[0].address + 8 * self.entry * start, end - start)

    # ------------------------------------------------------------------ finding

    def firsts(self, place: int) -> Iterator[int]:
        """The first state in each shard that violates or satisfies the property with an index."""
        return self._found(FIRSTS + place)

    def close_seen(self) -> None:
        """Stop looking, in all shards, for witnesses that one shard has found."""
        seen = 0
        for bit in range(len(self.kernel.context.of_states), len(self.kernel.context.noted)):
            seen |= any(word != NOWHERE for word in self._row(FIRSTS + bit)) << bit
        for shard in self.shards:
            self._tell(shard, {OPEN: self.word(shard, OPEN) & ~seen})

    def failures(self) -> Iterator[int]:
        """The first state in each shard where evaluating a property fails."""
        return self._found(FAILED)

    def trapped(self) -> Iterator[int]:
        """The first revisited state in each shard without a way back."""
        return self._found(TRAPPED)

    def has(self, number: int) -> bool:
        """Whether a state with that number exists."""
        return number & (1 << LOCAL_BITS) - 1 < self.word(self.shards[number >> LOCAL_BITS], LOCAL)

    def _found(self, place: int) -> Iterator[int]:
        """The first finds of a kind in all shards."""
        return (word for word in self._row(place) if word != NOWHERE)

    def ancestry(self, number: int) -> list[tuple[int, int]]:
        """The path to a state from the root: numbers, and which successor each is.

        Raises NoWay.
        """
        if not (self.ways and self.has(number)):
            raise NoWay
        found = []
        memory = type(self.memory).from_buffer_copy(self.memory)  # whose ends of ways move back
        while number != ROOT:
            shard, local = number >> LOCAL_BITS, number & (1 << LOCAL_BITS) - 1
            if local >= memory[shard * self.size + LOCAL]:
                raise AssertionError("a path goes back to a later state")
            words = ctypes.addressof(memory) + 8 * self.size * shard
            way = self.kernel.call["trace_back"](words, local)
            found.append((number, way >> 32))
            number = way & ROOT
        return found[::-1]

    def parts(self, most: int) -> Iterator[SlotRange]:
        """All tables in ranges of at most `most` slots."""
        for shard in self.shards:
            for first in range(0, shard.slots, most):
                slots = min(most, shard.slots - first)
                yield SlotRange(shard, first, slots, shard.table.address + self.slot * first)

    def states(self, part: SlotRange) -> Iterator[State]:
        """The states in a range of slots."""
        layout, width = self.kernel.layout, self.slot
        data = part.shard.table.read(width * part.first, width * part.slots)
        for at in range(0, len(data), width):
            if data[at + width - 1]:
                yield layout.unpack(layout.in_slot(data[at : at + width]))[1]

    # --------------------------------------------------------------- once more

    @contextmanager
    def once_more(self) -> Iterator[None]:
        """A context for a repeated search: tables are kept, numbers start again, paths are stored."""
        words, levels, ways = bytes(self.memory), self.levels, self.ways
        self.levels, self.ways, self.insert = [], True, REVISIT
        try:
            for shard in self.shards:
                if not ways:
                    shard.keep_ways(self.room)
                self._tell(shard, {COUNT: 0, LOCAL: 0, NEW: 0, WAITING: 0, LATEST: 0, TRAPPED: NOWHERE})
                self._begin_ways(shard)
                self.use(shard)
            yield
        finally:
            ctypes.memmove(self.memory, words, len(words))
            self.levels, self.ways, self.insert = levels, ways, INSERT
            for shard in self.shards:
                if not ways:
                    shard.keep_ways(0)
                self.use(shard)

    def let_go(self) -> None:
        """Free the states' memory, keeping the numbers."""
        self._spare = None
        self.close()

    def close(self) -> None:
        """Free all memory, or leave it to the next search."""
        if self._spare is not None and self.room == MOST_STATES and max(self._row(COUNT)) <= FEW:
            self._spare.keep(self.shards, self.slot, ways=self.ways)
        else:
            for shard in self.shards:
                shard.close()
