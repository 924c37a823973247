"""What a search on disk has in memory: a table of recent states, and the new ones that are no run yet."""

from __future__ import annotations

import ctypes
from collections.abc import Collection

from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import (
    COUNT,
    FAILED,
    FIRSTS,
    FRONTIER,
    LOCAL,
    LOCAL_BITS,
    NEW,
    OPEN,
    PENDING,
    WAITING,
)
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.runs import Piece, StateArrays
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.space import PackedLevel, PackedSpace
from modelcheck.explicit.search.tally import Find
from spec.frozen import frozen

HERE = 1 << 61  # with the index of a state in the level that is expanded: its number
KEPT = 1 << 62  # with the index of a state that was found: its number for good


@frozen
class KeptState:
    """A state that a find is in: its words, and the level that it is of."""

    words: Words
    level: PackedLevel


class RecentSpace(PackedSpace):
    """The states of recent levels, and the new states of this one, which have numbers until they are a run.

    A state that the table does not have may be on disk, so it is only new when that was looked at.
    The table may have states that only wait for a fault, of any of those levels.
    """

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, ways=False)
        self.before = 0  # states of the levels before this one
        self.apart = 0  # new states of this level that are in a run already
        self.here = PackedLevel((0,), 0, 0)  # the level that is expanded
        self.kept: list[KeptState] = []

    def __len__(self) -> int:
        return self.before + self.apart + super().__len__()

    def begin(self, faults: int, depth: int) -> None:
        """Begin a level, which has no state yet."""
        self.levels.append(PackedLevel((self.before,), faults, depth))

    def level(self, number: int) -> PackedLevel:
        """The level of a state."""
        if number & KEPT:
            return self.kept[number ^ KEPT].level
        return self.here if number & HERE else self.levels[-1]

    @property
    def known(self) -> int:
        """The number of states in the table."""
        return sum(self._row(COUNT))

    def new(self, *, waiting: bool) -> int:
        """The number of new states that are no run yet: of this level, or waiting for the next layer."""
        return sum(self._row(WAITING if waiting else NEW))

    def words_of_new(self, number: int) -> Words:
        """The words of a new state."""
        shard, local = self.shards[number >> LOCAL_BITS], number & (1 << LOCAL_BITS) - 1
        width = 8 * self.words
        data = shard.frontiers[1].read(width * local, width)
        return tuple(int.from_bytes(data[at : at + 8], "little") for at in range(0, width, 8))

    def keep(self, find: Find, words: Words) -> int:
        """The number for good of the state of a find."""
        self.kept.append(KeptState(words, self.level(find.number)))
        return KEPT | len(self.kept) - 1

    def forget_firsts(self, properties: int) -> None:
        """Forget in which new state each of the properties was decided first, and where one failed."""
        for shard in self.shards:
            self._tell(shard, dict.fromkeys((FAILED, *range(FIRSTS, FIRSTS + properties)), NOWHERE))

    @property
    def witnessed(self) -> tuple[int, ...]:
        """The conditions that have a witness, by index."""
        first = len(self.kernel.context.of_states)
        return tuple(
            n for n in range(first, len(self.kernel.context.noted)) if any(True for _ in self.firsts(n))
        )

    def restore(self, witnessed: Collection[int]) -> None:
        """Forget all states, and set which conditions have a witness."""
        self.apart = 0
        self.empty()
        for shard in self.shards:
            self._tell(shard, dict.fromkeys(range(FAILED, self.size), NOWHERE) | {OPEN: self.kernel.open})
            self._tell(shard, {FIRSTS + place: 0 for place in witnessed})
        self.close_seen()

    # ------------------------------------------------------------------ new states

    def take_new(self, arrays: StateArrays, into: tuple[Region, Region], *, waiting: bool) -> Piece:
        """The new states, or those that wait, sorted, in one of two regions."""
        place = into[0].address
        for shard, count in zip(self.shards, self._row(WAITING if waiting else NEW), strict=True):
            if waiting:
                arrays.call["without_meta"](shard.pending[1].address, count, place)
            else:
                ctypes.memmove(place, shard.frontiers[1].address, arrays.width * count)
            place += arrays.width * count
        count = (place - into[0].address) // arrays.width
        return arrays.sort(into[0].address, into[1].address, count) if count else (place, 0)

    def restart(self) -> None:
        """Forget the new states, which are a run now; the table still has them."""
        for shard in self.shards:
            words = {FRONTIER: shard.frontiers[1].address, PENDING: shard.pending[1].address}
            self._tell(shard, {LOCAL: 0, NEW: 0, WAITING: 0} | words)

    def empty(self) -> None:
        """Forget all states; what was used for new ones is given back."""
        self.restart()
        for shard in self.shards:
            shard.table.forget(self.slot * shard.slots)
            shard.frontiers[1].forget(8 * self.words * self.room)
            shard.pending[1].forget(8 * self.entry * self.room)
            self._tell(shard, {COUNT: 0})
