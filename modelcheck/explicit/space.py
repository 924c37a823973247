"""The states found, in shards: tables of packed states, parents, the frontier, what waits for a fault."""

from __future__ import annotations

import ctypes
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from modelcheck.explicit.arena import Region
from modelcheck.explicit.context import NOWHERE
from modelcheck.explicit.kernel import Kernel
from modelcheck.explicit.layout import Words
from modelcheck.explicit.runtime import (
    COUNT,
    FAILED,
    FIRSTS,
    FRONTIER,
    LOCAL,
    LOCAL_BITS,
    MOST_STATES,
    NEW,
    NUMBER,
    ORDINALS,
    PARENTS,
    PENDING,
    SHARDS,
    SLOTS,
    TABLE,
    WAITING,
)
from spec.semantics import State

ROOT = (1 << 32) - 1  # the parent of an initial state
SMALL = 1 << 9  # slots of a table at first
FULL = 0.8  # a table is never fuller
WORTH = 1 << 20  # a frontier of fewer bytes need not be kept in memory for the next
GROWTH = 1.35  # how much larger the next one is
FAST_GROWTH = 2  # how much while it has fewer than LARGE slots
LARGE = 1 << 18


@dataclass(frozen=True, slots=True)
class Level:
    """States of one layer and depth stand together; `starts` is where in each shard."""

    starts: tuple[int, ...]
    faults: int
    depth: int


class Shard:
    """The memory of one shard."""

    def __init__(self, number: int, words: int, room: int, *, ways: bool) -> None:
        entry = 8 * (words + 1)
        self.number = number
        self.slots = SMALL
        self.table = Region(8 * words * SMALL)
        self.parents = Region(4 * room * ways)
        self.ordinals = Region(4 * room * ways)
        self.frontiers = [Region(8 * words * room), Region(8 * words * room)]
        self.pending = [Region(entry * room), Region(entry * room)]

    def close(self) -> None:
        """Give the memory back."""
        for region in (self.table, self.parents, self.ordinals, *self.frontiers, *self.pending):
            region.close()


class NoWays(Exception):  # noqa: N818 - the answer is to search again
    """The way to a state was not remembered; with fewer states than `states` it will be found."""

    def __init__(self, states: int) -> None:
        self.states = states
        super().__init__()


class Space:
    """All states found, numbered in each shard in the order they were found, which is by faults and depth.

    Without `ways` the parents of states are not remembered.
    """

    def __init__(self, kernel: Kernel, *, ways: bool = True) -> None:
        self.kernel = kernel
        self.ways = ways
        self.words = kernel.layout.words
        self.entry = self.words + 1
        self.levels: list[Level] = []
        self.size = FIRSTS + len(kernel.context.of_states)
        self.memory = (ctypes.c_uint64 * (SHARDS * self.size))()
        self.room = MOST_STATES
        self.shards = self._shards()
        for shard in self.shards:
            self._tell(shard, {NUMBER: shard.number << LOCAL_BITS, FAILED: NOWHERE})
            for place in range(FIRSTS, self.size):
                self._tell(shard, {place: NOWHERE})
            self.use(shard)

    def _shards(self) -> list[Shard]:
        """As much room as there are addresses for."""
        while True:
            made: list[Shard] = []
            try:
                made.extend(Shard(number, self.words, self.room, ways=self.ways) for number in range(SHARDS))
            except MemoryError:
                for shard in made:
                    shard.close()
                self.room //= 4
                if self.room < SMALL:
                    raise
            else:
                return made

    def __len__(self) -> int:
        return sum(self.word(shard, LOCAL) for shard in self.shards)

    @property
    def address(self) -> int:
        """Where the words of the shards are."""
        return ctypes.addressof(self.memory)

    def word(self, shard: Shard, place: int) -> int:
        """A word of a shard."""
        return self.memory[shard.number * self.size + place]

    def _tell(self, shard: Shard, words: dict[int, int]) -> None:
        for place, word in words.items():
            self.memory[shard.number * self.size + place] = word

    def use(self, shard: Shard) -> None:
        """Say where the shard's memory is: what is new goes to the second of each pair."""
        self._tell(
            shard,
            {
                TABLE: shard.table.address,
                SLOTS: shard.slots,
                PARENTS: shard.parents.address if self.ways else 0,
                ORDINALS: shard.ordinals.address,
                FRONTIER: shard.frontiers[1].address,
                PENDING: shard.pending[1].address,
            },
        )

    # ------------------------------------------------------------------ levels

    def begin(self, faults: int, depth: int) -> None:
        """From here on states are of that layer and depth."""
        starts = tuple(self.word(shard, LOCAL) for shard in self.shards)
        if self.levels and self.levels[-1].starts == starts:
            self.levels.pop()
        self.levels.append(Level(starts, faults, depth))

    def level(self, number: int) -> Level:
        """The layer and depth of a state."""
        shard, local = number >> LOCAL_BITS, number & (1 << LOCAL_BITS) - 1
        return self.levels[bisect_right(self.levels, local, key=lambda level: level.starts[shard]) - 1]

    def turn(self) -> list[int]:
        """The new states become the frontier; how many each shard has."""
        counts = []
        for shard in self.shards:
            counts.append(self.word(shard, NEW))
            shard.frontiers.reverse()
            if 8 * self.words * counts[-1] < WORTH:
                shard.frontiers[1].forget(8 * self.words * self.word(shard, LOCAL))
            self._tell(shard, {NEW: 0, FRONTIER: shard.frontiers[1].address})
        return counts

    def turn_layer(self) -> None:
        """What waited for a fault can now be had."""
        for shard in self.shards:
            shard.pending.reverse()
            shard.pending[1].forget(8 * self.entry * self.room)
            self._tell(shard, {WAITING: 0, PENDING: shard.pending[1].address})

    def waiting(self) -> tuple[int, ...]:
        """How many states each shard has waiting for the next layer."""
        return tuple(self.word(shard, WAITING) for shard in self.shards)

    def still_waiting(self, shard: Shard) -> bool:
        """Whether a shard has states that only a fault leads to."""
        return self.word(shard, COUNT) > self.word(shard, LOCAL)

    # ---------------------------------------------------------------- inserting

    def is_tight(self, shard: Shard, more: int) -> bool:
        """Whether a shard's table is too small for so many more. Raises MemoryError when numbers run out."""
        if self.word(shard, LOCAL) + more > self.room or self.word(shard, WAITING) + more > self.room:
            raise MemoryError("more states than there are numbers")
        return self.word(shard, COUNT) + more > FULL * shard.slots

    def grow(self, shard: Shard, more: int) -> None:
        """A larger table for a shard. Raises MemoryError."""
        growth = FAST_GROWTH if shard.slots < LARGE else GROWTH
        slots = max(int(shard.slots * growth), int((self.word(shard, COUNT) + more) / FULL) + 1)
        table = Region(8 * self.words * slots, huge=True)
        self.kernel.call["rehash"](shard.table.address, shard.slots, table.address, slots)
        shard.table.close()
        shard.table, shard.slots = table, slots
        self.use(shard)

    def start(self, states: Iterable[Words]) -> None:
        """Insert the initial states; a root remembers how many-th it is."""
        for ordinal, words in enumerate(states):
            entry = struct.pack(f"<{self.entry}Q", *words, ROOT | ordinal << 32)
            shard = self.shards[self.kernel.shard_of(words)]
            if self.is_tight(shard, 1):
                self.grow(shard, 1)
            buffer = ctypes.create_string_buffer(entry, len(entry))
            self._insert(shard, ctypes.addressof(buffer), 1)

    def _insert(self, shard: Shard, address: int, count: int) -> None:
        self.kernel.call["insert"](self.address + 8 * self.size * shard.number, address, count)

    def wake(self, shard: Shard, start: int, end: int) -> None:
        """Of what waited for this layer, take what has not been found without the fault."""
        self._insert(shard, shard.pending[0].address + 8 * self.entry * start, end - start)

    # ------------------------------------------------------------------ finding

    def firsts(self, place: int) -> Iterator[int]:
        """The first state of each shard that has a property, by its place among those asked of states."""
        return self._found(FIRSTS + place)

    def failures(self) -> Iterator[int]:
        """The first state of each shard where asking for a property makes an error."""
        return self._found(FAILED)

    def _found(self, place: int) -> Iterator[int]:
        return (word for shard in self.shards if (word := self.word(shard, place)) != NOWHERE)

    def ancestry(self, number: int) -> list[tuple[int, int]]:
        """The states on the way to one, from the root on: numbers, and which successor each is.

        Raises NoWays.
        """
        if not self.ways:
            raise NoWays(len(self) + 1)
        found = []
        while number != ROOT:
            shard, local = self.shards[number >> LOCAL_BITS], number & (1 << LOCAL_BITS) - 1
            found.append((number, int.from_bytes(shard.ordinals.read(4 * local, 4), "little")))
            number = int.from_bytes(shard.parents.read(4 * local, 4), "little")
        return found[::-1]

    def states(self, shard: Shard) -> Iterator[State]:
        """The states of a shard, in the order of its table."""
        layout = self.kernel.layout
        for place in range(shard.slots):
            slot = struct.unpack(f"<{self.words}Q", shard.table.read(8 * self.words * place, 8 * self.words))
            if slot[-1]:
                yield layout.unpack(tuple(word & layout.own(n) for n, word in enumerate(slot)))[1]

    def close(self) -> None:
        """Give all memory back."""
        for shard in self.shards:
            shard.close()
