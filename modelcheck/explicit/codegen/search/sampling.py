"""Random runs as code: the same runs as those of the definition, up to one that may decide something."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import ClassVar

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.claims import MAY_END
from modelcheck.explicit.codegen.search.context import CURSOR, NOWHERE, ORDINAL, PARENT, WENT, Context
from modelcheck.explicit.codegen.search.runtime import Runtime, places
from modelcheck.explicit.codegen.search.steps import Steps
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.search.chance import FACTORS, SHIFTS, STEP

OUT_OF_FUEL, FINISHED, TO_LOOK_AT = range(3)  # why `sample` returned
ERROR_BIT = 1 << 63  # of what `found` returns


class SampleWords(ctypes.Structure):
    """The input of `sample`, and its progress.

    `key` is the mixed seed; `run` the number of the run, `last` that of the first not to make; `fuel`
    the states that may still be visited; `wanted` the bits of `found` that are of interest.  `steps`
    and `faults` are those of this run if it is `begun`.  `taken` and `cut` point to counters of all
    finished runs, `own` to those of this one by action, `weights` to the weight of each action,
    `ends` and `weighed` to room for where each action's successors end, and their weight by then.
    """

    key: int
    run: int
    last: int
    depth: int
    most_faults: int
    fuel: int
    wanted: int
    chance: int
    begun: int
    steps: int
    faults: int
    longest: int
    starts: int
    start_count: int
    state: int
    scratch: int
    taken: int
    cut: int
    own: int
    weights: int
    ends: int
    weighed: int
    _fields_ = tuple((name, ctypes.c_uint64) for name in __annotations__)


AT = places(SampleWords)


class SamplingSteps(Steps):
    """Writes an action's function with its steps in the order of the definition: NOTE(chance)."""

    in_order: ClassVar[bool] = True


class Sampling(Runtime):
    """Writes `sample`, which makes random runs, given the functions of actions in the order of the model."""

    def __init__(
        self, layout: PackedLayout, context: Context, steps: Sequence[Steps], probes: Sequence[Steps]
    ) -> None:
        super().__init__(layout, context)
        self._steps = steps
        self._probes = probes

    def functions(self) -> list[Function]:
        """The LLVM functions of random runs."""
        return [self._mixed(), self._sample()]

    def _mixed(self) -> Function:
        """Write `mixed`: a word with its bits mixed, as `modelcheck.search.chance` defines it."""
        fn = Function("mixed", [("i64", "word")], "i64", "alwaysinline nounwind")
        word = V(64, "%word")
        for shift, factor in zip(SHIFTS, FACTORS, strict=False):
            word = fn.mul(fn.xor(word, fn.lshr(word, i64(shift))), i64(factor))
        fn.end(f"ret {fn.xor(word, fn.lshr(word, i64(SHIFTS[-1])))}")
        return fn

    def _sample(self) -> Function:
        """Write `sample`: makes runs until they are made, fuel is spent, or one is to be looked at.

        A run is to be looked at where a state decides a property, where any possible step breaks
        one or is an error, and where there is no step though there should be; who looks makes
        the run again.
        """
        fn = Function("sample", [("ptr noalias", "ctx"), ("ptr noalias", "words")], "i64")
        run, begin, stay, ends = (fn.new(hint) for hint in ("run", "begin", "stay", "ends"))
        self._empty, self._look = fn.new("empty"), fn.new("look")
        state = fn.pointer(self._get(fn, "state"))
        fn.goto(run)
        fn.begin(run)
        fn.fork(fn.is_set(self._get(fn, "begun")), stay, begin)
        fn.begin(begin)
        with fn.local_values():
            self._begin(fn, state)
            fn.goto(stay)
        fn.begin(stay)
        fn.leave_if(fn.eq(self._get(fn, "steps"), self._get(fn, "depth")), ends)
        fn.leave_if(fn.is_zero(self._get(fn, "fuel")), self._empty)
        with fn.local_values():
            total = self._expand(fn, state)
            choose = fn.new("choose")
            fn.fork(fn.is_zero(total), ends, choose)
            fn.begin(choose)
            self._choose(fn, state, total)
            self._ask(fn, state)
            fn.goto(stay)
        fn.begin(ends)
        with fn.local_values():
            self._end(fn)
            fn.goto(run)
        fn.exit(self._empty, f"ret {i64(OUT_OF_FUEL)}")
        fn.exit(self._look, f"ret {i64(TO_LOOK_AT)}")
        return fn

    # ------------------------------------------------------------------- a run

    def _begin(self, fn: Function, state: str) -> None:
        """Emit the beginning of the next run, in a state drawn from the initial ones."""
        finished, more = fn.new("finished"), fn.new("more")
        number = self._get(fn, "run")
        fn.fork(fn.eq(number, self._get(fn, "last")), finished, more)
        fn.exit(finished, f"ret {i64(FINISHED)}")
        fn.begin(more)
        fn.leave_if(fn.is_zero(self._get(fn, "fuel")), self._empty)
        self._put(fn, "chance", fn.call(64, "mixed", fn.add(self._get(fn, "key"), number)))
        for name, value in (("begun", 1), ("steps", 0), ("faults", 0)):
            self._put(fn, name, i64(value))
        at = fn.mul(self._below(fn, self._get(fn, "start_count")), i64(self.words))
        self.move(fn, fn.at(fn.pointer(self._get(fn, "starts")), at), state)
        self._ask(fn, state)

    def _end(self, fn: Function) -> None:
        """Emit the end of a run in which there is nothing to look at: what it counted is added."""
        taken, own = fn.pointer(self._get(fn, "taken")), fn.pointer(self._get(fn, "own"))
        with fn.loop(i64(len(self._steps))) as index:
            fn.write(taken, fn.add(fn.read(taken, index), fn.read(own, index)), index)
            fn.write(own, i64(0), index)
        cut = fn.pointer(self._get(fn, "cut"))
        for number in range(2 * len(self.context.limits)):
            place = self.context.cut + number
            fn.write(cut, fn.add(fn.read(cut, number), fn.read("%ctx", place)), number)
            fn.write("%ctx", i64(0), place)
        steps, longest = self._get(fn, "steps"), self._get(fn, "longest")
        self._put(fn, "longest", fn.select(fn.below(longest, steps), steps, longest))
        self._put(fn, "begun", i64(0))
        self._add(fn, "run", 1)

    # ------------------------------------------------------------------ a step

    def _expand(self, fn: Function, state: str) -> V:
        """Emit listing the possible steps of a state; returns their weight."""
        start = self._get(fn, "scratch")
        for place, value in ((CURSOR, start), (ORDINAL, i64(0)), (PARENT, i64(0)), (WENT, i64(0))):
            fn.write("%ctx", value, place)
        weights, ends, weighed = (fn.pointer(self._get(fn, name)) for name in ("weights", "ends", "weighed"))
        may_fail = fn.below(self._get(fn, "faults"), self._get(fn, "most_faults"))
        total, before = fn.cell(64, i64(0)), fn.cell(64, start)
        for number, step in enumerate(self._steps):
            with fn.when(may_fail if step.action.is_fault else const(1, 1)):
                fn.leave_if(fn.call(1, step.name, "%ctx", state), self._look)
            now = fn.read("%ctx", CURSOR)
            count = fn.udiv(fn.sub(now, fn.load(before)), i64(8 * self.entry))
            fn.store(before, now)
            fn.store(total, fn.add(fn.load(total), fn.mul(count, fn.read(weights, number))))
            fn.write(ends, now, number)
            fn.write(weighed, fn.load(total), number)
        untouched = i64(NOWHERE)
        for place in self.context.finds:
            untouched = fn.and_(untouched, fn.read("%ctx", place))
        fn.leave_if(fn.ne(untouched, i64(NOWHERE)), self._look)
        if self.context.deadlock is not None:
            with fn.when(fn.is_zero(fn.read("%ctx", WENT))):
                self._ask_end(fn, state)
        return fn.load(total)

    def _ask_end(self, fn: Function, state: str) -> None:
        """Emit whether a run may end in a state without any step; else it is to be looked at."""
        goes_on = fn.new("goes_on")
        for probe in self._probes:
            fn.leave_if(fn.call(1, probe.name, "%ctx", state), goes_on)
        fn.leave_if(fn.is_set(fn.read("%ctx", WENT)), goes_on)
        if self.context.deadlock is not None and self.context.deadlock.expr is not None:
            fn.leave_if(fn.eq(fn.call(64, MAY_END, state), i64(1)), goes_on)
        fn.goto(self._look)
        fn.begin(goes_on)

    def _choose(self, fn: Function, state: str, total: V) -> None:
        """Emit taking one of the possible steps, drawn by weight."""
        drawn = self._below(fn, total)
        weights, ends, weighed = (fn.pointer(self._get(fn, name)) for name in ("weights", "ends", "weighed"))
        index = fn.cell(64, i64(0))
        look, on, found = fn.new("find"), fn.new("further"), fn.new("chosen")
        fn.goto(look)
        fn.begin(look)
        now = fn.load(index)
        fn.fork(fn.below(drawn, fn.read(weighed, now)), found, on)
        fn.begin(on)
        fn.store(index, fn.add(now, i64(1)))
        fn.goto(look)
        fn.begin(found)
        action = fn.load(index)
        first = fn.is_zero(action)
        before = fn.select(first, i64(0), fn.sub(action, i64(1)))
        weight = fn.select(first, i64(0), fn.read(weighed, before))
        start = fn.select(first, self._get(fn, "scratch"), fn.read(ends, before))
        place = fn.udiv(fn.sub(drawn, weight), fn.read(weights, action))
        entry = fn.pointer(fn.add(start, fn.mul(place, i64(8 * self.entry))))
        self.move(fn, entry, state)
        by_fault = fn.lshr(fn.read(entry, self.words), i64(WORD - 1))
        self._put(fn, "faults", fn.add(self._get(fn, "faults"), by_fault))
        own = fn.pointer(self._get(fn, "own"))
        fn.write(own, fn.add(fn.read(own, action), i64(1)), action)
        self._add(fn, "steps", 1)

    def _ask(self, fn: Function, state: str) -> None:
        """Emit counting a visit of a state, which is to be looked at if it decides a property."""
        self._add(fn, "fuel", -1)
        if self.context.of_states or self.context.of_runs:
            wanted = fn.or_(self._get(fn, "wanted"), i64(ERROR_BIT))
            fn.leave_if(fn.is_set(fn.and_(fn.call(64, "found", state), wanted)), self._look)

    # ------------------------------------------------------------------- words

    def _below(self, fn: Function, count: V) -> V:
        """Emit drawing a number below `count`: NOTE(chance)."""
        word = fn.add(self._get(fn, "chance"), i64(STEP))
        self._put(fn, "chance", word)
        drawn = fn.resize(fn.call(64, "mixed", word), 128)
        return fn.resize(fn.lshr(fn.mul(drawn, fn.resize(count, 128)), const(128, 64)), 64)

    def _get(self, fn: Function, name: str) -> V:
        """Emit reading one of the words."""
        return fn.read("%words", AT[name])

    def _put(self, fn: Function, name: str, value: V) -> None:
        """Emit writing one of the words."""
        fn.write("%words", value, AT[name])

    def _add(self, fn: Function, name: str, number: int) -> None:
        """Emit adding to one of the words."""
        self._put(fn, name, fn.add(self._get(fn, name), i64(number)))
