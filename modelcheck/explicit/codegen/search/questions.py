"""Questions to all states found, as code: whether another fault adds any; which can get to a goal."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.context import CURSOR, ORDINAL
from modelcheck.explicit.codegen.search.runtime import BEYOND, FINE, MARKS, WAITS, Runtime

SHARDED = [("ptr", "shards"), ("i64", "size")]
TABLE = [("ptr", "table"), ("i64", "slots")]
LOOK = [("ptr noalias", "ctx"), *SHARDED, *TABLE, ("ptr", "scratch")]


class Questions(Runtime):
    """Writes the LLVM functions that query all states at the end of a search."""

    def functions(self, free: Sequence[str], faults: Sequence[str]) -> list[Function]:
        """Write the LLVM functions that query states, which call those of the actions, given by name."""
        return [
            self._has(),
            self._leads_elsewhere(faults),
            *(self._recovery(free) if self.layout.marks == MARKS else ()),
        ]

    def _has(self) -> Function:
        """Write `has`: whether a state is in the shards' tables and not only waiting for a fault."""
        fn = Function("has", [*SHARDED, ("ptr", "state")], "i1")
        address, there = self.look(fn, "%state")
        waits = self.is_marked(fn, fn.pointer(address), WAITS)
        fn.end(f"ret {fn.and_(there, fn.not_(waits))}")
        return fn

    def _leads_elsewhere(self, faults: Sequence[str]) -> Function:
        """Write `leads_elsewhere`: whether a fault leads from a state to a new one, or to an error."""
        fn = Function("leads_elsewhere", LOOK, "i1")
        yes, own = fn.new("yes"), fn.array(self.words)
        with self.states_in(fn, "%table", V(64, "%slots")) as (_, slot):
            start = fn.address("%scratch")
            self.copy(fn, slot, own)
            fn.write("%ctx", start, CURSOR)
            fn.write("%ctx", i64(0), ORDINAL)
            for name in faults:
                fn.leave_if(fn.call(1, name, "%ctx", own), yes)
            count = self.made_from(fn, start)
            with fn.loop(count) as number:
                entry = fn.at("%scratch", fn.mul(number, i64(self.entry)))
                there = fn.call(1, "has", "%shards", V(64, "%size"), entry)
                fn.leave_if(fn.not_(there), yes)
        fn.end("ret i1 false")
        fn.exit(yes, "ret i1 true")
        return fn

    def _recovery(self, free: Sequence[str]) -> list[Function]:
        """The functions that find which states have a way to a goal, and which only out of the scope."""
        return [
            self._goal_marks(),
            self._spread(free, FINE),
            self._spread(free, BEYOND),
            self._count_marks(),
        ]

    def _goal_marks(self) -> Function:
        """Write `mark_goal`: marks the goal states of a table, and clears all other marks."""
        fn = Function(
            "mark_goal", [("ptr noalias", "table"), ("i64", "slots"), ("i64", "which")], "void", "nounwind"
        )
        word, bit = self.layout.mark(FINE)
        own = fn.array(self.words)
        with self.states_in(fn, "%table", V(64, "%slots")) as (_, slot):
            self.copy(fn, slot, own)
            goal = fn.call(64, "goal", own, V(64, "%which"))
            mark = fn.select(fn.is_set(goal), i64(bit), i64(0))
            fn.write(own, fn.or_(fn.read(own, word), mark), word)
            self.put(fn, own, slot)
        fn.end("ret void")
        return fn

    def _spread(self, free: Sequence[str], mark: int) -> Function:
        """Write `spread_…`: marks the states with a step to a marked one; returns how many are new."""
        fn = Function("spread_fine" if mark == FINE else "spread_beyond", LOOK, "i64")
        own, changed = fn.array(self.words), fn.cell(64, i64(0))
        cuts = range(self.context.cut, self.context.refused, 2)
        with fn.loop(V(64, "%slots")) as index:
            slot = self.slot_at(fn, "%table", index)
            marked = fn.or_(self.is_marked(fn, slot, mark), self.is_marked(fn, slot, FINE))
            is_open = fn.and_(fn.is_set(self.slot_word(fn, slot, self.words - 1)), fn.not_(marked))
            with fn.when(is_open):
                start, found, done = fn.address("%scratch"), fn.new("hit"), fn.new("looked_at")
                self.copy(fn, slot, own)
                fn.write("%ctx", start, CURSOR)
                fn.write("%ctx", i64(0), ORDINAL)
                for place in cuts:
                    fn.write("%ctx", i64(0), place)
                for name in free:
                    fn.call(1, name, "%ctx", own)
                if mark == BEYOND:
                    for place in cuts:
                        fn.leave_if(fn.is_set(fn.read("%ctx", place)), found)
                count = self.made_from(fn, start)
                with fn.loop(count) as number:
                    entry = fn.at("%scratch", fn.mul(number, i64(self.entry)))
                    address, _ = self.look(fn, entry)
                    fn.leave_if(self.is_marked(fn, fn.pointer(address), mark), found)
                fn.goto(done)
                with fn.local_values():
                    fn.begin(found)
                    self.put_mark(fn, slot, mark)
                    fn.store(changed, fn.add(fn.load(changed), i64(1)))
                    fn.goto(done)
                fn.begin(done)
        fn.end(f"ret {fn.load(changed)}")
        return fn

    def _count_marks(self) -> Function:
        """Write `count_marks`: the number of unmarked states; from bit 32 on, of those marked BEYOND only."""
        fn = Function("count_marks", TABLE, "i64")
        found = fn.cell(64, i64(0))
        with self.states_in(fn, "%table", V(64, "%slots")) as (_, slot):
            fine, beyond = self.is_marked(fn, slot, FINE), self.is_marked(fn, slot, BEYOND)
            less = fn.select(beyond, i64(1 << 32), i64(1))
            fn.store(found, fn.add(fn.load(found), fn.select(fine, i64(0), less)))
        fn.end(f"ret {fn.load(found)}")
        return fn
