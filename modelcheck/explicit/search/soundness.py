"""Whether a checkpoint is consistent: checked of each of its states, without searching again.

What was counted up to there, and what was found, is only known from a search, so that is taken on
trust.  But each state is one of the model's, in its place and there once; no state that is to
be expanded, or that waits for a fault, is missing or there twice; and each has a predecessor that comes
before it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from counterexamples.certify import certify
from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.context import Context
from modelcheck.explicit.codegen.search.insertion import CONTINUED, NUMBERS, pop
from modelcheck.explicit.codegen.search.runtime import (
    COUNT,
    FAULT,
    LATEST,
    LOCAL,
    LOCAL_BITS,
    MOST_STATES,
    NEW,
    SHARDS,
    SLOTS,
    TABLE,
    WAITING,
    WAITS,
    WAYS,
    Runtime,
)
from modelcheck.explicit.codegen.states.canonical import canonical
from modelcheck.explicit.codegen.states.fits import fits
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.functions import MachineCode, Signatures
from modelcheck.explicit.native.writing import KernelText, code, text_of
from modelcheck.explicit.search.checkpoint import damaged, only_runs
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import Shard

_P, _N = ctypes.c_void_p, ctypes.c_int64
SIGNATURES: Signatures = {
    "occupied": (_N, [_P, _N]),
    "settled": (_N, [_P, _N, _N]),
    "claim": (_N, [_P, _P, _N]),
    "release": (_N, [_P, _P, _N]),
    "rouse": (_N, [_P, _P, _N]),
    "lull": (_N, [_P, _P, _N]),
    "between": (_N, [_P, _N, _N, _P]),
    "ways_between": (_N, [_P, _N, _P, _P]),
}


class Soundness(Runtime):
    """Writes the LLVM functions that validate the states of a checkpoint."""

    def __init__(self, task: Task, layout: PackedLayout, context: Context) -> None:
        super().__init__(layout, context)
        self.task = task

    def functions(self) -> list[Function]:
        """Write the LLVM functions that validate the states of a checkpoint."""
        return [
            self.hash(),
            *canonical(self.task.model, self.task.scope, self.layout, self.task.symmetry),
            fits(self.layout),
            self._occupied(),
            self._settled(),
            self._claim(),
            self._release(),
            self._rouse(),
            self._lull(),
            self._between(),
            self._ways_between(),
        ]

    def _occupied(self) -> Function:
        """Write `occupied`: the number of used slots of a table."""
        fn = Function("occupied", [("ptr", "table"), ("i64", "slots")], "i64")
        found = fn.cell(64, i64(0))
        with fn.loop(V(64, "%slots")) as index:
            slot = self.slot_at(fn, "%table", index)
            with fn.when(fn.is_set(self.slot_word(fn, slot, self.words - 1))):
                fn.store(found, fn.add(fn.load(found), i64(1)))
        fn.end(f"ret {fn.load(found)}")
        return fn

    def _settled(self) -> Function:
        """Write `settled`: the number of states that do not wait; -1 for a wrong or misplaced one."""
        params = [("ptr", "table"), ("i64", "slots"), ("i64", "number")]
        fn = Function("settled", params, "i64")
        own, least, found, wrong = (
            fn.array(self.words),
            fn.array(self.words),
            fn.cell(64, i64(0)),
            fn.new("no"),
        )
        with fn.loop(V(64, "%slots")) as index:
            slot = self.slot_at(fn, "%table", index)
            with fn.when(fn.is_set(self.slot_word(fn, slot, self.words - 1))):
                self.copy(fn, slot, own)
                for mark in range(self.layout.marks):
                    if mark != WAITS:
                        fn.leave_if(self.is_marked(fn, slot, mark), wrong)
                fn.leave_if(fn.not_(fn.call(1, "fits", own)), wrong)
                fn.emit(f"call void @represent(ptr {own}, ptr {least})")
                for n in range(self.words):
                    fn.leave_if(fn.ne(fn.read(own, n), fn.read(least, n)), wrong)
                shard = self.shard(fn, fn.call(64, "hash", own))
                fn.leave_if(fn.ne(shard, V(64, "%number")), wrong)
                address, there = self.find(fn, "%table", V(64, "%slots"), own)
                fn.leave_if(fn.not_(fn.and_(there, fn.eq(address, fn.address(slot)))), wrong)
                waits = fn.resize(self.is_marked(fn, slot, WAITS), 64)
                fn.store(found, fn.add(fn.load(found), fn.sub(i64(1), waits)))
        fn.end(f"ret {fn.load(found)}")
        fn.exit(wrong, "ret i64 -1")
        return fn

    def _slot(self, fn: Function, state: str) -> tuple[str, V]:
        """Emit the slot of a state in its shard, and whether it is there without marks."""
        table, slots = fn.pointer(fn.read("%shard", TABLE)), fn.read("%shard", SLOTS)
        address, there = self.find(fn, table, slots, state)
        for n in range(self.words):
            strange = fn.and_(fn.read(state, n), i64(~self.layout.own(n)))
            there = fn.and_(there, fn.is_zero(strange))
        return fn.pointer(address), there

    def _toggle(self, fn: Function, slot: str) -> None:
        """Emit flipping the waiting mark of a slot."""
        word, bit = self.layout.mark(WAITS)
        self.put_slot_word(fn, slot, fn.xor(self.slot_word(fn, slot, word), i64(bit)), word)

    def _claim(self) -> Function:
        """Write `claim`: marks states that are in a shard, unmarked, once; returns how many."""
        fn = Function("claim", [("ptr", "shard"), ("ptr", "states"), ("i64", "count")], "i64")
        done, found = fn.new("end"), fn.cell(64, i64(0))
        with fn.loop(V(64, "%count")) as index:
            slot, there = self._slot(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            fn.leave_if(fn.not_(there), done)
            fn.leave_if(self.is_marked(fn, slot, WAITS), done)
            self._toggle(fn, slot)
            fn.store(found, fn.add(fn.load(found), i64(1)))
        fn.goto(done)
        fn.begin(done)
        fn.end(f"ret {fn.load(found)}")
        return fn

    def _release(self) -> Function:
        """Write `release`: removes the marks by `claim`."""
        fn = Function("release", [("ptr", "shard"), ("ptr", "states"), ("i64", "count")], "i64")
        with fn.loop(V(64, "%count")) as index:
            slot, _ = self._slot(fn, fn.at("%states", fn.mul(index, i64(self.words))))
            self._toggle(fn, slot)
        fn.end("ret i64 0")
        return fn

    def _rouse(self) -> Function:
        """Write `rouse`: removes waiting marks of entries; returns how many had one, -1 if one is missing."""
        fn = Function("rouse", [("ptr", "shard"), ("ptr", "entries"), ("i64", "count")], "i64")
        wrong, found = fn.new("wrong"), fn.cell(64, i64(0))
        with fn.loop(V(64, "%count")) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            slot, there = self._slot(fn, entry)
            meta = fn.read(entry, self.words)
            fn.leave_if(fn.not_(fn.and_(there, fn.is_zero(fn.lshr(meta, i64(FAULT))))), wrong)
            with fn.when(self.is_marked(fn, slot, WAITS)):
                self._toggle(fn, slot)
                fn.write(entry, fn.or_(meta, i64(1 << FAULT)), self.words)
                fn.store(found, fn.add(fn.load(found), i64(1)))
        fn.end(f"ret {fn.load(found)}")
        fn.exit(wrong, "ret i64 -1")
        return fn

    def _lull(self) -> Function:
        """Write `lull`: restores the marks removed by `rouse`."""
        fn = Function("lull", [("ptr", "shard"), ("ptr", "entries"), ("i64", "count")], "i64")
        with fn.loop(V(64, "%count")) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            meta = fn.read(entry, self.words)
            with fn.when(fn.is_set(fn.lshr(meta, i64(FAULT)))):
                slot, _ = self._slot(fn, entry)
                self._toggle(fn, slot)
                fn.write(entry, fn.and_(meta, i64(~(1 << FAULT))), self.words)
        fn.end("ret i64 0")
        return fn

    def _between(self) -> Function:
        """Write `between`: how many predecessors of entries are in one of two spans of their shard."""
        params = [("ptr", "metas"), ("i64", "count"), ("i64", "stride"), ("ptr", "spans")]
        fn = Function("between", params, "i64")
        found = fn.cell(64, i64(0))
        with fn.loop(V(64, "%count")) as index:
            meta = fn.read("%metas", fn.mul(index, V(64, "%stride")))
            inside = self._is_inside(fn, fn.and_(meta, i64(NUMBERS)))
            fn.store(found, fn.add(fn.load(found), inside))
        fn.end(f"ret {fn.load(found)}")
        return fn

    def _ways_between(self) -> Function:
        """Write `ways_between`: takes ways from the end of a shard down to a state; how many fit.

        That is -1 where the ways begin with half of one; their first byte begins a number.
        """
        params = [("ptr", "shard"), ("i64", "local"), ("i64", "begin"), ("ptr", "spans")]
        fn = Function("ways_between", params, "i64")
        found, at, wrong = fn.cell(64, i64(0)), fn.cell(64, fn.read("%shard", WAYS)), fn.new("wrong")

        def is_left() -> V:
            states = fn.less(V(64, "%local"), fn.read("%shard", LOCAL))
            return fn.and_(states, fn.below(V(64, "%begin"), fn.load(at)))

        with fn.during(is_left):
            latest = fn.read("%shard", LATEST)
            pop(fn, at)
            fn.leave_if(fn.up_to(fn.load(at), V(64, "%begin")), wrong)
            fn.write("%shard", fn.and_(fn.sub(latest, pop(fn, at)), i64(NUMBERS)), LATEST)
            fn.write("%shard", fn.sub(fn.read("%shard", LOCAL), i64(1)), LOCAL)
            fn.store(found, fn.add(fn.load(found), self._is_inside(fn, latest)))
        fn.write("%shard", fn.load(at), WAYS)
        fn.end(f"ret {fn.load(found)}")
        fn.exit(wrong, "ret i64 -1")
        return fn

    def _is_inside(self, fn: Function, number: V) -> V:
        """Emit whether a state is in one of two spans of its shard, as a word."""
        local = fn.and_(number, i64((1 << LOCAL_BITS) - 1))
        spans = fn.at("%spans", fn.mul(fn.lshr(number, i64(LOCAL_BITS)), i64(4)))
        inside = [
            fn.and_(fn.up_to(fn.read(spans, n), local), fn.below(local, fn.read(spans, n + 1)))
            for n in (0, 2)
        ]
        return fn.resize(fn.or_(*inside), 64)


class _CheckedSearch:
    """The validation of one restored search."""

    def __init__(self, search: PackedSearch) -> None:
        kernel = search.kernel
        written = Soundness(search.task, kernel.layout, kernel.context).functions()
        made = code(KernelText(text_of(written, SIGNATURES.keys()), 0), Tier.QUICK)
        self._code = MachineCode(made, SIGNATURES)
        self.call = self._code.call
        self.search, self.space = search, search.space

    def refuse(self) -> None:
        """Raise CannotResume for anything inconsistent."""
        for shard in self.space.shards:
            self._table(shard)
        starts = [self._word(shard) for shard in self.space.shards]
        for shard, address in zip(self.space.shards, starts, strict=True):
            self._frontier(shard, address)
            self._waiting(shard, address)
        if self.space.ways:
            self._predecessors()
        self._roots()
        self._runs()

    def _word(self, shard: Shard) -> int:
        """The address of a shard's words."""
        return self.space.address + 8 * self.space.size * shard.number

    def _table(self, shard: Shard) -> None:
        """Check that each entry of a shard's table is a state in its place, and slots are free."""
        space, table, call = self.space, shard.table.address, self.call
        count, local = space.word(shard, COUNT), space.word(shard, LOCAL)
        if call["occupied"](table, shard.slots) != count:
            damaged("the states do not add up")
        if call["settled"](table, shard.slots, shard.number) != local:
            damaged("its states are none of this model, or not where they belong")

    def _frontier(self, shard: Shard, address: int) -> None:
        """Check that frontier and new states are states of the shard, each once."""
        new = self.space.word(shard, NEW)
        here = self.space.levels[-1].starts[shard.number] - self.search.position.starts[shard.number]
        both = [(shard.frontiers[0].address, here), (shard.frontiers[1].address, new)]
        claimed = [self.call["claim"](address, states, count) for states, count in both]
        for (states, _), count in zip(both, claimed, strict=True):
            self.call["release"](address, states, count)
        if claimed != [here, new]:
            damaged("what is to be expanded was not found")

    def _waiting(self, shard: Shard, address: int) -> None:
        """Check that the pending entries wait in the table."""
        entry, space = 8 * self.space.entry, self.space
        parts = [
            (shard.pending[0].address + entry * start, end - start)
            for parts in self.search.entering.values()
            for number, start, end in parts
            if number == shard.number
        ]
        parts.append((shard.pending[1].address, space.word(shard, WAITING)))
        roused = [self.call["rouse"](address, entries, count) for entries, count in parts]
        if min(roused) < 0 or sum(roused) != space.word(shard, COUNT) - space.word(shard, LOCAL):
            damaged("what waits for a fault does not add up")
        for entries, count in parts:
            self.call["lull"](address, entries, count)

    # ------------------------------------------------------------------------ ways

    def _predecessors(self) -> None:
        """Check that each state's predecessor is one level before it."""
        space = self.space
        ends = tuple(space.word(shard, LOCAL) for shard in space.shards)
        places = {(level.faults, level.depth): number for number, level in enumerate(space.levels)}
        starts = [*(level.starts for level in space.levels), ends]
        if any(shard.ways.read(0, 1)[0] >= CONTINUED for shard in space.shards):
            damaged("its ways do not add up")
        memory = type(space.memory).from_buffer_copy(space.memory)  # whose ends of ways move back
        for number, level in reversed(list(enumerate(space.levels))):
            before = [places.get((level.faults - fault, level.depth - 1)) for fault in (0, 1)]
            spans = _spans([(starts[n], starts[n + 1]) for n in before if n is not None])
            if not number:  # ROOT is the last number of the last shard
                spans[4 * (SHARDS - 1)], spans[4 * (SHARDS - 1) + 1] = MOST_STATES - 1, MOST_STATES
            for shard in space.shards:
                first, end = (starts[n][shard.number] for n in (number, number + 1))
                words = ctypes.addressof(memory) + 8 * space.size * shard.number
                if self.call["ways_between"](words, first, shard.ways.address, spans) != end - first:
                    damaged("a state has no predecessor")
        for shard in space.shards:
            at = shard.number * space.size
            if memory[at + WAYS] != shard.ways.address or memory[at + LATEST] != 0:
                damaged("its ways do not add up")
        self._waiting_predecessors(places, starts)

    def _waiting_predecessors(
        self, places: dict[tuple[int, int], int], starts: list[tuple[int, ...]]
    ) -> None:
        """Check that waiting states were reached from the level that is recorded for them."""
        space = self.space
        for shard, faults, depth, region, start, end in self._seeded():
            level = places.get((faults, depth - 1))
            spans = _spans([] if level is None else [(starts[level], starts[level + 1])])
            address = region + 8 * space.entry * start + 8 * space.words
            count = end - start
            if self.call["between"](address, count, space.entry, spans) != count:
                damaged(f"what waits at depth {depth} of shard {shard.number} has no predecessor")

    def _seeded(self) -> Iterator[tuple[Shard, int, int, int, int, int]]:
        """The waiting entries: shard, layer, depth and where they are in memory."""
        search, at = self.search, self.search.position
        for depth, parts in search.entering.items():
            for number, start, end in parts:
                shard = self.space.shards[number]
                yield shard, at.faults - 1, depth, shard.pending[0].address, start, end
        last = at.depth + 1, self.space.waiting()
        for (_, before), (depth, counts) in pairwise([(0, (0,) * SHARDS), *search.seeds, last]):
            for shard, start, end in zip(self.space.shards, before, counts, strict=True):
                yield shard, at.faults, depth, shard.pending[1].address, start, end

    def _roots(self) -> None:
        """Check that the states of the first level are the initial ones."""
        search, space = self.search, self.space
        begins = [search.kernel.represent(state) for state in search.machine.initial()]
        ends = [space.levels[1].starts[shard.number] for shard in space.shards]
        if sum(ends) != len(set(begins)):
            damaged("it does not begin as the model does")

    def _runs(self) -> None:
        """Check that each find has a run that shows it."""
        search = self.search
        if not self.space.ways:
            return
        for name in search.tally.best:
            with only_runs():
                certify(search.trace_of(name))
        if search.tally.error is not None:
            with only_runs():
                certify(search.runs.error(search.tally.error))


def _spans(levels: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Any:  # noqa: ANN401 - an array
    """An array of two spans (start, end) per shard, of the one or two levels that may have a predecessor."""
    spans = (ctypes.c_uint64 * (4 * SHARDS))()
    for place, (starts, ends) in enumerate(levels):
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            spans[4 * number + 2 * place], spans[4 * number + 2 * place + 1] = start, end
    return spans


def refuse_unsound(search: PackedSearch) -> None:
    """Raise CannotResume if the checkpoint that was read into this search is inconsistent.

    Costs a look at each state.
    """
    _CheckedSearch(search).refuse()
