"""What is done with blocks of states, wherever that happens: expand them, look back from them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from modelcheck.explicit.codegen.search.blocks import SPILL
from modelcheck.explicit.codegen.search.context import CURSOR, NOWHERE
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.runs import Piece, StateArrays
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.storage.sorted_pieces import address_of
from spec.frozen import frozen

FULL = 0.7  # the load factor at most of a table that finds duplicates
CHUNK = 1 << 14  # successors made at once, so that they are still in the cache when they are looked at
GATHERED = 1 << 22  # slots of the table that finds what a task makes twice
FAILED = 63  # the place of errors among the properties of states


@dataclass(slots=True)
class Expanded:
    """The counters of expanding states, and the states with findings, by word of the context."""

    words: list[int]
    finds: dict[int, Words] = field(default_factory=dict)


@frozen
class Candidates:
    """States of a shard that may be new, in the order of their values: a step leads there, or a fault alone.

    They are there until the next are asked for.
    """

    shard: int
    free: Piece
    waiting: Piece


def words_at(block: bytes, number: int, words: int) -> Words:
    """State `number` of a block, as its words."""
    return struct.unpack_from(f"<{words}Q", block, 8 * words * number)


# ------------------------------------------------------------------------ expanding


class Expander:
    """Expands states, block by block."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._words = kernel.layout.words
        self._entry = 8 * (self._words + 1)
        self._room = CHUNK + 2 * kernel.most
        self._context = (ctypes.c_uint64 * kernel.context.size)(*kernel.context.new())
        self._scratch = Region(self._entry * self._room)

    def chunks(self, block: bytes, *, paid: bool) -> Iterator[int]:
        """Expand a block in chunks; yields how many successors are in the scratch memory."""
        count, done, context = len(block) // (8 * self._words), 0, self._context
        at, end = address_of(block), self._scratch.address + self._entry * self._room
        while done < count:
            context[CURSOR] = self._scratch.address
            left = count - done
            done += self._kernel.call["expand"](context, at + 8 * self._words * done, done, left, end, paid)
            yield (context[CURSOR] - self._scratch.address) // self._entry

    def entries(self, block: bytes, *, paid: bool) -> Iterator[bytes]:
        """Every successor with its word that tells which step it is by, see `runtime.py`."""
        for count in self.chunks(block, paid=paid):
            yield self._scratch.read(0, self._entry * count)

    def predecessor_of(self, blocks: Iterable[bytes], state: Words, *, by_fault: bool) -> Words | None:
        """The first state with a step to `state`, if there is one."""
        wanted = (ctypes.c_uint64 * self._words)(*state)
        for block in blocks:
            for count in self.chunks(block, paid=by_fault):
                place = self._kernel.call["lead_to"](self._scratch.address, count, wanted, by_fault)
                if place >= 0:
                    meta = self._scratch.read(self._entry * place + 8 * self._words, 4)
                    return words_at(block, int.from_bytes(meta, "little"), self._words)
        return None

    def close(self) -> None:
        """Free the memory."""
        self._scratch.close()


class SuccessorTable(Expander):
    """Expands states into a table that drops what was made twice; `expected` is how many there are."""

    def __init__(self, kernel: Kernel, arrays: StateArrays, shards: int, expected: int) -> None:
        super().__init__(kernel)
        self._arrays = arrays
        self._shards = shards
        self._slots = min(GATHERED, max(8 * expected, 1 << 10))
        width = 8 * self._words
        self._table = Region(width * (self._slots + SPILL), huge=True)
        room = width * (int(FULL * self._slots) + 1)  # what is in it at most, and takes nothing until it is
        self._taken, self._free, self._waiting = (Region(room, huge=True) for _ in range(3))
        self._used = 0
        self._finds: dict[int, Words] = {}

    def candidates(self, blocks: Iterable[bytes], *, paid: bool) -> Iterator[list[Candidates]]:
        """The successors by shard, whenever the table is full; with `paid` also those by faults."""
        for block in blocks:
            for chunk in self.chunks(block, paid=paid):
                yield from self._deduplicate(chunk, paid=paid)
            self._note(block)
        yield self._take_all(paid=paid)

    def result(self) -> Expanded:
        """The counters and findings."""
        return Expanded(list(self._context), self._finds)

    def close(self) -> None:
        """Free the memory."""
        super().close()
        for region in (self._table, self._taken, self._free, self._waiting):
            region.close()

    def _deduplicate(self, count: int, *, paid: bool) -> Iterator[list[Candidates]]:
        """Insert the first `count` successors in the scratch memory into the table.

        Whenever it has no room for the next few, empties it and yields the states that were in it.
        """
        step = max(self._slots // 8, 1)
        for first in range(0, count, step):
            many = min(step, count - first)
            if self._used + many > FULL * self._slots:
                yield self._take_all(paid=paid)
            entries = self._scratch.address + self._entry * first
            new = self._kernel.call["deduplicate"](self._table.address, self._slots, entries, many)
            if new < 0:  # much of it is in the table: again would do no harm, but there is no room after it
                yield self._take_all(paid=paid)
                new = self._kernel.call["deduplicate"](self._table.address, self._slots, entries, many)
                if new < 0:
                    raise AssertionError("a hash that is none")
            self._used += new

    def _take_all(self, *, paid: bool) -> list[Candidates]:
        """The table's states, after which it is empty."""
        call, states, other, waiting = self._kernel.call, self._taken, self._free, self._waiting
        many = count = call["take_all"](self._table.address, self._slots, states.address)
        self._used = 0
        if paid:
            many = call["part"](states.address, count, other.address, waiting.address)
            states, other = other, states
        behind = other.address + 8 * self._words * many
        free = self._sorted(states.address, other.address, many)
        waits = self._sorted(waiting.address, behind, count - many)
        both = enumerate(zip(free, waits, strict=True))
        return [Candidates(shard, *each) for shard, each in both if each[0][1] or each[1][1]]

    def _sorted(self, states: int, other: int, count: int) -> list[Piece]:
        """The states of each shard, which are together, in the order of their values."""
        counts = (ctypes.c_uint64 * self._shards)()
        self._kernel.call["tell_shards"](states, count, self._shards, counts)
        found, start = list[Piece](), 0
        for many in counts:
            found.append(self._arrays.sort(states + start, other + start, many) if many else (states, 0))
            start += 8 * self._words * many
        return found

    def _note(self, block: bytes) -> None:
        """Record the states with findings, the least of each kind."""
        for place in self._kernel.context.finds:
            number = self._context[place]
            if number != NOWHERE:
                state = words_at(block, number, self._words)
                self._finds[place] = min(self._finds.get(place, state), state)
                self._context[place] = NOWHERE


def least(finds: Iterable[tuple[int, Sequence[int]]]) -> dict[int, Words]:
    """The least state of each kind of finding."""
    found: dict[int, Words] = {}
    for place, state in finds:
        found[place] = min(found.get(place, tuple(state)), tuple(state))
    return found


def found_in(kernel: Kernel, states: Piece) -> dict[int, Words]:
    """The first of some states that violates or satisfies each property, by index."""
    (address, count), words = states, kernel.layout.words
    if not kernel.context.asks_states or not count:
        return {}
    firsts = (ctypes.c_uint64 * (FAILED + 1))(*[NOWHERE] * (FAILED + 1))
    kernel.call["ask"](address, count, firsts)
    return {
        place: words_at(ctypes.string_at(address + 8 * words * number, 8 * words), 0, words)
        for place, number in enumerate(firsts)
        if number != NOWHERE
    }
