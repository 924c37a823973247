"""Expanding states as code: chunks of a round, each state's successors, all in the order of their shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.claims import MAY_END
from modelcheck.explicit.codegen.search.context import CURSOR, FORGETTING, ORDINAL, PARENT, WENT, Context
from modelcheck.explicit.codegen.search.leaving import ENOUGH
from modelcheck.explicit.codegen.search.runtime import (
    CHUNK,
    CHUNK_SIZE,
    FAULT,
    ROUND,
    SHARDS,
    Runtime,
)
from modelcheck.explicit.codegen.search.steps import BY_VALUE, find_here
from modelcheck.explicit.codegen.states.layout import PackedLayout


class Expansion(Runtime):
    """Writes the LLVM functions that expand states and sort their successors by shard.

    `emits` are the functions that take a successor, each with the one that finds its representative, if any.
    """

    def __init__(
        self,
        layout: PackedLayout,
        context: Context,
        parameters: Parameters,
        emits: Mapping[str, str | None],
    ) -> None:
        super().__init__(layout, context)
        self.parameters = parameters
        self.emits = emits

    def functions(
        self, free: Sequence[str], faults: Sequence[str], probes: Sequence[str], most: int
    ) -> list[Function]:
        """All functions, given the names of the functions of actions and the most successors of a state."""
        return [*self.takers(), self._expand(free, faults, probes, most), self._sort(), self._expand_round()]

    def takers(self) -> list[Function]:
        """The functions that take a successor."""
        return [self._emit(name, represent) for name, represent in self.emits.items()]

    def _emit(self, name: str, represent: str | None) -> Function:
        """Write a function that appends a successor, or its representative, to the buffer."""
        by_value = self.words <= BY_VALUE
        given = [("i64", f"w{n}") for n in range(self.words)] if by_value else [("ptr", "state")]
        fn = Function(name, [("ptr noalias", "ctx"), ("i64", "flag"), *given], "void")
        out = fn.pointer(fn.read("%ctx", CURSOR))
        words = [V(64, f"%w{n}") if by_value else fn.read("%state", n) for n in range(self.words)]
        if self.context.forgotten:
            words = self._remembered(fn, words)
        if represent is not None:
            own = fn.array(self.words)
            for n, word in enumerate(words):
                fn.write(own, word, n)
            fn.emit(f"call void @{represent}(ptr {own}, ptr {out})")
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

    def _remembered(self, fn: Function, words: list[V]) -> list[V]:
        """The words of a successor without what the last layer forgets, if it is of that: NOTE(forgotten)."""
        before, by_fault = fn.read("%ctx", FORGETTING), fn.lshr(V(64, "%flag"), i64(FAULT))
        is_last = fn.below(i64(1), fn.add(before, by_fault))
        kept = [i64(self.layout.keeping(n, self.context.forgotten)) for n in range(self.words)]
        return [fn.select(is_last, fn.and_(word, mask), word) for word, mask in zip(words, kept, strict=True)]

    def _expand(
        self, free: Sequence[str], faults: Sequence[str], probes: Sequence[str], most: int
    ) -> Function:
        """Write `expand`: expands states in order while the buffer has room; returns how many."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "states"),
            ("i64", "first"),
            ("i64", "count"),
            ("i64", "end"),
            ("i1", "faults"),
        ]
        fn = Function("expand", params, "i64")
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
        if self.context.persistence is not None:
            self._forget_groups(fn)
        begin = fn.read("%ctx", CURSOR)
        for name in free:
            fn.leave_if(fn.call(1, name, "%ctx", state), go_on)
        if self.context.persistence is not None:
            fn.leave_if(fn.call(1, ENOUGH, "%ctx", fn.pointer(begin)), next_)
        if self.context.deadlock is not None:
            fn.leave_if(fn.not_(self.parameters.asks(fn, self.context.deadlock)), go_on)
            fn.leave_if(fn.is_set(fn.read("%ctx", WENT)), go_on)
            for name in probes:
                fn.leave_if(fn.call(1, name, "%ctx", state), go_on)  # an error is something, too
            fn.leave_if(fn.is_set(fn.read("%ctx", WENT)), go_on)
            if self.context.deadlock.expr is not None:
                ends = fn.call(64, MAY_END, state)
                fn.leave_if(fn.eq(ends, i64(1)), go_on)
                with fn.when(fn.eq(ends, i64(2))):
                    find_here(fn, self.context.errors)
                    fn.goto(go_on)
            find_here(fn, self.context.dead)
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

    def _forget_groups(self, fn: Function) -> None:
        """Emit that no group has had a step, nor any been refused."""
        for place in range(self.context.enabled, self.context.room):
            fn.write("%ctx", i64(0), place)

    def _sort(self) -> Function:
        """Write `sort`: copies successors to `to`, sorted by shard; `offsets` gets each shard's start."""
        params = [
            ("ptr noalias", "from"),
            ("i64", "count"),
            ("ptr noalias", "to"),
            ("ptr noalias", "offsets"),
            ("ptr noalias", "marks"),
        ]
        fn = Function("sort", params, "void")
        count, ends = V(64, "%count"), fn.array(SHARDS)
        for number in range(SHARDS):
            fn.write(ends, i64(0), number)
        with fn.loop(count) as index:
            shard = self.shard(fn, fn.call(64, "hash", fn.at("%from", fn.mul(index, i64(self.entry)))))
            fn.write("%marks", fn.resize(shard, 8), index)
            fn.write(ends, fn.add(fn.read(ends, shard), i64(1)), shard)
        before: V = i64(0)
        for number in range(SHARDS):
            fn.write("%offsets", before, number)
            behind = fn.add(before, fn.read(ends, number))
            fn.write(ends, before, number)
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
            if self.entry <= 8:
                self.move(fn, source, target, self.entry)
            else:
                size = i64(8 * self.entry)
                fn.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, {size}, i1 false)")
        fn.end("ret void")
        return fn

    def _expand_round(self) -> Function:
        """Write `expand_round`: takes chunks of a round until none is left; expands and sorts each."""
        params = [
            ("ptr noalias", "ctx"),
            ("ptr", "round"),
            ("ptr noalias", "scratch"),
            ("i64", "end"),
            ("ptr noalias", "marks"),
        ]
        fn = Function("expand_round", params, "void")
        with self.taken(fn, "next", lambda: fn.read("%round", ROUND["chunks"])) as index:
            chunk = fn.at(fn.pointer(fn.read("%round", ROUND["chunk_table"])), fn.mul(index, i64(CHUNK_SIZE)))
            start = fn.address("%scratch")
            fn.write("%ctx", start, CURSOR)
            faults = fn.is_set(fn.read("%round", ROUND["with_faults"]))
            states = fn.pointer(fn.read(chunk, CHUNK["states"]))
            many = fn.call(
                64,
                "expand",
                "%ctx",
                states,
                fn.read(chunk, CHUNK["first"]),
                fn.read(chunk, CHUNK["how_many"]),
                V(64, "%end"),
                faults,
            )
            fn.write(chunk, many, CHUNK["done"])
            count = self.made_from(fn, start)
            out, offsets = fn.pointer(fn.read(chunk, CHUNK["out"])), fn.at(chunk, CHUNK["offsets"])
            fn.emit(f"call void @sort(ptr %scratch, {count}, ptr {out}, ptr {offsets}, ptr %marks)")
        fn.end("ret void")
        return fn
