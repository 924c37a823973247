"""Steps that are left for later, as code: NOTE(persistent) in `modelcheck/search/persistent.py`.

The functions of actions note which groups have a step in the expanded state, and which parts of their heads
refuse one.  When all free steps are there, those of a persistent set stay, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, i64
from modelcheck.explicit.codegen.assembly import ConstantTable, Function, Register
from modelcheck.explicit.codegen.search.context import (
    BEFORE_FAULTS,
    CURSOR,
    GROUPS,
    SHARD_SIZE,
    STATES,
)
from modelcheck.explicit.codegen.search.runtime import EXPANDED, WAITS, Runtime
from modelcheck.explicit.codegen.states.layout import WORD
from modelcheck.search.persistent import Persistence

ENOUGH = "enough"


class Leaving(Runtime):
    """Writes the LLVM functions that find and keep the steps that are enough."""

    def functions(self) -> list[Function]:
        """All functions."""
        return [self._mark_expanded(), self._is_later(), self._closed(), self._choose(), self._enough()]

    @property
    def of(self) -> Persistence:
        """What goes with each group."""
        assert self.context.persistence is not None
        return self.context.persistence

    def _mark_expanded(self) -> Function:
        """Write `mark_expanded`: marks the states of a level, which are in the tables."""
        params = [("ptr", "shards"), ("i64", "size"), ("ptr", "states"), ("i64", "count")]
        fn = Function("mark_expanded", params, "void")
        with fn.loop(V(64, "%count")) as index:
            address, _ = self.look(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            self.put_mark(fn, fn.pointer(address), EXPANDED)
        fn.end("ret void")
        return fn

    def _is_later(self) -> Function:
        """Write `is_later`: whether a state is expanded after those of this level."""
        fn = Function("is_later", [("ptr", "shards"), ("i64", "size"), ("ptr", "state")], "i1")
        address, there = self.look(fn, "%state")
        slot = fn.pointer(address)
        known = fn.and_(fn.not_(self.is_marked(fn, slot, WAITS)), self.is_marked(fn, slot, EXPANDED))
        fn.end(f"ret {fn.not_(fn.and_(there, known))}")
        return fn

    # ---------------------------------------------------------------- one set

    def _rows(self, fn: Function, masks: Sequence[int]) -> ConstantTable:
        """The words of masks, one after the other, as a table."""
        words = self.context.group_words
        return fn.table([mask >> WORD * n & (1 << WORD) - 1 for mask in masks for n in range(words)] or [0])

    def _row(self, fn: Function, table: ConstantTable, index: V) -> list[V]:
        """Emit the words of the mask with an index in a table."""
        words = self.context.group_words
        first = fn.mul(index, i64(words))
        return [fn.look_up(table, fn.add(first, i64(n))) for n in range(words)]

    def _bits(self, fn: Function, place: int) -> list[V]:
        """Emit reading the words of a set of groups in the context."""
        return [fn.read("%ctx", place + n) for n in range(self.context.group_words)]

    def _masked(self, mask: int) -> list[V]:
        """The words of a constant mask."""
        return [i64(mask >> WORD * n & (1 << WORD) - 1) for n in range(self.context.group_words)]

    def _any(self, fn: Function, words: Sequence[V]) -> V:
        """Emit whether a set of groups has any."""
        joined: V = i64(0)
        for word in words:
            joined = fn.or_(joined, word)
        return fn.is_set(joined)

    def _is_in(self, fn: Function, place: int, number: V) -> V:
        """Emit whether the bit with a number is set in words of the context."""
        word = fn.read("%ctx", fn.add(i64(place), fn.lshr(number, i64(6))))
        return fn.is_set(fn.and_(fn.lshr(word, fn.and_(number, i64(WORD - 1))), i64(1)))

    def _shown(self, fn: Function) -> list[V]:
        """Emit the groups that are visible in the expanded state."""
        changing = self._bits(fn, self.context.changing)
        return [
            fn.or_(fn.and_(now, may), named)
            for now, may, named in zip(
                changing, self._masked(self.of.visible), self._masked(self.of.named), strict=True
            )
        ]

    def _closed(self) -> Function:
        """Write `closed`: stores the groups that go with one, and have a step; whether they are of use.

        As `Persistence.closed`.
        """
        fn = Function("closed", [("ptr noalias", "ctx"), ("i64", "seed"), ("ptr noalias", "to")], "i1")
        words = self.context.group_words
        found, left = fn.array(words), fn.array(words)
        more = [fn.cell(64) for _ in range(words)]
        useless_in = self._useless_in(fn)
        for n in range(words):
            here = fn.eq(fn.lshr(V(64, "%seed"), i64(6)), i64(n))
            bit = fn.shl(i64(1), fn.and_(V(64, "%seed"), i64(WORD - 1)))
            for words_of in (found, left):
                fn.write(words_of, fn.select(here, bit, i64(0)), n)
        look, useless = fn.new("look"), fn.new("useless")
        fn.goto(look)
        fn.begin(look)
        for n in range(words):
            take, on = fn.new("take"), fn.new("on")
            now = fn.read(left, n)
            fn.fork(fn.is_set(now), take, on)
            with fn.local_values():
                fn.begin(take)
                fn.write(left, fn.and_(now, fn.sub(now, i64(1))), n)
                self._with(fn, fn.add(fn.lowest(now), i64(WORD * n)), more)
                loaded = [fn.load(each) for each in more]
                fn.leave_if(useless_in(loaded), useless)
                for k, (each, faults) in enumerate(zip(loaded, self._masked(self.of.faults), strict=True)):
                    new = fn.and_(each, fn.not_(fn.or_(fn.read(found, k), faults)))
                    fn.write(found, fn.or_(fn.read(found, k), new), k)
                    fn.write(left, fn.or_(fn.read(left, k), new), k)
                fn.goto(look)
            fn.begin(on)
        for n, enabled in enumerate(self._bits(fn, self.context.enabled)):
            fn.write("%to", fn.and_(fn.read(found, n), enabled), n)
        fn.end("ret i1 true")
        fn.exit(useless, "ret i1 false")
        return fn

    def _useless_in(self, fn: Function) -> Callable[[Sequence[V]], V]:
        """What emits whether groups have a fault that is still allowed, or one with a visible step here."""
        with_faults = fn.eq(fn.read("%ctx", self.context.leaving), i64(BEFORE_FAULTS))
        bad = [
            fn.or_(fn.and_(enabled, shown), fn.select(with_faults, faults, i64(0)))
            for enabled, shown, faults in zip(
                self._bits(fn, self.context.enabled),
                self._shown(fn),
                self._masked(self.of.faults),
                strict=True,
            )
        ]
        return lambda groups: self._any(fn, [fn.and_(a, b) for a, b in zip(groups, bad, strict=True)])

    def _with(self, fn: Function, group: V, more: Sequence[Register]) -> None:
        """Emit the groups that go with one directly: as `Persistence._with`."""
        of = self.of
        conflicts, entering = self._rows(fn, of.conflicts), self._rows(fn, of.entering)
        enabling = self._rows(fn, [row for rows in of.enabling for row in rows])
        parts, settled = fn.table(of.parts), fn.table(of.settled or [0])
        is_open = fn.table([int(each) for each in of.is_open] or [0])
        has, none, done = fn.new("has"), fn.new("none"), fn.new("joined")
        fn.fork(self._is_in(fn, self.context.enabled, group), has, none)
        with fn.local_values():
            fn.begin(has)
            for cell, word in zip(more, self._row(fn, conflicts, group), strict=True):
                fn.store(cell, word)
            fn.goto(done)
        with fn.local_values():
            fn.begin(none)
            for cell in more:
                fn.store(cell, i64(0))
            any_failed = fn.cell(1, FALSE)
            first, behind = fn.look_up(parts, group), fn.look_up(parts, fn.add(group, i64(1)))
            with fn.loop(behind, first) as part, fn.when(self._is_in(fn, self.context.failed, part)):
                fn.store(any_failed, TRUE)
                row = self._row(fn, enabling, part)
                alone = fn.lshr(fn.look_up(settled, group), fn.sub(part, first))
                with fn.when(fn.is_set(fn.and_(alone, i64(1)))):
                    for cell, word in zip(more, row, strict=True):
                        fn.store(cell, word)
                    fn.goto(done)
                for cell, word in zip(more, row, strict=True):
                    fn.store(cell, fn.or_(fn.load(cell), word))
            others = fn.is_set(fn.look_up(is_open, group))
            with fn.when(fn.or_(others, fn.not_(fn.load(any_failed)))):
                for cell, word in zip(more, self._row(fn, entering, group), strict=True):
                    fn.store(cell, fn.or_(fn.load(cell), word))
            fn.goto(done)
        fn.begin(done)

    # ---------------------------------------------------------- the steps that stay

    def _choose(self) -> Function:
        """Write `choose`: stores the groups whose steps are enough; returns whether there are any."""
        fn = Function("choose", [("ptr noalias", "ctx")], "i1")
        words = self.context.group_words
        to, enabled, shown = fn.array(words), self._bits(fn, self.context.enabled), self._shown(fn)
        least, any_found = fn.cell(64, self._count(fn, enabled)), fn.cell(1, FALSE)
        for n in range(words):
            seeds = fn.cell(64, fn.and_(enabled[n], fn.not_(shown[n])))
            test, inside, after = fn.new("test"), fn.new("seed"), fn.new("after")
            fn.goto(test)
            with fn.local_values():
                fn.begin(test)
                now = fn.load(seeds)
                fn.fork(fn.is_set(now), inside, after)
                fn.begin(inside)
                fn.store(seeds, fn.and_(now, fn.sub(now, i64(1))))
                seed = fn.add(fn.lowest(now), i64(WORD * n))
                fn.leave_if(fn.not_(fn.call(1, "closed", "%ctx", seed, to)), test)
                found = [fn.read(to, k) for k in range(words)]
                size = self._count(fn, found)
                with fn.when(fn.less(size, fn.load(least))):
                    fn.store(least, size)
                    fn.store(any_found, TRUE)
                    for k, word in enumerate(found):
                        fn.write("%ctx", word, self.context.chosen + k)
                fn.goto(test)
            fn.begin(after)
        fn.end(f"ret {fn.load(any_found)}")
        return fn

    def _count(self, fn: Function, words: Sequence[V]) -> V:
        """Emit the number of groups in a set."""
        total: V = i64(0)
        for word in words:
            total = fn.add(total, fn.popcount(word))
        return total

    def _enough(self) -> Function:
        """Write `enough`: drops the successors, from an address on, that are left for later; whether it did.

        It does where a set is found, and one of its successors is expanded later.
        """
        fn = Function(ENOUGH, [("ptr noalias", "ctx"), ("ptr", "from")], "i1")
        all_, leaving = fn.new("all"), self.context.leaving
        fn.leave_if(fn.is_zero(fn.read("%ctx", leaving)), all_)
        fn.leave_if(fn.not_(fn.call(1, "choose", "%ctx")), all_)
        shards, size = fn.pointer(fn.read("%ctx", leaving + STATES)), fn.read("%ctx", leaving + SHARD_SIZE)
        groups = fn.pointer(fn.read("%ctx", leaving + GROUPS))
        count, later = self.made_from(fn, fn.address("%from")), fn.cell(1, FALSE)
        with fn.loop(count) as index, fn.when(self._is_in(fn, self.context.chosen, fn.read(groups, index))):
            entry = fn.at("%from", fn.mul(index, i64(self.entry)))
            fn.store(later, fn.or_(fn.load(later), fn.call(1, "is_later", shards, size, entry)))
        fn.leave_if(fn.not_(fn.load(later)), all_)
        kept = fn.cell(64, i64(0))
        with fn.loop(count) as index, fn.when(self._is_in(fn, self.context.chosen, fn.read(groups, index))):
            place = fn.load(kept)
            source, to = (fn.at("%from", fn.mul(each, i64(self.entry))) for each in (index, place))
            self.move(fn, source, to, self.entry)
            fn.store(kept, fn.add(place, i64(1)))
        end = fn.at("%from", fn.mul(fn.load(kept), i64(self.entry)))
        fn.write("%ctx", fn.address(end), CURSOR)
        fn.end("ret i1 true")
        fn.exit(all_, "ret i1 false")
        return fn
