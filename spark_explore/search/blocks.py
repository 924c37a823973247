"""What is done with blocks of states, wherever that happens: expand, deduplicate, look back.

Each function takes blocks and gives blocks; none keeps anything.  A block is
always in the order of the hashes, so the same states are the same bytes
whoever made them, and whatever order they came in.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from modelcheck.explicit.codegen.search.blocks import SPILL
from modelcheck.explicit.codegen.search.context import CURSOR, NOWHERE
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from spec.frozen import frozen

FULL = 0.7  # the load factor at most of a table that finds duplicates
SPARSE = 0.4  # the same where most look-ups find nothing
CHUNK = 1 << 14  # successors made at once, so that they are still in the cache when they are looked at
GATHERED = 1 << 22  # slots of the table that finds what a task makes twice
FAILED = 63  # the place of errors among the properties of states
PERIODS = 254  # blocks that one table can distinguish
Row = tuple[int, bytes]  # a shard, some of its states


class Overflow(Exception):  # noqa: N818 - the answer is a larger table
    """Raised if a table is too small for its states."""


@dataclass(slots=True)
class Expanded:
    """The counters of expanding states, and the states with findings, by word of the context."""

    words: list[int]
    finds: dict[int, Words] = field(default_factory=dict)


@frozen
class Deduplicated:
    """The new states of a level, those that wait for a fault, and findings in the new ones."""

    new: bytes
    waiting: bytes
    finds: dict[int, Words]


def words_at(block: bytes, number: int, words: int) -> Words:
    """State `number` of a block, as its words."""
    return struct.unpack_from(f"<{words}Q", block, 8 * words * number)


# ------------------------------------------------------------------------ expanding


class Expander:
    """Expands states, and yields their successors without most duplicates."""

    def __init__(self, kernel: Kernel, shards: int, expected: int) -> None:
        self._kernel = kernel
        self._shards = shards
        self._words = kernel.layout.words
        self._entry = 8 * (self._words + 1)
        self._slots = min(GATHERED, max(8 * expected, 1 << 10))
        self._room = CHUNK + 2 * kernel.most
        self._context = (ctypes.c_uint64 * kernel.context.size)(*kernel.context.new())
        self._scratch = Region(self._entry * self._room)
        self._table = Region(8 * self._words * (self._slots + SPILL), huge=True)
        self._out = Region(8 * self._words * (self._slots + SPILL), huge=True)
        self._used = 0
        self._finds: dict[int, Words] = {}

    def rows(self, blocks: Iterable[bytes], *, paid: bool) -> Iterator[Row]:
        """The successors by shard; with `paid` also those by faults."""
        width = 8 * self._words
        for found in self.blocks(blocks, paid=paid):
            start = 0
            for shard, many in enumerate(
                shares(self._kernel, address_of(found), len(found) // width, self._shards)
            ):
                if many:
                    yield shard, found[start : start + width * many]
                start += width * many

    def blocks(self, blocks: Iterable[bytes], *, paid: bool) -> Iterator[bytes]:
        """The successors in blocks that contain all shards."""
        for block in blocks:
            for chunk in self.chunks(block, paid=paid):
                yield from self._deduplicate(chunk)
            self._note(block)
        yield from self._take_all()

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

    def result(self) -> Expanded:
        """The counters and findings."""
        return Expanded(list(self._context), self._finds)

    def close(self) -> None:
        """Free the memory."""
        for region in (self._scratch, self._table, self._out):
            region.close()

    def _deduplicate(self, count: int) -> Iterator[bytes]:
        """Insert the first `count` successors in the scratch memory into the table.

        Whenever it has no room for the next few, empties it and yields the states that were in it.
        """
        step = max(self._slots // 8, 1)
        for first in range(0, count, step):
            many = min(step, count - first)
            if self._used + many > FULL * self._slots:
                yield from self._take_all()
            entries = self._scratch.address + self._entry * first
            new = self._kernel.call["deduplicate"](self._table.address, self._slots, entries, many)
            if new < 0:  # much of it is in the table: again would do no harm, but there is no room after it
                yield from self._take_all()
                new = self._kernel.call["deduplicate"](self._table.address, self._slots, entries, many)
                if new < 0:
                    raise AssertionError("a hash that is none")
            self._used += new

    def _take_all(self) -> Iterator[bytes]:
        """Yield the table's states, and empty it."""
        count = self._kernel.call["take_all"](self._table.address, self._slots, self._out.address)
        self._used = 0
        yield self._out.read(0, 8 * self._words * count)

    def _note(self, block: bytes) -> None:
        """Record the states with findings, the least of each kind."""
        for place in self._kernel.context.finds:
            number = self._context[place]
            if number != NOWHERE:
                state = words_at(block, number, self._words)
                self._finds[place] = min(self._finds.get(place, state), state)
                self._context[place] = NOWHERE


def shares(kernel: Kernel, address: int, count: int, shards: int) -> list[int]:
    """The number of a block's states in each shard."""
    if shards == 1:
        return [count]
    counts = (ctypes.c_uint64 * shards)()
    kernel.call["tell_shards"](address, count, shards, counts)
    return list(counts)


def address_of(block: bytes) -> int:
    """The memory address of the bytes, valid as long as they live."""
    return ctypes.cast(ctypes.c_char_p(block), ctypes.c_void_p).value or 0


# ------------------------------------------------------------------ deduplication


class TaggedTable:
    """A hash table of the states of one shard (or all), some of them tagged."""

    def __init__(self, kernel: Kernel, shards: int, most: int) -> None:
        self._call = kernel.call
        self._shards = shards
        self._width = 8 * kernel.layout.words
        self._slots = int(most / SPARSE) + 16
        self._table = Region(self._width * (self._slots + SPILL), huge=True)
        self._tags = Region(self._slots + SPILL)
        self.count = 0

    def merge(self, block: bytes, tag: int = 1) -> None:
        """Add the states of a block, new ones with a tag. Raises Overflow."""
        many = len(block) // self._width
        new = self._call["merge"](
            self._table.address, self._slots, self._tags.address, self._shards, block, many, tag
        )
        if new < 0:
            raise Overflow
        self.count += new

    def untag(self, block: bytes) -> None:
        """Remove the tags of a block's states."""
        many = len(block) // self._width
        self.count -= self._call["untag"](
            self._table.address, self._slots, self._tags.address, self._shards, block, many
        )

    def take(self, tag: int = 1, *, waiting: bool) -> bytes:
        """The block of states with a tag that wait for a fault, or of those that do not."""
        if not self.count:
            return b""
        out = Region(self._width * self.count, huge=True)
        try:
            many = self._call["take"](
                self._table.address, self._slots, self._tags.address, tag, waiting, out.address
            )
            return out.read(0, self._width * many)
        finally:
            out.close()

    def close(self) -> None:
        """Free the memory."""
        self._table.close()
        self._tags.close()


def deduplicate(
    kernel: Kernel, shards: int, candidates: Sequence[bytes], seen: Iterable[bytes]
) -> Deduplicated:
    """The candidates of a shard that are not in its visited set.

    Costs a table of the candidates, and a look into it for each state that was seen.
    """
    table = filled(kernel, shards, candidates)
    try:
        for block in seen if table.count else ():
            table.untag(block)
        new, waiting = table.take(waiting=False), table.take(waiting=True)
    finally:
        table.close()
    return Deduplicated(new, waiting, found_in(kernel, new))


def filled(kernel: Kernel, shards: int, blocks: Sequence[bytes], tags: Sequence[int] = ()) -> TaggedTable:
    """A table of the blocks' states; a state has the tag of the first block with it."""
    room = sum(map(len, blocks)) // (8 * kernel.layout.words)
    while True:
        table = TaggedTable(kernel, shards, room)
        try:
            for number, block in enumerate(blocks):
                table.merge(block, tags[number] if tags else 1)
        except Overflow:
            table.close()
            room *= 2
        else:
            return table


def found_in(kernel: Kernel, block: bytes) -> dict[int, Words]:
    """The first state of a block that violates or satisfies each property, by index."""
    words = kernel.layout.words
    if not kernel.context.asks_states or not block:
        return {}
    firsts = (ctypes.c_uint64 * (FAILED + 1))(*[NOWHERE] * (FAILED + 1))
    kernel.call["ask"](block, len(block) // (8 * words), firsts)
    return {place: words_at(block, number, words) for place, number in enumerate(firsts) if number != NOWHERE}


def deduplicate_waiting(
    kernel: Kernel, shards: int, waiting: Sequence[bytes], seen: Sequence[Iterable[bytes]]
) -> list[bytes]:
    """For each block of waiting states those in no earlier block and not visited.

    `seen` are the same states again and again: they are gone through once for every PERIODS blocks.
    """
    kept: list[bytes] = []
    for first, again in zip(range(0, len(waiting), PERIODS), seen, strict=True):
        part = waiting[first : first + PERIODS]
        table = filled(kernel, shards, part, range(1, len(part) + 1))
        try:
            for block in [*kept]:
                table.untag(block)
            for block in again:
                table.untag(block)
            kept += [table.take(tag, waiting=False) for tag in range(1, len(part) + 1)]
        finally:
            table.close()
    return kept
