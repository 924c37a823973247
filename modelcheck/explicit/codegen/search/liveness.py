"""What fair runs are made of, as code: the states without a goal, their edges, and which runs come to wait.

The first part makes the graph that `graphs.py` looks at, for which the table is the list of states:
a slot's place among all slots is the name of its state.  The second goes through all runs once
more, the fewest faults first, each state as one where nothing has been waited for yet and as one
that waits: its nodes are the slots, and after TOTAL the numbers of the states without the goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.context import CURSOR, ORDINAL, PARENT, Context
from modelcheck.explicit.codegen.search.graphs import (
    BASES,
    BEGINS,
    CLASSES,
    CODES,
    DUE,
    DUE_COUNT,
    DUE_FROM,
    FOUND,
    FOUND_COUNT,
    FRAME,
    FROM,
    HOW,
    INSIDE,
    NONE,
    NUMBERS,
    PAID,
    PLACES,
    POSSIBLE,
    QUEUED,
    STARTS,
    TARGETS,
    TOTAL,
    UNSERVED,
    array,
    bit_of,
    get,
    put,
    ways_out,
)
from modelcheck.explicit.codegen.search.runtime import FAULT, SHARDS, SLOTS, TABLE, Runtime
from modelcheck.explicit.codegen.states.layout import PackedLayout

TABLES = [("ptr noalias", "ctx"), ("ptr", "shards"), ("i64", "size"), FRAME]
SOME = [("i64", "first"), ("i64", "count")]


class Liveness(Runtime):
    """Writes the LLVM functions that build the graph of states without the goal, and the runs into it.

    `free` has the names of the functions of actions and repairs, each with the number of the
    fair action that it is, from 1 on; 0 where it is not fair.
    """

    def __init__(
        self, layout: PackedLayout, context: Context, free: Sequence[tuple[str, int]], faults: Sequence[str]
    ) -> None:
        super().__init__(layout, context)
        self._free = free
        self._faults = faults

    def functions(self) -> list[Function]:
        """Write the LLVM functions that build the graph of states without the goal, and the runs into it."""
        return [
            self._sort_out(),
            self._link(),
            self._enter(),
            self._reach(),
            self._due(),
            self._wake_due(),
            self._wander(),
        ]

    # ------------------------------------------------------------------ the graph

    def _sort_out(self) -> Function:
        """Write `sort_out`: classifies each state of a table for a property; returns how many lack a goal."""
        params = [("ptr", "table"), ("i64", "slots"), ("i64", "which"), ("ptr noalias", "classes")]
        fn = Function("sort_out", params, "i64")
        own, many = fn.array(self.words), fn.cell(64, i64(0))
        with fn.loop(V(64, "%slots")) as index:
            slot = self.slot_at(fn, "%table", index)
            fn.write("%classes", const(8, 0), index)
            with fn.when(fn.is_set(self.slot_word(fn, slot, self.words - 1))):
                self.copy(fn, slot, own)
                found = fn.call(64, "awaited", own, V(64, "%which"))
                fn.write("%classes", fn.resize(found, 8), index)
                fn.store(many, fn.add(fn.load(many), fn.and_(found, i64(UNSERVED))))
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _link(self) -> Function:
        """Write `link`: stores the edges of some states and their possible actions; the edges' end, or -1.

        A step that changes nothing is none.  A fair step that leaves the scope is possible.
        """
        params = [*TABLES, *SOME, ("i64", "at"), ("ptr", "scratch")]
        fn = Function("link", params, "i64")
        places, numbers, starts = (array(fn, name) for name in (PLACES, NUMBERS, STARTS))
        targets, codes, possible, insides = (array(fn, n) for n in (TARGETS, CODES, POSSIBLE, INSIDE))
        own, at, wrong = fn.array(self.words), fn.cell(64, V(64, "%at")), fn.new("wrong")
        inside, cut = fn.cell(64), fn.cell(64)
        with fn.loop(V(64, "%count")) as index:
            number = fn.add(V(64, "%first"), index)
            self.copy(fn, self._slot(fn, get(fn, places, number)), own)
            fn.write(starts, fn.load(at), number)
            fn.store(inside, i64(0))
            fn.store(cut, i64(0))
            self._start(fn)
            for name, action in self._free:
                fn.write("%ctx", i64(action), PARENT)
                for word in self._cuts * bool(action):
                    fn.write("%ctx", i64(0), word)
                fn.leave_if(fn.call(1, name, "%ctx", own), wrong)
                for word in self._cuts * bool(action):
                    bit = fn.select(fn.is_set(fn.read("%ctx", word)), bit_of(fn, i64(action)), i64(0))
                    fn.store(cut, fn.or_(fn.load(cut), bit))
            with self._successors(fn) as entry, fn.when(fn.is_set(self.difference(fn, entry, own))):
                code = fn.and_(fn.read(entry, self.words), i64(NONE))
                fn.store(inside, fn.or_(fn.load(inside), bit_of(fn, code)))
                place, there = self._place(fn, entry)
                fn.leave_if(fn.not_(there), wrong)
                target = get(fn, numbers, place)
                with fn.when(fn.is_set(target)):
                    now = fn.load(at)
                    put(fn, targets, now, fn.sub(target, i64(1)))
                    fn.write(codes, fn.resize(code, 8), now)
                    fn.store(at, fn.add(now, i64(1)))
            put(fn, targets, fn.load(at), i64(NONE))
            fn.store(at, fn.add(fn.load(at), i64(1)))
            fn.write(insides, fn.load(inside), number)
            fn.write(possible, fn.or_(fn.load(inside), fn.load(cut)), number)
        fn.end(f"ret {fn.load(at)}")
        fn.exit(wrong, "ret i64 -1")
        return fn

    # ------------------------------------------------------------------ waiting

    def _enter(self) -> Function:
        """Write `enter`: the index of a state's slot among all slots, or -1."""
        fn = Function("enter", [*TABLES[1:], ("ptr", "state")], "i64")
        place, there = self._place(fn, "%state")
        fn.end(f"ret {fn.select(there, place, i64(-1))}")
        return fn

    def _reach(self) -> Function:
        """Write `reach`: marks a node as reached; where a wait begins, also its waiting node."""
        fn = Function("reach", [FRAME, ("i64", "node"), ("i64", "from")], "void")
        node, total = V(64, "%node"), fn.read("%frame", TOTAL)
        from_, found, numbers, classes = (array(fn, name) for name in (FROM, FOUND, NUMBERS, CLASSES))

        def note(node: V, source: V) -> None:
            put(fn, from_, node, fn.add(source, i64(1)))
            count = fn.read("%frame", FOUND_COUNT)
            put(fn, found, count, node)
            fn.write("%frame", fn.add(count, i64(1)), FOUND_COUNT)

        with fn.when(fn.is_zero(get(fn, from_, node))):
            note(node, V(64, "%from"))
            with fn.when(fn.below(node, total)):
                begins = fn.is_set(fn.and_(fn.read(classes, node, 8), const(8, BEGINS)))
                with fn.when(begins):
                    waiting = fn.sub(fn.add(total, get(fn, numbers, node)), i64(1))
                    with fn.when(fn.is_zero(get(fn, from_, waiting))):
                        note(waiting, node)
        fn.end("ret void")
        return fn

    def _due(self) -> Function:
        """Write `due`: queues a node that a fault leads to for the next layer, if it is not reached yet."""
        fn = Function("due", [FRAME, ("i64", "node"), ("i64", "from")], "void")
        node = V(64, "%node")
        from_, how, due, sources = (array(fn, name) for name in (FROM, HOW, DUE, DUE_FROM))
        is_new = fn.and_(fn.is_zero(get(fn, from_, node)), fn.is_zero(fn.read(how, node, 8)))
        with fn.when(is_new):
            count = fn.read("%frame", DUE_COUNT)
            fn.write(how, const(8, QUEUED), node)
            put(fn, due, count, node)
            put(fn, sources, count, V(64, "%from"))
            fn.write("%frame", fn.add(count, i64(1)), DUE_COUNT)
        fn.end("ret void")
        return fn

    def _wake_due(self) -> Function:
        """Write `wake_due`: marks the queued nodes as reached that no run without the fault has reached."""
        fn = Function("wake_due", [FRAME, *SOME], "void")
        from_, how, due, sources = (array(fn, name) for name in (FROM, HOW, DUE, DUE_FROM))
        with fn.loop(V(64, "%count")) as index:
            place = fn.add(V(64, "%first"), index)
            node = get(fn, due, place)
            with fn.when(fn.is_zero(get(fn, from_, node))):
                fn.write(how, const(8, PAID), node)
                fn.emit(f"call void @reach(ptr %frame, {node}, {get(fn, sources, place)})")
        fn.end("ret void")
        return fn

    def _wander(self) -> Function:
        """Write `wander`: marks the successors of some nodes as reached; returns whether all were found.

        With `waits` also from those that wait, which continue to states without the goal.
        """
        params = [*TABLES, *SOME, ("i1", "paid"), ("i1", "waits"), ("ptr", "scratch")]
        fn = Function("wander", params, "i1")
        found, numbers, places = (array(fn, name) for name in (FOUND, NUMBERS, PLACES))
        starts, targets = array(fn, STARTS), array(fn, TARGETS)
        own, total, wrong = fn.array(self.words), fn.read("%frame", TOTAL), fn.new("wrong")
        with fn.loop(V(64, "%count")) as index:
            node = get(fn, found, fn.add(V(64, "%first"), index))
            plain, waiting, on = fn.new("plain"), fn.new("waiting"), fn.new("on")
            fn.fork(fn.below(node, total), plain, waiting)
            with fn.local_values():
                fn.begin(plain)
                self.copy(fn, self._slot(fn, node), own)
                self._start(fn)
                for name, _ in self._free:
                    fn.leave_if(fn.call(1, name, "%ctx", own), wrong)
                with fn.when(V(1, "%paid")):
                    for name in self._faults:
                        fn.leave_if(fn.call(1, name, "%ctx", own), wrong)
                with self._successors(fn) as entry:
                    place, there = self._place(fn, entry)
                    fn.leave_if(fn.not_(there), wrong)
                    self._come(fn, entry, place, node)
                fn.goto(on)
            with fn.local_values():
                fn.begin(waiting)
                fn.leave_if(fn.not_(V(1, "%waits")), on)
                number = fn.sub(node, total)
                with ways_out(fn, starts, targets, number) as (_, target):
                    fn.emit(f"call void @reach(ptr %frame, {fn.add(total, target)}, {node})")
                fn.leave_if(fn.not_(V(1, "%paid")), on)
                self.copy(fn, self._slot(fn, get(fn, places, number)), own)
                self._start(fn)
                for name in self._faults:
                    fn.leave_if(fn.call(1, name, "%ctx", own), wrong)
                with self._successors(fn) as entry:
                    place, there = self._place(fn, entry)
                    fn.leave_if(fn.not_(there), wrong)
                    target = get(fn, numbers, place)
                    with fn.when(fn.is_set(target)):
                        self._come(fn, entry, fn.sub(fn.add(total, target), i64(1)), node)
                fn.goto(on)
            fn.begin(on)
        fn.end("ret i1 true")
        fn.exit(wrong, "ret i1 false")
        return fn

    def _come(self, fn: Function, entry: str, node: V, source: V) -> None:
        """Emit calling `reach` for a successor, or `due` if it is by a fault."""
        blocks = [fn.new(hint) for hint in ("by_fault", "free", "come")]
        by_fault = fn.is_set(fn.lshr(fn.read(entry, self.words), i64(FAULT)))
        given = f"(ptr %frame, {node}, {source})"
        due, reach = (partial(fn.emit, f"call void @{called}{given}") for called in ("due", "reach"))
        fn.either(by_fault, blocks, due, reach)

    # ------------------------------------------------------------------ parts

    @property
    def _cuts(self) -> list[int]:
        """The words of the thread's memory that count free steps beyond the scope."""
        return [*range(self.context.cut, self.context.refused, 2)]

    def _start(self, fn: Function) -> None:
        """Emit resetting the buffer for successors to the start of the scratch memory."""
        fn.write("%ctx", fn.address("%scratch"), CURSOR)
        fn.write("%ctx", i64(0), ORDINAL)
        fn.write("%ctx", i64(0), PARENT)

    @contextmanager
    def _successors(self, fn: Function) -> Iterator[str]:
        """Emit the code of the `with` as a loop over the successors in the scratch memory."""
        size = fn.sub(fn.read("%ctx", CURSOR), fn.address("%scratch"))
        count = fn.udiv(size, i64(8 * self.entry))
        with fn.loop(count) as index:
            entry = fn.at("%scratch", fn.mul(index, i64(self.entry)))
            place = self.slot(fn, fn.call(64, "hash", entry), self._of_shard(fn, entry, SLOTS))
            table = fn.pointer(self._of_shard(fn, entry, TABLE))
            soon = self.slot_at(fn, table, place)
            fn.emit(f"call void @llvm.prefetch.p0(ptr {soon}, i32 0, i32 3, i32 1)")
        with fn.loop(count) as index:
            yield fn.at("%scratch", fn.mul(index, i64(self.entry)))

    def _of_shard(self, fn: Function, state: str, word: int) -> V:
        """Emit reading a word of the shard of a state."""
        number = self.shard(fn, fn.call(64, "hash", state))
        return fn.read(fn.at("%shards", fn.mul(number, V(64, "%size"))), word)

    def _slot(self, fn: Function, place: V) -> str:
        """Emit the pointer to the slot with an index among all slots."""
        number: V = i64(0)
        for shard in range(1, SHARDS):
            begins = fn.up_to(fn.read("%frame", BASES + shard), place)
            number = fn.add(number, fn.resize(begins, 64))
        shards = fn.at("%shards", fn.mul(number, V(64, "%size")))
        table = fn.pointer(fn.read(shards, TABLE))
        return self.slot_at(fn, table, fn.sub(place, fn.read("%frame", number)))

    def _place(self, fn: Function, state: str) -> tuple[V, V]:
        """Emit the index of a state's slot among all slots, and whether the state is there."""
        number = self.shard(fn, fn.call(64, "hash", state))
        shard = fn.at("%shards", fn.mul(number, V(64, "%size")))
        table = fn.read(shard, TABLE)
        address, there = self.find(fn, fn.pointer(table), fn.read(shard, SLOTS), state)
        return fn.add(fn.read("%frame", number), fn.udiv(fn.sub(address, table), i64(self.slot_bytes))), there
