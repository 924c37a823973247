"""Inserting successors into the visited set, as code: new states get a number, those by a fault wait.

`revisit` does what `insert` has done, with states that are all in their tables: by the same
successors in the same order each gets the same number as before.

NOTE(ways): a shard has the way to each state in the order of their numbers: how much larger its
predecessor is than that of the state before (by 32 bits, so it may be less), and the how many-th
successor it is.  A level is expanded in the order of its numbers, so two bytes have most ways.  A
number has seven bits in a byte, the lowest first, and each byte but the first has its highest bit
set: ways are read from the last to the first, as a path is, whose states in a shard have ever less
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelcheck.explicit.codegen.arithmetic import TRUE, V, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import (
    AGAIN,
    AHEAD,
    BEYOND,
    CHUNK,
    CHUNK_SIZE,
    COUNT,
    FAILED,
    FAULT,
    FINE,
    FIRSTS,
    FRONTIER,
    LATEST,
    LOCAL,
    MARKS,
    NEW,
    NUMBER,
    OPEN,
    PENDING,
    ROUND,
    SHARDS,
    SLOTS,
    TABLE,
    TRAPPED,
    WAITING,
    WAITS,
    WAYS,
    Runtime,
)

NUMBERS = (1 << 32) - 1  # the bits of a state's number
CONTINUED = 128  # this bit of a byte, or more: the byte before belongs to the number too
INSERT, REVISIT = "insert", "revisit"


class Insertion(Runtime):
    """Writes the LLVM functions that insert successors into the tables of their shards."""

    def functions(self) -> list[Function]:
        """Write the LLVM functions that insert successors, and the one that enlarges a table."""
        names = (INSERT, REVISIT) if self.layout.marks == MARKS else (INSERT,)
        return [*map(self._insert, names), *map(self._round, names), self._trace_back(), self._rehash()]

    def _insert(self, called: str) -> Function:
        """Write `insert` (or `revisit`): adds successors to the table and frontier of a shard.

        A new state by a fault waits for the next layer.
        """
        params = [("ptr noalias", "shard"), ("ptr", "entries"), ("i64", "count")]
        fn = Function(called, params, "void")
        word, bit = self.layout.mark(WAITS)
        table, slots = fn.pointer(fn.read("%shard", TABLE)), fn.read("%shard", SLOTS)
        with fn.loop(V(64, "%count")) as index:
            self._fetch(fn, table, slots, fn.add(index, i64(AHEAD)))
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            meta = fn.read(entry, self.words)
            address, there = self.find(fn, table, slots, entry)
            slot = fn.pointer(address)
            by_fault = fn.is_set(fn.lshr(meta, i64(FAULT)))
            known, absent, wait, fresh, done = (
                fn.new(h) for h in ("known", "absent", "wait", "fresh", "inserted")
            )
            if called == REVISIT:
                fn.leave_if(fn.not_(there), done)
                there = self.is_marked(fn, slot, AGAIN)
            fn.fork(there, known, absent)
            with fn.local_values():
                fn.begin(known)
                marked = self.slot_word(fn, slot, word)
                waits = fn.is_set(fn.and_(marked, i64(bit)))
                wakes = fn.new("wakes")
                fn.fork(fn.and_(waits, fn.not_(by_fault)), wakes, done)
                fn.begin(wakes)
                self.put_slot_word(fn, slot, fn.and_(marked, i64(~bit)), word)
                fn.goto(fresh)
            with fn.local_values():
                fn.begin(absent)
                if called == REVISIT:
                    self.put_mark(fn, slot, AGAIN)
                else:
                    self.put(fn, entry, slot)
                fn.write("%shard", fn.add(fn.read("%shard", COUNT), i64(1)), COUNT)
                fn.fork(by_fault, wait, fresh)
            with fn.local_values():
                fn.begin(wait)
                self.put_mark(fn, slot, WAITS)
                self._wait(fn, entry, meta)
                fn.goto(done)
            with fn.local_values():
                fn.begin(fresh)
                self._number(fn, entry, meta)
                if called == REVISIT:
                    self._note_trapped(fn, slot)
                else:
                    self._note_found(fn, entry)
                fn.write("%shard", fn.add(fn.read("%shard", LOCAL), i64(1)), LOCAL)
                fn.goto(done)
            fn.begin(done)
        fn.end("ret void")
        return fn

    def _fetch(self, fn: Function, table: str, slots: V, ahead: V) -> None:
        """Emit a prefetch of the slot of a successor some places ahead."""
        with fn.when(fn.less(ahead, V(64, "%count"))):
            later = fn.at("%entries", fn.mul(ahead, i64(self.entry)))
            place = self.slot(fn, fn.call(64, "hash", later), slots)
            soon = self.slot_at(fn, table, place)
            fn.emit(f"call void @llvm.prefetch.p0(ptr {soon}, i32 1, i32 3, i32 1)")

    def _wait(self, fn: Function, entry: str, meta: V) -> None:
        """Emit appending a successor by a fault to the shard's list of waiting states."""
        waiting = fn.read("%shard", WAITING)
        place = fn.at(fn.pointer(fn.read("%shard", PENDING)), fn.mul(waiting, i64(self.entry)))
        self.move(fn, entry, place)
        fn.write(place, fn.and_(meta, i64(~(1 << FAULT))), self.words)
        fn.write("%shard", fn.add(waiting, i64(1)), WAITING)

    def _number(self, fn: Function, entry: str, meta: V) -> None:
        """Emit giving a new state the next number, its way, and a place in the frontier."""
        with fn.when(fn.is_set(fn.read("%shard", WAYS))):
            self._append_way(fn, meta)
        new = fn.read("%shard", NEW)
        place = fn.at(fn.pointer(fn.read("%shard", FRONTIER)), fn.mul(new, i64(self.words)))
        self.move(fn, entry, place)
        fn.write("%shard", fn.add(new, i64(1)), NEW)

    def _append_way(self, fn: Function, meta: V) -> None:
        """Emit writing the way to a new state behind those of its shard: NOTE(ways)."""
        predecessor, ordinal = fn.and_(meta, i64(NUMBERS)), fn.lshr(fn.shl(meta, i64(1)), i64(33))
        at = fn.cell(64, fn.read("%shard", WAYS))
        self._push(fn, at, fn.and_(fn.sub(predecessor, fn.read("%shard", LATEST)), i64(NUMBERS)))
        self._push(fn, at, ordinal)
        fn.write("%shard", fn.load(at), WAYS)
        fn.write("%shard", predecessor, LATEST)

    def _push(self, fn: Function, at: Register, number: V) -> None:
        """Emit writing a number at an address, which goes behind it."""
        self._put_byte(fn, at, fn.and_(number, i64(CONTINUED - 1)))
        left = fn.cell(64, fn.lshr(number, i64(7)))
        with fn.during(lambda: fn.is_set(fn.load(left))):
            self._put_byte(fn, at, fn.or_(fn.and_(fn.load(left), i64(CONTINUED - 1)), i64(CONTINUED)))
            fn.store(left, fn.lshr(fn.load(left), i64(7)))

    def _put_byte(self, fn: Function, at: Register, byte: V) -> None:
        """Emit writing a byte at an address, which goes behind it."""
        address = fn.load(at)
        fn.write(fn.pointer(address), fn.resize(byte, 8))
        fn.store(at, fn.add(address, i64(1)))

    def _trace_back(self) -> Function:
        """Write `trace_back`: takes ways from the end of a shard, up to that of a state, and returns it.

        Bit 32 and those above have the ordinal, those below the predecessor.
        """
        fn = Function("trace_back", [("ptr noalias", "shard"), ("i64", "local")], "i64")
        found = fn.cell(64, i64(0))
        with fn.during(lambda: fn.less(V(64, "%local"), fn.read("%shard", LOCAL))):
            at, latest = fn.cell(64, fn.read("%shard", WAYS)), fn.read("%shard", LATEST)
            ordinal = pop(fn, at)
            fn.store(found, fn.or_(latest, fn.shl(ordinal, i64(32))))
            fn.write("%shard", fn.and_(fn.sub(latest, pop(fn, at)), i64(NUMBERS)), LATEST)
            fn.write("%shard", fn.load(at), WAYS)
            fn.write("%shard", fn.sub(fn.read("%shard", LOCAL), i64(1)), LOCAL)
        fn.end(f"ret {fn.load(found)}")
        return fn

    def _note_found(self, fn: Function, entry: str) -> None:
        """Emit checking the properties in a new state, and the conditions without a witness."""
        properties = len(self.context.of_states)
        if properties or self.context.of_runs:
            found = fn.call(64, "found", entry)
            with fn.when(fn.is_set(found)):
                self._note_each(fn, found, range(properties))
                self._note(fn, fn.is_set(fn.lshr(found, i64(63))), FAILED)
        if self.context.witnesses:
            with fn.when(fn.is_set(fn.read("%shard", OPEN))):
                seen = fn.call(64, "witnessed", entry, fn.read("%shard", OPEN))
                self._note_each(fn, seen, range(properties, len(self.context.noted)))
                fn.write("%shard", fn.xor(fn.read("%shard", OPEN), seen), OPEN)

    def _note_each(self, fn: Function, found: V, places: Iterable[int]) -> None:
        """Emit recording the state for each property whose bit in `found` is set."""
        for place in places:
            self._note(fn, fn.resize(fn.lshr(found, i64(place)), 1), FIRSTS + place)

    def _note_trapped(self, fn: Function, slot: str) -> None:
        """Emit recording the state if it has no way back to a goal."""
        open_ = fn.or_(self.is_marked(fn, slot, FINE), self.is_marked(fn, slot, BEYOND))
        self._note(fn, fn.not_(open_), TRAPPED)

    def _note(self, fn: Function, found: V, place: int) -> None:
        """Emit storing the state's number in a word of the shard if `found` is true for the first time."""
        with fn.when(fn.and_(found, fn.eq(fn.read("%shard", place), i64(NOWHERE)))):
            fn.write("%shard", fn.add(fn.read("%shard", NUMBER), fn.read("%shard", LOCAL)), place)

    def _round(self, called: str) -> Function:
        """Write `insert_round`: takes shards of a round until none is left; inserts all chunks' states."""
        fn = Function(f"{called}_round", [("ptr", "round")], "void")
        with self.taken(fn, "shard_next", lambda: i64(SHARDS)) as index:
            size = fn.read("%round", ROUND["shard_size"])
            shard = fn.at(fn.pointer(fn.read("%round", ROUND["shard_table"])), fn.mul(index, size))
            chunks = fn.pointer(fn.read("%round", ROUND["chunk_table"]))
            with fn.loop(fn.read("%round", ROUND["chunks"])) as number:
                chunk = fn.at(chunks, fn.mul(number, i64(CHUNK_SIZE)))
                offsets = fn.at(chunk, CHUNK["offsets"])
                first, behind = fn.read(offsets, index), fn.read(offsets, fn.add(index, i64(1)))
                entries = fn.at(fn.pointer(fn.read(chunk, CHUNK["out"])), fn.mul(first, i64(self.entry)))
                fn.emit(f"call void @{called}(ptr {shard}, ptr {entries}, {fn.sub(behind, first)})")
        fn.end("ret void")
        return fn

    def _rehash(self) -> Function:
        """Write `rehash`: moves the states of a table to an empty one of another size."""
        params = [("ptr noalias", "old"), ("i64", "size"), ("ptr noalias", "new"), ("i64", "slots")]
        fn = Function("rehash", params, "void")
        own = fn.array(self.words)
        with self.states_in(fn, "%old", V(64, "%size")) as (_, slot):
            self.copy(fn, slot, own)
            address, _ = self.find(fn, "%new", V(64, "%slots"), own)
            target = fn.pointer(address)
            for n in range(self.words):
                self.put_slot_word(fn, target, self.slot_word(fn, slot, n), n)
        fn.end("ret void")
        return fn


def pop(fn: Function, at: Register) -> V:
    """Emit reading the number in front of an address, which goes before it."""
    found, more = fn.cell(64, i64(0)), fn.cell(1, TRUE)
    with fn.during(lambda: fn.load(more)):
        address = fn.sub(fn.load(at), i64(1))
        byte = fn.resize(fn.read(fn.pointer(address), 0, 8), 64)
        fn.store(found, fn.or_(fn.shl(fn.load(found), i64(7)), fn.and_(byte, i64(CONTINUED - 1))))
        fn.store(more, fn.is_set(fn.lshr(byte, i64(7))))
        fn.store(at, address)
    return fn.load(found)
