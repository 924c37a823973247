"""Blocks of packed states as code, for a search whose tables are elsewhere: deduplicate, take, part.

A block is an array of states in the order of their hashes.  In it a state may have
the bit for waiting: only a fault led to it.  The hashes are cut into any number
of shards, so a block has the states of each of them together; and a table of one
shard is filled in the order of the hashes, so that all that meets a block goes
through memory from front to back.  Such a table does not wrap: after its slots
there is some room, and a function that finds that full returns -1.
"""

from __future__ import annotations

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, InstructionBlock, V, const, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.search.context import NOWHERE, Context
from modelcheck.explicit.codegen.search.runtime import AHEAD, FAULT, WAITS, Runtime
from modelcheck.explicit.codegen.states.layout import PackedLayout

SPILL = 1 << 10  # slots after a table
COUNT = V(64, "%count")
STATES = [("ptr", "states"), ("i64", "count")]
TABLE = [("ptr noalias", "table"), ("i64", "slots")]


class Blocks(Runtime):
    """Writes the LLVM functions on blocks of states, in whose tables a slot has whole words."""

    def __init__(self, layout: PackedLayout, context: Context) -> None:
        super().__init__(layout, context)
        self.slot_bytes = 8 * self.words

    def functions(self) -> list[Function]:
        """All LLVM functions on blocks."""
        return [
            self._deduplicate(),
            self._take_all(),
            self._part(),
            self._tell_shards(),
            self._ask(),
            self._lead_to(),
        ]

    # ------------------------------------------------------------------- tables

    def _deduplicate(self) -> Function:
        """Write `deduplicate`: adds successors to one table for all shards.

        It returns how many are new, or -1 if the table is full.
        """
        fn = Function("deduplicate", [*TABLE, ("ptr", "entries"), ("i64", "count")], "i64")
        full, new = fn.new("full"), fn.cell(64, i64(0))
        with fn.loop(COUNT) as index:
            ahead = fn.add(index, i64(AHEAD))
            with fn.when(fn.less(ahead, COUNT)):
                self.prefetch(fn, fn.at("%entries", fn.mul(ahead, i64(self.entry))), i64(1))
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            by_fault = fn.is_set(fn.lshr(fn.read(entry, self.words), i64(FAULT)))
            at, there = self.find_in(fn, entry, i64(1), full)
            with fn.when(fn.not_(there)):
                fn.store(new, fn.add(fn.load(new), i64(1)))
            self._put(fn, at, there, entry, by_fault)
        fn.end(f"ret {fn.load(new)}")
        fn.exit(full, "ret i64 -1")
        return fn

    def _take_all(self) -> Function:
        """Write `take_all`: copies a table of all shards to a block and empties it; returns the size."""
        fn = Function("take_all", [*TABLE, ("ptr noalias", "out")], "i64")
        many, last = fn.cell(64, i64(0)), fn.cell(64, i64(0))
        with self.states_in(fn, "%table", fn.add(V(64, "%slots"), i64(SPILL))) as (_, slot):
            self._append(fn, slot, many, last)
            fn.write(slot, i64(0), self.words - 1)
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _part(self) -> Function:
        """Write `part`: copies a block's states to `free`, but those that wait to `waiting`, without the bit.

        It returns how many are free.
        """
        fn = Function("part", [*STATES, ("ptr noalias", "free"), ("ptr noalias", "waiting")], "i64")
        free, waiting = (fn.cell(64, i64(0)) for _ in range(2))
        with fn.loop(COUNT) as index:
            own, waits = self._without_waiting_bit(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            into = fn.address("%waiting"), fn.address("%free")
            place = fn.mul(fn.select(waits, fn.load(waiting), fn.load(free)), i64(8 * self.words))
            self.move(fn, own, fn.pointer(fn.add(fn.select(waits, *into), place)))
            for cell, more in ((waiting, fn.resize(waits, 64)), (free, fn.resize(fn.not_(waits), 64))):
                fn.store(cell, fn.add(fn.load(cell), more))
        fn.end(f"ret {fn.load(free)}")
        return fn

    # ------------------------------------------------------------------- states

    def _tell_shards(self) -> Function:
        """Write `tell_shards`: adds the number of a block's states in each shard to `counts`."""
        fn = Function(
            "tell_shards", [*STATES, ("i64", "shards"), ("ptr noalias", "counts")], "void", "nounwind"
        )
        with fn.loop(COUNT) as index:
            own, _ = self._without_waiting_bit(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            shard = self.shard_among(fn, own)
            fn.write("%counts", fn.add(fn.read("%counts", shard), i64(1)), shard)
        fn.end("ret void")
        return fn

    def _ask(self) -> Function:
        """Write `ask`: stores for each property the index of the first state that breaks or satisfies it.

        Index 63 is for errors.

        The first witness of each condition follows these.
        """
        fn = Function("ask", [*STATES, ("ptr noalias", "firsts")], "void")
        properties, every = len(self.context.of_states), len(self.context.noted)
        open_ = fn.cell(64, i64((1 << every) - (1 << properties)))
        with fn.loop(COUNT) as index:
            state = fn.at("%states", fn.mul(index, i64(self.words)))
            found = fn.call(64, "found", state)
            if self.context.witnesses:
                seen = fn.call(64, "witnessed", state, fn.load(open_))
                fn.store(open_, fn.xor(fn.load(open_), seen))
                found = fn.or_(found, seen)
            with fn.when(fn.is_set(found)):
                for place in [*range(every), 63]:
                    hit = fn.is_set(fn.and_(found, i64(1 << place)))
                    first = fn.eq(fn.read("%firsts", place), i64(NOWHERE))
                    with fn.when(fn.and_(hit, first)):
                        fn.write("%firsts", index, place)
        fn.end("ret void")
        return fn

    def _lead_to(self) -> Function:
        """Write `lead_to`: the index of the first successor equal to `state` and by a fault or not; or -1."""
        params = [("ptr", "entries"), ("i64", "count"), ("ptr", "state"), ("i1", "fault")]
        fn = Function("lead_to", params, "i64")
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            by_fault = fn.is_set(fn.lshr(fn.read(entry, self.words), i64(FAULT)))
            same = fn.and_(fn.is_zero(self.difference(fn, entry, "%state")), fn.eq(by_fault, V(1, "%fault")))
            with fn.when(same):
                fn.end(f"ret {index}")
        fn.end("ret i64 -1")
        return fn

    # -------------------------------------------------------------------- parts

    def _without_waiting_bit(self, fn: Function, state: str) -> tuple[str, V]:
        """Emit a copy of a state without its waiting bit; returns its pointer and whether the bit was set."""
        own = fn.array(self.words)
        self.copy(fn, state, own)
        word, bit = self.layout.mark(WAITS)
        return own, fn.is_set(fn.and_(fn.read(state, word), i64(bit)))

    def shard_among(self, fn: Function, state: str) -> V:
        """Emit the shard, of `%shards`, that a state belongs to."""
        wide = fn.mul(fn.resize(fn.call(64, "hash", state), 128), fn.resize(V(64, "%shards"), 128))
        return fn.resize(fn.lshr(wide, const(128, 64)), 64)

    def prefetch(self, fn: Function, state: str, shards: V) -> None:
        """Emit a prefetch of a state's slot."""
        place = self._place(fn, fn.call(64, "hash", state), shards, V(64, "%slots"))
        soon = fn.at("%table", fn.mul(place, i64(self.words)))
        fn.emit(f"call void @llvm.prefetch.p0(ptr {soon}, i32 1, i32 3, i32 1)")

    def _place(self, fn: Function, hash_: V, shards: V, slots: V) -> V:
        """Emit the index of the slot at which a hash belongs in the table of its shard."""
        wide = fn.mul(fn.resize(hash_, 128), fn.resize(shards, 128))
        rest = fn.resize(fn.resize(wide, 64), 128)
        return fn.resize(fn.lshr(fn.mul(rest, fn.resize(slots, 128)), const(128, 64)), 64)

    def find_in(self, fn: Function, state: str, shards: V, full: InstructionBlock) -> tuple[V, V]:
        """Emit finding a state in `%table`: the index of its slot or of a free one; whether it is there."""
        slots, last = V(64, "%slots"), self.words - 1
        end = fn.add(slots, i64(SPILL))
        at = fn.cell(64, self._place(fn, fn.call(64, "hash", state), shards, slots))
        there = fn.cell(1, FALSE)
        look, used, on, found, done = (fn.new(h) for h in ("look", "used", "on", "found", "looked"))
        fn.goto(look)
        fn.begin(look)
        now = fn.load(at)
        fn.leave_if(fn.eq(now, end), full)
        slot = fn.at("%table", fn.mul(now, i64(self.words)))
        fn.fork(fn.is_zero(fn.read(slot, last)), done, used)
        with fn.local_values():
            fn.begin(used)
            fn.fork(self.is_in(fn, slot, state), found, on)
            fn.begin(on)
            fn.store(at, fn.add(now, i64(1)))
            fn.goto(look)
            fn.begin(found)
            fn.store(there, TRUE)
            fn.goto(done)
        fn.begin(done)
        return now, fn.load(there)

    def _put(self, fn: Function, at: V, there: V, state: str, by_fault: V) -> None:
        """Emit storing a state in its slot, waiting until a step other than a fault leads to it."""
        slot = fn.at("%table", fn.mul(at, i64(self.words)))
        word, bit = self.layout.mark(WAITS)
        had = fn.read(slot, word)
        waits = fn.select(by_fault, i64(bit), i64(0))
        kept = fn.select(by_fault, had, fn.and_(had, i64(~bit)))
        for n in range(self.words):
            if n != word:
                fn.write(slot, fn.read(state, n), n)
        fn.write(slot, fn.select(there, kept, fn.or_(fn.read(state, word), waits)), word)

    def _append(self, fn: Function, state: str, many: Register, last: Register) -> None:
        """Emit adding a state to the block `%out`, which stays sorted by hash."""
        own, _ = self._without_waiting_bit(fn, state)
        hash_, place = fn.call(64, "hash", own), fn.cell(64, fn.load(many))
        highest = fn.load(last)
        with fn.when(fn.below(hash_, highest)):
            self._make_room(fn, hash_, place)
        fn.store(last, fn.select(fn.below(hash_, highest), highest, hash_))
        target = fn.at("%out", fn.mul(fn.load(place), i64(self.words)))
        self.move(fn, state, target)
        fn.store(many, fn.add(fn.load(many), i64(1)))

    def _make_room(self, fn: Function, hash_: V, place: Register) -> None:
        """Emit moving the states at the end of `%out` with a higher hash up by one."""
        test, look, move, done = (fn.new(h) for h in ("test", "look", "move", "moved"))
        fn.goto(test)
        fn.begin(test)
        now = fn.load(place)
        fn.fork(fn.is_zero(now), done, look)
        fn.begin(look)
        before = fn.at("%out", fn.mul(fn.sub(now, i64(1)), i64(self.words)))
        own, _ = self._without_waiting_bit(fn, before)
        fn.fork(fn.below(hash_, fn.call(64, "hash", own)), move, done)
        fn.begin(move)
        after = fn.at("%out", fn.mul(now, i64(self.words)))
        self.move(fn, before, after)
        fn.store(place, fn.sub(now, i64(1)))
        fn.goto(test)
        fn.begin(done)
