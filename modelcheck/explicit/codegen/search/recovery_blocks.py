"""Ways back among blocks of states as code: which are at the goal, and which lead to one that has a way.

Each state of a block has a mark next to the block, a byte: 0 where no way is
known.  Questions are successors as `expand` makes them, behind each the number
of the state that it comes from; who has the successor's mark answers them.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.search.blocks import COUNT, STATES, TABLE, Blocks
from modelcheck.explicit.codegen.search.context import CURSOR, ORDINAL, PARENT
from modelcheck.explicit.codegen.search.runtime import AHEAD, BEYOND, FINE

MARKS = ("ptr noalias", "marks")
ENTRIES = [("ptr", "entries"), ("i64", "count")]
TAGS = [("ptr noalias", "tags"), ("i64", "shards")]


class RecoveryBlocks(Blocks):
    """Writes the LLVM functions that find the states of blocks with a way back to a goal."""

    def of_recovery(self, free: Sequence[str], most: int) -> list[Function]:
        """Write the functions that mark states on blocks; `most` is the most successors of a state."""
        return [
            self._mark_goals(),
            self._look_ahead(free, most),
            self._deal(),
            self._want(),
            self._untag_marked(),
            self._answer(),
            self._put_marks(),
        ]

    def _mark_goals(self) -> Function:
        """Write `mark_goals`: marks the states of a block that are goal states."""
        fn = Function("mark_goals", [*STATES, MARKS, ("i64", "which")], "void")
        with fn.loop(COUNT) as index:
            goal = fn.call(64, "goal", fn.at("%states", fn.mul(index, i64(self.words))), V(64, "%which"))
            fn.write("%marks", fn.select(fn.is_set(goal), const(8, FINE), const(8, 0)), index)
        fn.end("ret void")
        return fn

    # ------------------------------------------------------------------ questions

    def _look_ahead(self, free: Sequence[str], most: int) -> Function:
        """Write `look_ahead`: expands states without a mark by free steps; returns how many were done.

        A state is marked at once where a step leads to the goal, or with `beyond` out
        of the scope; then none of its successors need be asked about, nor is it ever itself.
        """
        params = [
            ("ptr noalias", "ctx"),
            *STATES,
            MARKS,
            ("i64", "first"),
            ("i64", "end"),
            ("i64", "which"),
            ("i1", "beyond"),
        ]
        fn = Function("look_ahead", params, "i64")
        index, kept = fn.cell(64, i64(0)), fn.cell(64)
        test, inside, full, found, on, done = (
            fn.new(h) for h in ("test", "inside", "full", "found", "on", "done")
        )
        fn.goto(test)
        fn.begin(test)
        now = fn.load(index)
        fn.fork(fn.less(now, COUNT), inside, done)
        with fn.local_values():
            fn.begin(inside)
            fn.leave_if(fn.is_set(fn.read("%marks", now, 8)), on)
            need = fn.add(fn.read("%ctx", CURSOR), i64(8 * self.entry * most))
            fn.leave_if(fn.below(V(64, "%end"), need), full)
            start = fn.read("%ctx", CURSOR)
            state = fn.at("%states", fn.mul(now, i64(self.words)))
            fn.write("%ctx", fn.add(V(64, "%first"), now), PARENT)
            fn.write("%ctx", i64(0), ORDINAL)
            cuts = range(self.context.cut, self.context.refused, 2)
            for place in cuts:
                fn.write("%ctx", i64(0), place)
            for name in free:
                fn.call(1, name, "%ctx", state)
            for place in cuts:
                cut = fn.is_set(fn.read("%ctx", place))
                fn.leave_if(fn.and_(V(1, "%beyond"), cut), found)
            entries = fn.pointer(start)
            count = self.made_from(fn, start)
            fn.store(kept, i64(0))
            with fn.loop(count) as number:
                entry = fn.at(entries, fn.mul(number, i64(self.entry)))
                with fn.when(fn.is_set(self.difference(fn, entry, state))):
                    goal = fn.call(64, "goal", entry, V(64, "%which"))
                    fn.leave_if(fn.is_set(goal), found)
                    self._keep_entry(fn, entry, entries, kept)
            size = fn.mul(fn.load(kept), i64(8 * self.entry))
            fn.write("%ctx", fn.add(start, size), CURSOR)
            fn.goto(on)
            with fn.local_values():
                fn.begin(found)
                mark = fn.select(V(1, "%beyond"), const(8, BEYOND), const(8, FINE))
                fn.write("%marks", mark, now)
                fn.write("%ctx", start, CURSOR)
                fn.goto(on)
        fn.begin(on)
        fn.store(index, fn.add(now, i64(1)))
        fn.goto(test)
        for end in (full, done):
            fn.exit(end, f"ret {now}")
        return fn

    def _keep_entry(self, fn: Function, entry: str, entries: str, kept: Register) -> None:
        """Emit appending a successor to those that are kept."""
        place = fn.load(kept)
        target = fn.at(entries, fn.mul(place, i64(self.entry)))
        self.move(fn, entry, target, self.entry)
        fn.store(kept, fn.add(place, i64(1)))

    def _deal(self) -> Function:
        """Write `deal`: copies questions to `out`, sorted by shard; `counts` gets the number for each."""
        params = [
            *ENTRIES,
            ("i64", "shards"),
            ("ptr noalias", "counts"),
            ("ptr noalias", "ends"),
            ("ptr noalias", "out"),
        ]
        fn = Function("deal", params, "void")
        shards, before = V(64, "%shards"), fn.cell(64, i64(0))
        with fn.loop(shards) as shard:
            fn.write("%counts", i64(0), shard)
        with fn.loop(COUNT) as index:
            shard = self.shard_among(fn, fn.at("%entries", fn.mul(index, i64(self.entry))))
            fn.write("%counts", fn.add(fn.read("%counts", shard), i64(1)), shard)
        with fn.loop(shards) as shard:
            fn.write("%ends", fn.load(before), shard)
            fn.store(before, fn.add(fn.load(before), fn.read("%counts", shard)))
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            shard = self.shard_among(fn, entry)
            place = fn.read("%ends", shard)
            fn.write("%ends", fn.add(place, i64(1)), shard)
            target = fn.at("%out", fn.mul(place, i64(self.entry)))
            self.move(fn, entry, target, self.entry)
        fn.end("ret void")
        return fn

    # -------------------------------------------------------------------- answers

    def _want(self) -> Function:
        """Write `want`: adds the states asked about to a table, with a tag on new ones.

        It returns how many are new, or -1 if the table is full.
        """
        fn = Function("want", [*TABLE, *TAGS, *ENTRIES], "i64")
        full, new = fn.new("full"), fn.cell(64, i64(0))
        with fn.loop(COUNT) as index:
            self._fetch(fn, index)
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            at, there = self.find_in(fn, entry, V(64, "%shards"), full)
            with fn.when(fn.not_(there)):
                fn.store(new, fn.add(fn.load(new), i64(1)))
                fn.write("%tags", const(8, 1), at)
                slot = fn.at("%table", fn.mul(at, i64(self.words)))
                self.move(fn, entry, slot)
        fn.end(f"ret {fn.load(new)}")
        fn.exit(full, "ret i64 -1")
        return fn

    def _untag_marked(self) -> Function:
        """Write `untag_marked`: removes the tags of a block's marked states; returns how many had one."""
        fn = Function("untag_marked", [*TABLE, *TAGS, *STATES, MARKS], "i64")
        missed, struck = fn.new("missed"), fn.cell(64, i64(0))
        with fn.loop(COUNT) as index, fn.when(fn.is_set(fn.read("%marks", index, 8))):
            ahead = fn.add(index, i64(AHEAD))
            with fn.when(fn.less(ahead, COUNT)):  # the states are not in the order of the table
                self.prefetch(fn, fn.at("%states", fn.mul(ahead, i64(self.words))), V(64, "%shards"))
            state = fn.at("%states", fn.mul(index, i64(self.words)))
            at, there = self.find_in(fn, state, V(64, "%shards"), missed)
            with fn.when(there):
                had = fn.is_set(fn.read("%tags", at, 8))
                fn.store(struck, fn.add(fn.load(struck), fn.resize(had, 64)))
                fn.write("%tags", const(8, 0), at)
        fn.end(f"ret {fn.load(struck)}")
        fn.exit(missed, "ret i64 -1")  # a table whose room is full was refused when it was filled
        return fn

    def _answer(self) -> Function:
        """Write `answer`: lists, once each, states with a step to one without a tag; returns how many."""
        fn = Function("answer", [*TABLE, *TAGS, *ENTRIES, ("ptr noalias", "out")], "i64")
        missed, many, last = fn.new("missed"), fn.cell(64, i64(0)), fn.cell(32, const(32, -1))
        with fn.loop(COUNT) as index:
            self._fetch(fn, index)
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            at, _ = self.find_in(fn, entry, V(64, "%shards"), missed)
            parent = fn.resize(fn.read(entry, self.words), 32)
            is_open = fn.is_zero(fn.read("%tags", at, 8))
            with fn.when(fn.and_(is_open, fn.ne(parent, fn.load(last)))):
                fn.write("%out", parent, fn.load(many))
                fn.store(many, fn.add(fn.load(many), i64(1)))
                fn.store(last, parent)
        fn.end(f"ret {fn.load(many)}")
        fn.exit(missed, "ret i64 -1")
        return fn

    def _put_marks(self) -> Function:
        """Write `put_marks`: marks the states of a block with these indices."""
        params = [MARKS, ("ptr", "numbers"), ("i64", "count"), ("i8", "mark")]
        fn = Function("put_marks", params, "void")
        with fn.loop(COUNT) as index:
            number = fn.resize(fn.read("%numbers", index, 32), 64)
            fn.write("%marks", V(8, "%mark"), number)
        fn.end("ret void")
        return fn

    def _fetch(self, fn: Function, index: V) -> None:
        """Emit a prefetch of the slot of a question some places ahead."""
        ahead = fn.add(index, i64(AHEAD))
        with fn.when(fn.less(ahead, COUNT)):
            later = fn.at("%entries", fn.mul(ahead, i64(self.entry)))
            self.prefetch(fn, later, V(64, "%shards"))
