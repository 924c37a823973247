"""The inner loops of the search as code: expanding states, sorting successors by shard, inserting them.

A shard owns the states whose hash begins with its number.  Its table holds
whole states at the place their hash says, or at the next that is free; so
nothing needs a lock, and no two states are ever taken for one.  NOTE(order):
chunks are expanded by whoever comes first, but a shard takes their successors
in the order of the chunks, so all numbers are the same for any number of
threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.assembly import Function
from modelcheck.explicit.context import CURSOR, NOWHERE, ORDINAL, PARENT, WENT, Context
from modelcheck.explicit.layout import WORD, Layout
from modelcheck.explicit.steps import BY_VALUE

SHARD_BITS = 4
SHARDS = 1 << SHARD_BITS
LOCAL_BITS = 28  # a state's number is its shard's and its own in there
MOST_STATES = 1 << LOCAL_BITS  # of one shard
ENTRY_META = 1  # behind the words of a successor: its parent, how many-th successor it is, whether by a fault
FAULT = 63
AHEAD = 12  # so many successors ahead, the place in the table is asked for

# The bits that the table keeps in a state: it only waits for a fault; it can get to a goal; or beyond the scope.
WAITS, FINE, BEYOND = range(3)

# The words of a shard.
TABLE, SLOTS, COUNT, LOCAL, PARENTS, ORDINALS, FRONTIER, NEW, PENDING, WAITING, NUMBER, FAILED, FIRSTS = (
    range(13)
)
# The words of a round, and of a chunk in it.
NEXT, CHUNKS, CHUNK_TABLE, WITH_FAULTS, SHARD_NEXT, SHARD_TABLE, SHARD_SIZE = range(7)
STATES, FIRST, HOW_MANY, DONE, OUT, OFFSETS = range(6)
CHUNK_SIZE = OFFSETS + SHARDS + 1


class Runtime:
    """Writes the functions that are the same for every model but for its words and actions."""

    def __init__(self, layout: Layout, context: Context, *, symmetric: bool) -> None:
        self.layout = layout
        self.context = context
        self.words = layout.words
        self.entry = self.words + ENTRY_META
        self.symmetric = symmetric

    def functions(
        self, free: Sequence[str], faults: Sequence[str], probes: Sequence[str], most: int
    ) -> list[Function]:
        """All of them; `free` and `faults` are the names of the functions of actions, `most` their successors."""
        return [
            self._hash(),
            self._emit(),
            self._expand(free, faults, probes, most),
            self._sort(),
            self._expand_round(),
            self._insert(),
            self._insert_round(),
            self._rehash(),
            self._has(),
            self._leads_elsewhere(faults),
            *(self._recovery(free) if self.layout.marks > 1 else ()),
        ]

    # ---------------------------------------------------------------- expansion

    def _hash(self) -> Function:
        """The hash of a state; its highest bits are its best."""
        fn = Function("hash", [("ptr", "words")], "i64", "alwaysinline nounwind")
        mixed = fn.mul(fn.read("%words", 0), i64(0x9E3779B97F4A7C15))
        for n in range(1, self.words):
            folded = fn.xor(mixed, fn.lshr(mixed, i64(29)))
            mixed = fn.mul(fn.xor(folded, fn.read("%words", n)), i64(0xBF58476D1CE4E5B9))
        mixed = fn.mul(fn.xor(mixed, fn.lshr(mixed, i64(32))), i64(0x94D049BB133111EB))
        fn.end(f"ret {mixed}")
        return fn

    def _emit(self) -> Function:
        """Put a successor (its orbit's representative) into the buffer."""
        by_value = self.words <= BY_VALUE
        given = [("i64", f"w{n}") for n in range(self.words)] if by_value else [("ptr", "state")]
        fn = Function("emit", [("ptr noalias", "ctx"), ("i64", "flag"), *given], "void", "nounwind")
        out = fn.pointer(fn.read("%ctx", CURSOR))
        words = [V(64, f"%w{n}") if by_value else fn.read("%state", n) for n in range(self.words)]
        if self.symmetric:
            own = fn.array(self.words)
            for n, word in enumerate(words):
                fn.write(own, word, n)
            fn.emit(f"call void @represent(ptr {own}, ptr {out})")
        else:
            for n, word in enumerate(words):
                fn.write(out, word, n)
        ordinal = fn.read("%ctx", ORDINAL)
        parent = fn.read("%ctx", PARENT)
        meta = fn.or_(fn.or_(parent, fn.shl(ordinal, i64(32))), V(64, "%flag"))
        fn.write(out, meta, self.words)
        fn.write("%ctx", fn.add(ordinal, i64(1)), ORDINAL)
        fn.write("%ctx", fn.address(fn.at(out, self.entry)), CURSOR)
        fn.end("ret void")
        return fn

    def _expand(
        self, free: Sequence[str], faults: Sequence[str], probes: Sequence[str], most: int
    ) -> Function:
        """Expand states one behind the other while the buffer has room; how many."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "states"),
            ("i64", "first"),
            ("i64", "count"),
            ("i64", "end"),
            ("i1", "faults"),
        ]
        fn = Function("expand", params, "i64", "nounwind")
        done, index = fn.new("done"), fn.cell(64, i64(0))
        test = fn.new("test")
        fn.goto(test)
        fn.begin(test)
        now = fn.load(index)
        inside, room, next_ = fn.new("inside"), fn.new("room"), fn.new("next")
        fn.fork(fn.less(now, V(64, "%count")), inside, done)
        fn.begin(inside)
        need = fn.add(fn.read("%ctx", CURSOR), i64(8 * self.entry * most))
        fn.fork(fn.below(V(64, "%end"), need), done, room)
        fn.begin(room)
        state = fn.at("%states", fn.mul(now, i64(self.words)))
        fn.write("%ctx", fn.add(V(64, "%first"), now), PARENT)
        fn.write("%ctx", i64(0), ORDINAL)
        fn.write("%ctx", i64(0), WENT)
        go_on = fn.new("free")
        for name in free:
            fn.leave_if(fn.call(1, name, "%ctx", state), go_on)
        if self.context.deadlock:
            fn.leave_if(fn.ne(fn.read("%ctx", WENT), i64(0)), go_on)
            for name in probes:
                fn.call(1, name, "%ctx", state)
            fn.leave_if(fn.ne(fn.read("%ctx", WENT), i64(0)), go_on)
            here, known = fn.read("%ctx", PARENT), fn.read("%ctx", self.context.dead)
            fn.write("%ctx", fn.select(fn.below(here, known), here, known), self.context.dead)
        fn.goto(go_on)
        fn.begin(go_on)
        if faults:
            fn.leave_if(fn.not_(V(1, "%faults")), next_)
        for name in faults:
            fn.leave_if(fn.call(1, name, "%ctx", state), next_)
        fn.goto(next_)
        fn.begin(next_)
        fn.store(index, fn.add(now, i64(1)))
        fn.goto(test)
        fn.begin(done)
        fn.end(f"ret {fn.load(index)}")
        return fn

    def _sort(self) -> Function:
        """Copy successors into the order of their shards; `offsets` says where each begins, in successors."""
        params = [
            ("ptr noalias", "from"),
            ("i64", "count"),
            ("ptr noalias", "to"),
            ("ptr noalias", "offsets"),
            ("ptr noalias", "marks"),
        ]
        fn = Function("sort", params, "void", "nounwind")
        count, ends = V(64, "%count"), fn.array(SHARDS)
        for shard in range(SHARDS):
            fn.write(ends, i64(0), shard)
        with fn.loop(count) as index:
            shard = self._shard(fn, fn.call(64, "hash", fn.at("%from", fn.mul(index, i64(self.entry)))))
            fn.write("%marks", fn.resize(shard, 8), index)
            fn.write(ends, fn.add(fn.read(ends, shard), i64(1)), shard)
        before: V = i64(0)
        for shard in range(SHARDS):
            fn.write("%offsets", before, shard)
            behind = fn.add(before, fn.read(ends, shard))
            fn.write(ends, before, shard)
            before = behind
        fn.write("%offsets", before, SHARDS)
        with fn.loop(count) as index:
            shard = fn.resize(fn.read("%marks", index, 8), 64)
            place = fn.read(ends, shard)
            fn.write(ends, fn.add(place, i64(1)), shard)
            source, target = (
                fn.at("%from", fn.mul(index, i64(self.entry))),
                fn.at("%to", fn.mul(place, i64(self.entry))),
            )
            for n in range(self.entry) if self.entry <= 8 else ():
                fn.write(target, fn.read(source, n), n)
            if self.entry > 8:
                fn.emit(
                    f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {8 * self.entry}, i1 false)"
                )
        fn.end("ret void")
        return fn

    def _shard(self, fn: Function, hash_: V) -> V:
        return fn.lshr(hash_, i64(WORD - SHARD_BITS))

    def _expand_round(self) -> Function:
        """Take chunks of a round until none is left: expand each, and sort what it leads to."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "round"),
            ("ptr noalias", "scratch"),
            ("i64", "end"),
            ("ptr noalias", "marks"),
        ]
        fn = Function("expand_round", params, "void", "nounwind")
        again, take, done = fn.new("again"), fn.new("take"), fn.new("done")
        fn.goto(again)
        fn.begin(again)
        index = V(64, "%index")
        fn.emit(f"%index = atomicrmw add ptr {fn.at('%round', NEXT)}, i64 1 seq_cst")
        fn.fork(fn.less(index, fn.read("%round", CHUNKS)), take, done)
        fn.begin(take)
        chunk = fn.at(fn.pointer(fn.read("%round", CHUNK_TABLE)), fn.mul(index, i64(CHUNK_SIZE)))
        start = fn.address("%scratch")
        fn.write("%ctx", start, CURSOR)
        faults = fn.ne(fn.read("%round", WITH_FAULTS), i64(0))
        states = fn.pointer(fn.read(chunk, STATES))
        many = fn.call(
            64,
            "expand",
            "%ctx",
            states,
            fn.read(chunk, FIRST),
            fn.read(chunk, HOW_MANY),
            V(64, "%end"),
            faults,
        )
        fn.write(chunk, many, DONE)
        count = fn.udiv(fn.sub(fn.read("%ctx", CURSOR), start), i64(8 * self.entry))
        out = fn.pointer(fn.read(chunk, OUT))
        fn.emit(f"call void @sort(ptr %scratch, {count}, ptr {out}, ptr {fn.at(chunk, OFFSETS)}, ptr %marks)")
        fn.goto(again)
        fn.begin(done)
        fn.end("ret void")
        return fn

    # ---------------------------------------------------------------- insertion

    def _slot(self, fn: Function, hash_: V, slots: V) -> V:
        """The place in a table that a hash says: the table is filled in the order of the hashes."""
        high = fn.resize(fn.shl(hash_, i64(SHARD_BITS)), 128)
        return fn.resize(fn.lshr(fn.mul(high, fn.resize(slots, 128)), const(128, 64)), 64)

    def _find(self, fn: Function, table: str, slots: V, state: str) -> tuple[V, V]:
        """The address of a state's slot, or of the one where it belongs; and whether it is there."""
        last = self.words - 1
        at = fn.cell(64, self._slot(fn, fn.call(64, "hash", state), slots))
        there = fn.cell(1, FALSE)
        look, full, on, found, done = (fn.new(h) for h in ("look", "full", "on", "found", "looked"))
        fn.goto(look)
        fn.begin(look)
        now = fn.load(at)
        slot = fn.at(table, fn.mul(now, i64(self.words)))
        fn.fork(fn.eq(fn.read(slot, last), i64(0)), done, full)
        fn.begin(full)
        differs = i64(0)
        for n in range(self.words):
            difference = fn.and_(fn.xor(fn.read(slot, n), fn.read(state, n)), i64(self.layout.own(n)))
            differs = fn.or_(differs, difference)
        fn.fork(fn.eq(differs, i64(0)), found, on)
        fn.begin(on)
        following = fn.add(now, i64(1))
        fn.store(at, fn.select(fn.eq(following, slots), i64(0), following))
        fn.goto(look)
        fn.begin(found)
        fn.store(there, const(1, 1))
        fn.goto(done)
        fn.begin(done)
        return fn.address(fn.at(table, fn.mul(fn.load(at), i64(self.words)))), fn.load(there)

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
                place = self._slot(fn, fn.call(64, "hash", later), slots)
                soon = fn.at(table, fn.mul(place, i64(self.words)))
                fn.emit(f"call void @llvm.prefetch.p0(ptr {soon}, i32 1, i32 3, i32 1)")
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            meta = fn.read(entry, self.words)
            address, there = self._find(fn, table, slots, entry)
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
        """A new state gets its number, its parent, a place in the frontier, and is asked for the properties."""
        local = fn.read("%shard", LOCAL)
        fn.write("%shard", fn.add(local, i64(1)), LOCAL)
        parents = fn.read("%shard", PARENTS)
        with fn.when(fn.ne(parents, i64(0))):
            fn.write(fn.pointer(parents), fn.resize(meta, 32), local)
            fn.write(fn.pointer(fn.read("%shard", ORDINALS)), fn.resize(fn.lshr(meta, i64(32)), 16), local)
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
                self._copy(fn, slot, own)
                address, _ = self._find(fn, "%new", V(64, "%slots"), own)
                target = fn.pointer(address)
                for n in range(self.words):
                    fn.write(target, fn.read(slot, n), n)
        fn.end("ret void")
        return fn

    def _copy(self, fn: Function, slot: str, to: str) -> None:
        """Copy the state in a slot, without what the table keeps in it."""
        for n in range(self.words):
            fn.write(to, fn.and_(fn.read(slot, n), i64(self.layout.own(n))), n)

    # ------------------------------------------------------------------- asking

    def _has(self) -> Function:
        """Whether the shards have a state that does not only wait."""
        fn = Function("has", [("ptr", "shards"), ("i64", "size"), ("ptr", "state")], "i1", "nounwind")
        word, bit = self.layout.mark(WAITS)
        address, there = self._look(fn, "%state")
        marked = fn.and_(fn.read(fn.pointer(address), word), i64(bit))
        fn.end(f"ret {fn.and_(there, fn.eq(marked, i64(0)))}")
        return fn

    def _leads_elsewhere(self, faults: Sequence[str]) -> Function:
        """Whether a fault leads from a state of a table to one that the shards do not have, or makes an error."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "shards"),
            ("i64", "size"),
            ("ptr", "table"),
            ("i64", "slots"),
            ("ptr", "scratch"),
        ]
        fn = Function("leads_elsewhere", params, "i1", "nounwind")
        yes = fn.new("yes")
        with fn.loop(V(64, "%slots")) as index:
            slot = fn.at("%table", fn.mul(index, i64(self.words)))
            with fn.when(fn.ne(fn.read(slot, self.words - 1), i64(0))):
                start = fn.address("%scratch")
                fn.write("%ctx", start, CURSOR)
                fn.write("%ctx", i64(0), ORDINAL)
                for name in faults:
                    fn.leave_if(fn.call(1, name, "%ctx", slot), yes)
                count = fn.udiv(fn.sub(fn.read("%ctx", CURSOR), start), i64(8 * self.entry))
                with fn.loop(count) as number:
                    entry = fn.at("%scratch", fn.mul(number, i64(self.entry)))
                    there = fn.call(1, "has", "%shards", V(64, "%size"), entry)
                    fn.leave_if(fn.not_(there), yes)
        fn.end("ret i1 false")
        fn.begin(yes)
        fn.end("ret i1 true")
        return fn

    # ----------------------------------------------------------------- recovery

    def _recovery(self, free: Sequence[str]) -> list[Function]:
        """Which states can get to a goal by free steps, and which only beyond the scope."""
        return [
            self._goal_marks(),
            self._spread(free, FINE),
            self._spread(free, BEYOND),
            self._count_marks(),
            self._first_trapped(),
        ]

    def _goal_marks(self) -> Function:
        """Mark the states of a table that have reached the goal, unmark all others; whether asking makes an error."""
        fn = Function(
            "mark_goal", [("ptr noalias", "table"), ("i64", "slots"), ("i64", "which")], "i1", "nounwind"
        )
        (word, bit), (word2, bit2) = self.layout.mark(FINE), self.layout.mark(BEYOND)
        own, failed = fn.array(self.words), fn.cell(1, FALSE)
        with fn.loop(V(64, "%slots")) as index:
            slot = fn.at("%table", fn.mul(index, i64(self.words)))
            with fn.when(fn.ne(fn.read(slot, self.words - 1), i64(0))):
                self._copy(fn, slot, own)
                goal = fn.call(64, "goal", own, V(64, "%which"))
                fn.store(failed, fn.or_(fn.load(failed), fn.eq(goal, i64(2))))
                fn.write(slot, fn.and_(fn.read(slot, word2), i64(~bit2)), word2)
                marked = fn.or_(
                    fn.and_(fn.read(slot, word), i64(~bit)), fn.select(fn.eq(goal, i64(1)), i64(bit), i64(0))
                )
                fn.write(slot, marked, word)
        fn.end(f"ret {fn.load(failed)}")
        return fn

    def _spread(self, free: Sequence[str], mark: int) -> Function:
        """Mark each state of a table that a step leads from to a marked one (BEYOND: or out of the scope); how many."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "shards"),
            ("i64", "size"),
            ("ptr", "table"),
            ("i64", "slots"),
            ("ptr", "scratch"),
        ]
        fn = Function("spread_fine" if mark == FINE else "spread_beyond", params, "i64", "nounwind")
        word, bit = self.layout.mark(mark)
        fine_word, fine_bit = self.layout.mark(FINE)
        own, changed = fn.array(self.words), fn.cell(64, i64(0))
        cuts = range(self.context.cut, self.context.refused, 2)
        with fn.loop(V(64, "%slots")) as index:
            slot = fn.at("%table", fn.mul(index, i64(self.words)))
            marked = fn.or_(
                fn.and_(fn.read(slot, word), i64(bit)), fn.and_(fn.read(slot, fine_word), i64(fine_bit))
            )
            is_open = fn.and_(fn.ne(fn.read(slot, self.words - 1), i64(0)), fn.eq(marked, i64(0)))
            with fn.when(is_open):
                start, found, done = fn.address("%scratch"), fn.new("hit"), fn.new("looked_at")
                self._copy(fn, slot, own)
                fn.write("%ctx", start, CURSOR)
                fn.write("%ctx", i64(0), ORDINAL)
                for place in cuts:
                    fn.write("%ctx", i64(0), place)
                for name in free:
                    fn.call(1, name, "%ctx", own)
                if mark == BEYOND:
                    for place in cuts:
                        fn.leave_if(fn.ne(fn.read("%ctx", place), i64(0)), found)
                count = fn.udiv(fn.sub(fn.read("%ctx", CURSOR), start), i64(8 * self.entry))
                with fn.loop(count) as number:
                    entry = fn.at("%scratch", fn.mul(number, i64(self.entry)))
                    address, _ = self._look(fn, entry)
                    there = fn.and_(fn.read(fn.pointer(address), word), i64(bit))
                    fn.leave_if(fn.ne(there, i64(0)), found)
                fn.goto(done)
                with fn.remembering():
                    fn.begin(found)
                    fn.write(slot, fn.or_(fn.read(slot, word), i64(bit)), word)
                    fn.store(changed, fn.add(fn.load(changed), i64(1)))
                    fn.goto(done)
                fn.begin(done)
        fn.end(f"ret {fn.load(changed)}")
        return fn

    def _look(self, fn: Function, state: str) -> tuple[V, V]:
        """The address of a state's slot in its shard, and whether it is there."""
        number = self._shard(fn, fn.call(64, "hash", state))
        shard = fn.at("%shards", fn.mul(number, V(64, "%size")))
        return self._find(fn, fn.pointer(fn.read(shard, TABLE)), fn.read(shard, SLOTS), state)

    def _count_marks(self) -> Function:
        """Of a table, how many states have no mark, and above 32 bits how many can only get beyond the scope."""
        fn = Function("count_marks", [("ptr", "table"), ("i64", "slots")], "i64", "nounwind")
        found = fn.cell(64, i64(0))
        with fn.loop(V(64, "%slots")) as index:
            slot = fn.at("%table", fn.mul(index, i64(self.words)))
            with fn.when(fn.ne(fn.read(slot, self.words - 1), i64(0))):
                fine, beyond = self._marks(fn, slot)
                less = fn.select(beyond, i64(1 << 32), i64(1))
                fn.store(found, fn.add(fn.load(found), fn.select(fine, i64(0), less)))
        fn.end(f"ret {fn.load(found)}")
        return fn

    def _marks(self, fn: Function, slot: str) -> tuple[V, V]:
        """Whether a slot's state can get to a goal, or beyond the scope."""
        found = []
        for mark in (FINE, BEYOND):
            word, bit = self.layout.mark(mark)
            found.append(fn.ne(fn.and_(fn.read(slot, word), i64(bit)), i64(0)))
        return found[0], found[1]

    def _first_trapped(self) -> Function:
        """The place of the first of some states that has no mark in the shards; -1 if all have one."""
        params = [("ptr", "shards"), ("i64", "size"), ("ptr", "states"), ("i64", "count")]
        fn = Function("first_trapped", params, "i64", "nounwind")
        with fn.loop(V(64, "%count")) as index:
            address, _ = self._look(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            fine, beyond = self._marks(fn, fn.pointer(address))
            with fn.when(fn.not_(fn.or_(fine, beyond))):
                fn.end(f"ret {index}")
        fn.end("ret i64 -1")
        return fn
