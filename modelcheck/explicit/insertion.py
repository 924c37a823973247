"""Inserting successors as code: what is new gets a number, what is new by a fault waits."""

from __future__ import annotations

from modelcheck.explicit.arithmetic import V, i64
from modelcheck.explicit.assembly import Function
from modelcheck.explicit.context import NOWHERE
from modelcheck.explicit.runtime import (
    AHEAD,
    CHUNK_SIZE,
    CHUNK_TABLE,
    CHUNKS,
    COUNT,
    FAILED,
    FAULT,
    FIRSTS,
    FRONTIER,
    LOCAL,
    NEW,
    NUMBER,
    OFFSETS,
    ORDINALS,
    OUT,
    PARENTS,
    PENDING,
    SHARD_NEXT,
    SHARD_SIZE,
    SHARD_TABLE,
    SHARDS,
    SLOTS,
    TABLE,
    WAITING,
    WAITS,
    Runtime,
)


class Insertion(Runtime):
    """Writes how successors get into the tables of their shards."""

    def functions(self) -> list[Function]:
        """All functions."""
        return [self._insert(), self._insert_round(), self._rehash()]

    def _insert(self) -> Function:
        """Insert successors into a shard. A new one by a fault only waits there, until the next layer."""
        fn = Function(
            "insert", [("ptr noalias", "shard"), ("ptr", "entries"), ("i64", "count")], "void", "nounwind"
        )
        word, bit = self.layout.mark(WAITS)
        table, slots = fn.pointer(fn.read("%shard", TABLE)), fn.read("%shard", SLOTS)
        count = V(64, "%count")
        with fn.loop(count) as index:
            ahead = fn.add(index, i64(AHEAD))
            with fn.when(fn.less(ahead, count)):
                later = fn.at("%entries", fn.mul(ahead, i64(self.entry)))
                place = self.slot(fn, fn.call(64, "hash", later), slots)
                soon = fn.at(table, fn.mul(place, i64(self.words)))
                fn.emit(f"call void @llvm.prefetch.p0(ptr {soon}, i32 1, i32 3, i32 1)")
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            meta = fn.read(entry, self.words)
            address, there = self.find(fn, table, slots, entry)
            slot = fn.pointer(address)
            by_fault = fn.ne(fn.lshr(meta, i64(FAULT)), i64(0))
            known, absent, wait, fresh, done = (
                fn.new(h) for h in ("known", "absent", "wait", "fresh", "inserted")
            )
            fn.fork(there, known, absent)
            with fn.remembering():
                fn.begin(known)
                marked = fn.read(slot, word)
                waits = fn.ne(fn.and_(marked, i64(bit)), i64(0))
                wakes = fn.new("wakes")
                fn.fork(fn.and_(waits, fn.not_(by_fault)), wakes, done)
                fn.begin(wakes)
                fn.write(slot, fn.and_(marked, i64(~bit)), word)
                fn.goto(fresh)
            with fn.remembering():
                fn.begin(absent)
                for n in range(self.words):
                    fn.write(slot, fn.read(entry, n), n)
                fn.write("%shard", fn.add(fn.read("%shard", COUNT), i64(1)), COUNT)
                fn.fork(by_fault, wait, fresh)
            with fn.remembering():
                fn.begin(wait)
                fn.write(slot, fn.or_(fn.read(slot, word), i64(bit)), word)
                waiting = fn.read("%shard", WAITING)
                place_ = fn.at(fn.pointer(fn.read("%shard", PENDING)), fn.mul(waiting, i64(self.entry)))
                for n in range(self.words):
                    fn.write(place_, fn.read(entry, n), n)
                fn.write(place_, fn.and_(meta, i64(~(1 << FAULT))), self.words)
                fn.write("%shard", fn.add(waiting, i64(1)), WAITING)
                fn.goto(done)
            with fn.remembering():
                fn.begin(fresh)
                self._number(fn, entry, meta)
                fn.goto(done)
            fn.begin(done)
        fn.end("ret void")
        return fn

    def _number(self, fn: Function, entry: str, meta: V) -> None:
        """A new state gets its number, parent and place in the frontier, and is asked for the properties."""
        local = fn.read("%shard", LOCAL)
        fn.write("%shard", fn.add(local, i64(1)), LOCAL)
        parents = fn.read("%shard", PARENTS)
        with fn.when(fn.ne(parents, i64(0))):
            fn.write(fn.pointer(parents), fn.resize(meta, 32), local)
            fn.write(
                fn.pointer(fn.read("%shard", ORDINALS)),
                fn.resize(fn.lshr(fn.shl(meta, i64(1)), i64(33)), 32),
                local,
            )
        new = fn.read("%shard", NEW)
        place = fn.at(fn.pointer(fn.read("%shard", FRONTIER)), fn.mul(new, i64(self.words)))
        for n in range(self.words):
            fn.write(place, fn.read(entry, n), n)
        fn.write("%shard", fn.add(new, i64(1)), NEW)
        if not self.context.of_states:
            return
        found = fn.call(64, "found", entry)
        with fn.when(fn.ne(found, i64(0))):
            number = fn.add(fn.read("%shard", NUMBER), local)
            for place_, _ in enumerate(self.context.of_states):
                hit = fn.resize(fn.lshr(found, i64(place_)), 1)
                known = fn.read("%shard", FIRSTS + place_)
                with fn.when(fn.and_(hit, fn.eq(known, i64(NOWHERE)))):
                    fn.write("%shard", number, FIRSTS + place_)
            failed = fn.ne(fn.lshr(found, i64(63)), i64(0))
            with fn.when(fn.and_(failed, fn.eq(fn.read("%shard", FAILED), i64(NOWHERE)))):
                fn.write("%shard", number, FAILED)

    def _insert_round(self) -> Function:
        """Take shards of a round until none is left: insert what the chunks have for each."""
        fn = Function("insert_round", [("ptr", "round")], "void", "nounwind")
        again, take, done = fn.new("again"), fn.new("take"), fn.new("done")
        fn.goto(again)
        fn.begin(again)
        index = V(64, "%index")
        fn.emit(f"%index = atomicrmw add ptr {fn.at('%round', SHARD_NEXT)}, i64 1 seq_cst")
        fn.fork(fn.less(index, i64(SHARDS)), take, done)
        fn.begin(take)
        size = fn.read("%round", SHARD_SIZE)
        shard = fn.at(fn.pointer(fn.read("%round", SHARD_TABLE)), fn.mul(index, size))
        chunks = fn.pointer(fn.read("%round", CHUNK_TABLE))
        with fn.loop(fn.read("%round", CHUNKS)) as number:
            chunk = fn.at(chunks, fn.mul(number, i64(CHUNK_SIZE)))
            offsets = fn.at(chunk, OFFSETS)
            first, behind = fn.read(offsets, index), fn.read(offsets, fn.add(index, i64(1)))
            entries = fn.at(fn.pointer(fn.read(chunk, OUT)), fn.mul(first, i64(self.entry)))
            fn.emit(f"call void @insert(ptr {shard}, ptr {entries}, {fn.sub(behind, first)})")
        fn.goto(again)
        fn.begin(done)
        fn.end("ret void")
        return fn

    def _rehash(self) -> Function:
        """Move the states of a table to an empty one of another size."""
        params = [("ptr noalias", "old"), ("i64", "size"), ("ptr noalias", "new"), ("i64", "slots")]
        fn = Function("rehash", params, "void", "nounwind")
        own = fn.array(self.words)
        with fn.loop(V(64, "%size")) as index:
            slot = fn.at("%old", fn.mul(index, i64(self.words)))
            with fn.when(fn.ne(fn.read(slot, self.words - 1), i64(0))):
                self.copy(fn, slot, own)
                address, _ = self.find(fn, "%new", V(64, "%slots"), own)
                target = fn.pointer(address)
                for n in range(self.words):
                    fn.write(target, fn.read(slot, n), n)
        fn.end("ret void")
        return fn
