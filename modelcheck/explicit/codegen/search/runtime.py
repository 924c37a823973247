"""What the inner loops of the search share: the words of shards and rounds, and states in tables.

A shard owns the states whose hash begins with its number.  Its table holds
whole states at the place of their hash, or at the next that is free; so
nothing needs a lock, and no two states are ever taken for one.  NOTE(order):
chunks are expanded by whoever comes first, but a shard takes their successors
in the order of the chunks, so all numbers are the same for any number of
threads.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.context import CURSOR, Context
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.explicit.codegen.states.state import StateBits

SHARD_BITS = 4
SHARDS = 1 << SHARD_BITS
LOCAL_BITS = 28  # a state's number is its shard's and its own in there
MOST_STATES = 1 << LOCAL_BITS  # of one shard
ENTRY_META = (
    1  # after the words of a successor: its predecessor, its index among the successors, is it by a fault
)
FAULT = 63
ACTION = 56  # in kernels for blocks, the number of its action begins at this bit, below FAULT
MOST_NAMED = 127  # actions; those beyond have this number
AHEAD = 12  # successors by which the slot in the table is prefetched

# The bits that the table keeps in a state: it only waits for a fault; it gets to a goal; or beyond the
# scope; it has been found once more.
WAITS, FINE, BEYOND, AGAIN = range(4)
MARKS = 4
EXPANDED = 1  # in the place of FINE, where steps are left for later: not of this level or a later one

# The words of a shard.
TABLE, SLOTS, COUNT, LOCAL, WAYS, LATEST, FRONTIER, NEW, PENDING, WAITING, NUMBER = range(11)
OPEN = 11  # the conditions that have no witness yet, a bit for each
TRAPPED, FAILED, FIRSTS = range(12, 15)  # first finds: without a way back, of an error, of each property


class Round(ctypes.Structure):
    """The memory that the threads of a round share: its chunks and shards, and the next of each to take."""

    next: int
    chunks: int
    chunk_table: int
    with_faults: int
    shard_next: int
    shard_table: int
    shard_size: int
    _fields_ = tuple((name, ctypes.c_uint64) for name in __annotations__)


class Chunk(ctypes.Structure):
    """A batch of states to expand: how many are done, and where each shard's successors begin in `out`."""

    states: int
    first: int
    how_many: int
    done: int
    out: int
    offsets: ctypes.Array[ctypes.c_uint64]
    _fields_ = tuple(
        (name, ctypes.c_uint64 * (SHARDS + 1) if name == "offsets" else ctypes.c_uint64)
        for name in __annotations__
    )


def places(of: type[ctypes.Structure]) -> dict[str, int]:
    """The index of the word of each field of a structure, for the code that accesses it."""
    return {name: getattr(of, name).offset // 8 for name, *_ in of._fields_}


ROUND, CHUNK = places(Round), places(Chunk)
CHUNK_SIZE = ctypes.sizeof(Chunk) // 8


def _odd(name: str) -> int:
    """An odd 64-bit number derived from a name, the same in every run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) | 1


class StateWords:
    """The base of the classes that write functions on states: copying and comparing their words."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.entry = words + ENTRY_META

    def difference(self, fn: Function, one: str, other: str) -> V:
        """Emit the exclusive or of two states, all words joined by or: 0 if they are equal."""
        differs = i64(0)
        for n in range(self.words):
            differs = fn.or_(differs, fn.xor(fn.read(one, n), fn.read(other, n)))
        return differs

    def move(self, fn: Function, source: str, to: str, count: int | None = None) -> None:
        """Emit copying the words of a state, or `count` words, with the marks of the table."""
        for n in range(count or self.words):
            fn.write(to, fn.read(source, n), n)


class Runtime(StateWords):
    """The base of the classes that write the search: finding, copying and comparing states in tables."""

    def __init__(self, layout: PackedLayout, context: Context) -> None:
        super().__init__(layout.words)
        self.layout = layout
        self.context = context
        self.slot_bytes = layout.slot

    def hash(self) -> Function:
        """Write `hash`: the hash of a state, whose highest bits are the best mixed.

        That of a state in which nothing was spent does not depend on what is counted, nor
        does the order of the search: a check alone and one of a family show the same runs.
        """
        fn = Function("hash", [("ptr", "words")], "i64", "alwaysinline nounwind")
        plain = self.layout.uncounted()
        mixed = fn.mul(self._word(fn, plain, 0), i64(0x9E3779B97F4A7C15))
        for n in range(1, plain.words):
            folded = fn.xor(mixed, fn.lshr(mixed, i64(29)))
            mixed = fn.mul(fn.xor(folded, self._word(fn, plain, n)), i64(0xBF58476D1CE4E5B9))
        bits = StateBits(fn, self.layout, "%words")
        for place, counter in enumerate(self.layout.counters):
            spent = bits.get(bits.counter(place)).v
            mixed = fn.add(mixed, fn.mul(spent, i64(_odd(counter.name))))
        mixed = fn.mul(fn.xor(mixed, fn.lshr(mixed, i64(32))), i64(0x94D049BB133111EB))
        fn.end(f"ret {mixed}")
        return fn

    def _word(self, fn: Function, plain: PackedLayout, place: int) -> V:
        """Emit reading a word of a state, with the counters of faults cleared."""
        word = fn.read("%words", place)
        if not self.layout.counters:
            return word
        own = (1 << max(0, min(WORD, plain.width - WORD * place))) - 1
        always = 1 << plain.used % WORD if place == plain.used // WORD else 0
        return fn.or_(fn.and_(word, i64(own)), i64(always))

    def shard(self, fn: Function, hash_: V) -> V:
        """Emit the shard of a hash: its highest bits."""
        return fn.lshr(hash_, i64(WORD - SHARD_BITS))

    def slot(self, fn: Function, hash_: V, slots: V) -> V:
        """Emit the index of the slot at which a hash belongs; it is monotone in the hash."""
        high = fn.resize(fn.shl(hash_, i64(SHARD_BITS)), 128)
        return fn.resize(fn.lshr(fn.mul(high, fn.resize(slots, 128)), const(128, 64)), 64)

    def find(self, fn: Function, table: str, slots: V, state: str) -> tuple[V, V]:
        """Emit finding a state in a table: the address of its slot or of a free one; whether it is there."""
        last = self.words - 1
        at = fn.cell(64, self.slot(fn, fn.call(64, "hash", state), slots))
        there = fn.cell(1, FALSE)
        look, full, on, found, done = (fn.new(h) for h in ("look", "full", "on", "found", "looked"))
        fn.goto(look)
        fn.begin(look)
        now = fn.load(at)
        slot = self.slot_at(fn, table, now)
        fn.fork(fn.is_zero(self.slot_word(fn, slot, last)), done, full)
        fn.begin(full)
        fn.fork(self.is_in(fn, slot, state), found, on)
        fn.begin(on)
        following = fn.add(now, i64(1))
        fn.store(at, fn.select(fn.eq(following, slots), i64(0), following))
        fn.goto(look)
        fn.begin(found)
        fn.store(there, const(1, 1))
        fn.goto(done)
        fn.begin(done)
        return fn.address(self.slot_at(fn, table, fn.load(at))), fn.load(there)

    def slot_at(self, fn: Function, table: str, index: V) -> str:
        """Emit the pointer to a slot of a table."""
        return fn.at(table, fn.mul(index, i64(self.slot_bytes)), "i8")

    def slot_word(self, fn: Function, slot: str, n: int) -> V:
        """Emit reading a word of a slot, of whose last word only some bytes are there."""
        return fn.resize(fn.read(fn.at(slot, 8 * n, "i8"), 0, self._bits_of(n), align=1), WORD)

    def put_slot_word(self, fn: Function, slot: str, word: V, n: int) -> None:
        """Emit writing a word of a slot."""
        fn.write(fn.at(slot, 8 * n, "i8"), fn.resize(word, self._bits_of(n)), align=1)

    def put(self, fn: Function, state: str, slot: str) -> None:
        """Emit writing a state into a slot, with the marks of the table."""
        for n in range(self.words):
            self.put_slot_word(fn, slot, fn.read(state, n), n)

    def _bits_of(self, n: int) -> int:
        """The number of bits of a word in a slot."""
        return min(WORD, 8 * self.slot_bytes - WORD * n)

    def look(self, fn: Function, state: str) -> tuple[V, V]:
        """Emit finding a state in its shard's table: the address of the slot, and whether it is there."""
        number = self.shard(fn, fn.call(64, "hash", state))
        shard = fn.at("%shards", fn.mul(number, V(64, "%size")))
        return self.find(fn, fn.pointer(fn.read(shard, TABLE)), fn.read(shard, SLOTS), state)

    def is_in(self, fn: Function, slot: str, state: str) -> V:
        """Emit whether a slot holds a state, ignoring the marks of the table."""
        differs = i64(0)
        for n in range(self.words):
            difference = fn.xor(self.slot_word(fn, slot, n), fn.read(state, n))
            difference = fn.and_(difference, i64(self.layout.own(n)))
            differs = fn.or_(differs, difference)
        return fn.is_zero(differs)

    def is_marked(self, fn: Function, slot: str, mark: int) -> V:
        """Emit whether a mark of the table is set in a slot."""
        word, bit = self.layout.mark(mark)
        return fn.is_set(fn.and_(self.slot_word(fn, slot, word), i64(bit)))

    def put_mark(self, fn: Function, slot: str, mark: int) -> None:
        """Emit setting a mark of the table in a slot."""
        word, bit = self.layout.mark(mark)
        self.put_slot_word(fn, slot, fn.or_(self.slot_word(fn, slot, word), i64(bit)), word)

    def made_from(self, fn: Function, start: V) -> V:
        """Emit the number of successors in the buffer from an address on."""
        return fn.udiv(fn.sub(fn.read("%ctx", CURSOR), start), i64(8 * self.entry))

    @contextmanager
    def taken(self, fn: Function, of: str, count: Callable[[], V]) -> Iterator[V]:
        """Emit the code of the `with` as a loop over the indices that no other thread has taken."""
        again, take, done = fn.new("again"), fn.new("take"), fn.new("done")
        fn.goto(again)
        fn.begin(again)
        index = V(64, "%index")
        fn.emit(f"%index = atomicrmw add ptr {fn.at('%round', ROUND[of])}, i64 1 seq_cst")
        fn.fork(fn.less(index, count()), take, done)
        fn.begin(take)
        yield index
        fn.goto(again)
        fn.begin(done)

    @contextmanager
    def states_in(self, fn: Function, table: str, slots: V) -> Iterator[tuple[V, str]]:
        """Emit the code of the `with` as a loop over a table's states: the slot's index and pointer."""
        with fn.loop(slots) as index:
            slot = self.slot_at(fn, table, index)
            with fn.when(fn.is_set(self.slot_word(fn, slot, self.words - 1))):
                yield index, slot

    def copy(self, fn: Function, slot: str, to: str) -> None:
        """Emit copying the state in a slot, without the marks of the table."""
        for n in range(self.words):
            fn.write(to, fn.and_(self.slot_word(fn, slot, n), i64(self.layout.own(n))), n)
