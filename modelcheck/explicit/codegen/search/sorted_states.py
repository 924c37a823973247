"""Arrays of packed states in the order of their values, as code: sort, merge, subtract, split into bytes.

The value of a state is that of its words as one number, the last word the highest.  The functions are
the same for all models whose states have as many words.
"""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.explicit.codegen.arithmetic import FALSE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.search.runtime import ENTRY_META, FAULT

BYTE = 8
DIGITS = 1 << BYTE  # of a number to that base, by which states are sorted
WRITTEN_OUT = 8  # words up to which a loop over them is written out
STATES = [("ptr", "states"), ("i64", "count")]
COUNT = V(64, "%count")

# The words of a frame of `merge_sorted`: both arrays and the room for the result, from here to there.
FROM, FROM_END, OTHER, OTHER_END, INTO, INTO_END = range(6)


class SortedStates:
    """Writes the LLVM functions on sorted arrays of states of `words` words."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.entry = words + ENTRY_META

    def functions(self) -> list[Function]:
        """All LLVM functions on sorted arrays."""
        return [
            self._sort(),
            self._merge(),
            self._subtract(),
            self._drop(),
            self._first_from(),
            self._split(),
            self._join(),
            self._with_meta(),
            self._without_meta(),
            self._seek(),
        ]

    # --------------------------------------------------------------------- order

    def _sort(self) -> Function:
        """Write `sort_by_value`: a radix sort; returns whether the result is in `other`.

        `counts` has room for as many words as there are digits, times the bytes of a state.
        """
        params = [("ptr", "states"), ("ptr", "other"), ("i64", "count"), ("ptr", "counts")]
        fn = Function("sort_by_value", params, "i64")
        size = BYTE * self.words
        with fn.loop(i64(size * DIGITS)) as place:
            fn.write("%counts", i64(0), place)
        with fn.loop(COUNT) as index:
            row = self._row(fn, "%states", index)

            def count(digit: V) -> None:
                value = fn.resize(fn.read(row, digit, BYTE), 64)
                place = fn.add(fn.mul(digit, i64(DIGITS)), value)
                fn.write("%counts", fn.add(fn.read("%counts", place), i64(1)), place)

            fn.rounds(size, count, written_out=self.words <= WRITTEN_OUT)
        source, target = fn.cell(64, fn.address("%states")), fn.cell(64, fn.address("%other"))
        is_other = fn.cell(64, i64(0))
        with fn.loop(i64(size)) as digit:
            now, then = fn.load(source), fn.load(target)
            own = fn.at("%counts", fn.mul(digit, i64(DIGITS)))
            first = fn.resize(fn.read(fn.pointer(now), digit, BYTE), 64)
            with fn.when(fn.ne(fn.read(own, first), COUNT)):  # else it is the same in all states
                self._deal(fn, fn.pointer(now), fn.pointer(then), own, digit)
                fn.store(source, then)
                fn.store(target, now)
                fn.store(is_other, fn.xor(fn.load(is_other), i64(1)))
        fn.end(f"ret {fn.load(is_other)}")
        return fn

    def _deal(self, fn: Function, source: str, target: str, own: str, digit: V) -> None:
        """Emit moving all states to `target`, in the order of one digit; `own` has how many have each."""
        before = fn.cell(64, i64(0))
        with fn.loop(i64(DIGITS)) as value:
            many, place = fn.read(own, value), fn.load(before)
            fn.write(own, place, value)
            fn.store(before, fn.add(place, many))
        with fn.loop(COUNT) as index:
            row = self._row(fn, source, index)
            value = fn.resize(fn.read(row, digit, BYTE), 64)
            place = fn.read(own, value)
            fn.write(own, fn.add(place, i64(1)), value)
            self._move(fn, row, self._row(fn, target, place))

    def _merge(self) -> Function:
        """Write `merge_sorted`: merges two arrays, equal states once, until one is empty or the room full."""
        fn = Function("merge_sorted", [("ptr noalias", "frame")], "void")
        one, other, into = (fn.cell(64, fn.read("%frame", place)) for place in (FROM, OTHER, INTO))
        ends = [fn.read("%frame", place) for place in (FROM_END, OTHER_END, INTO_END)]
        width = i64(BYTE * self.words)

        def is_more() -> V:
            cells = zip((one, other, into), ends, strict=True)
            tests = [fn.below(fn.load(cell), end) for cell, end in cells]
            return fn.and_(fn.and_(tests[0], tests[1]), tests[2])

        with fn.during(is_more):
            a, b, out = fn.load(one), fn.load(other), fn.load(into)
            left, right, target = fn.pointer(a), fn.pointer(b), fn.pointer(out)
            less, equal = self._below(fn, left, right), fn.is_zero(self._difference(fn, left, right))
            first = fn.or_(less, equal)
            source = fn.pointer(fn.select(first, a, b))
            self._move(fn, source, target)
            fn.store(one, fn.add(a, fn.select(first, width, i64(0))))
            fn.store(other, fn.add(b, fn.select(less, i64(0), width)))
            fn.store(into, fn.add(out, width))
        for place, cell in ((FROM, one), (OTHER, other), (INTO, into)):
            fn.write("%frame", fn.load(cell), place)
        fn.end("ret void")
        return fn

    def _subtract(self) -> Function:
        """Write `subtract`: sets the byte in `marks` of each state that is in another array too."""
        fn = Function(
            "subtract", [*STATES, ("ptr", "seen"), ("i64", "size"), ("ptr noalias", "marks")], "void"
        )
        at, other = fn.cell(64, i64(0)), fn.cell(64, i64(0))

        def is_more() -> V:
            return fn.and_(fn.less(fn.load(at), COUNT), fn.less(fn.load(other), V(64, "%size")))

        with fn.during(is_more):
            here, there = fn.load(at), fn.load(other)
            state, seen = self._row(fn, "%states", here), self._row(fn, "%seen", there)
            less, equal = self._below(fn, state, seen), fn.is_zero(self._difference(fn, state, seen))
            with fn.when(equal):  # else another thread may mark it meanwhile, for another array
                fn.write("%marks", const(BYTE, 1), here)
            fn.store(at, fn.add(here, fn.resize(fn.or_(less, equal), 64)))
            fn.store(other, fn.add(there, fn.resize(fn.not_(less), 64)))
        fn.end("ret void")
        return fn

    def _drop(self) -> Function:
        """Write `drop`: removes the states with a mark, and clears the marks; returns how many are left."""
        fn = Function("drop", [*STATES, ("ptr noalias", "marks")], "i64")
        many = fn.cell(64, i64(0))
        with fn.loop(COUNT) as index:
            place, mark = fn.load(many), fn.read("%marks", index, BYTE)
            self._move(fn, self._row(fn, "%states", index), self._row(fn, "%states", place))
            fn.store(many, fn.add(place, fn.select(fn.is_zero(mark), i64(1), i64(0))))
            fn.write("%marks", const(BYTE, 0), index)
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _first_from(self) -> Function:
        """Write `first_from`: the index of the first state that is not below `state`."""
        fn = Function("first_from", [*STATES, ("ptr", "state")], "i64")
        low, high = fn.cell(64, i64(0)), fn.cell(64, COUNT)
        with fn.during(lambda: fn.less(fn.load(low), fn.load(high))):
            middle = fn.lshr(fn.add(fn.load(low), fn.load(high)), i64(1))
            less = self._below(fn, self._row(fn, "%states", middle), "%state")
            fn.store(low, fn.select(less, fn.add(middle, i64(1)), fn.load(low)))
            fn.store(high, fn.select(less, fn.load(high), middle))
        fn.end(f"ret {fn.load(low)}")
        return fn

    # --------------------------------------------------------------------- bytes

    def _split(self) -> Function:
        """Write `split_bytes`: what differs from the state before, the lowest byte of all, then the next."""
        fn = Function("split_bytes", [*STATES, ("ptr noalias", "out")], "void")
        before = fn.array(self.words)
        self._each_word(lambda n: fn.write(before, i64(0), n))
        with fn.loop(COUNT) as index:
            row = self._row(fn, "%states", index)

            def split(n: int) -> None:
                word = fn.read(row, n)
                changed = fn.xor(word, fn.read(before, n))
                fn.write(before, word, n)
                for byte in range(BYTE):
                    place = fn.add(fn.mul(COUNT, i64(BYTE * n + byte)), index)
                    fn.write("%out", fn.resize(fn.lshr(changed, i64(BYTE * byte)), BYTE), place)

            self._each_word(split)
        fn.end("ret void")
        return fn

    def _join(self) -> Function:
        """Write `join_bytes`: the states that `split_bytes` has split."""
        fn = Function("join_bytes", [("ptr noalias", "bytes"), ("i64", "count"), ("ptr", "out")], "void")
        before = fn.array(self.words)
        self._each_word(lambda n: fn.write(before, i64(0), n))
        with fn.loop(COUNT) as index:
            row = self._row(fn, "%out", index)

            def join(n: int) -> None:
                word = fn.read(before, n)
                for byte in range(BYTE):
                    place = fn.add(fn.mul(COUNT, i64(BYTE * n + byte)), index)
                    value = fn.resize(fn.read("%bytes", place, BYTE), 64)
                    word = fn.xor(word, fn.shl(value, i64(BYTE * byte)))
                fn.write(before, word, n)
                fn.write(row, word, n)

            self._each_word(join)
        fn.end("ret void")
        return fn

    # ------------------------------------------------------------------- entries

    def _with_meta(self) -> Function:
        """Write `with_meta`: the states as successors of no state, by no fault."""
        fn = Function("with_meta", [*STATES, ("ptr noalias", "out")], "void")
        with fn.loop(COUNT) as index:
            entry = fn.at("%out", fn.mul(index, i64(self.entry)))
            self._move(fn, self._row(fn, "%states", index), entry)
            fn.write(entry, i64(0), self.words)
        fn.end("ret void")
        return fn

    def _without_meta(self) -> Function:
        """Write `without_meta`: the states of successors."""
        fn = Function("without_meta", [("ptr", "entries"), ("i64", "count"), ("ptr noalias", "out")], "void")
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            self._move(fn, entry, self._row(fn, "%out", index))
        fn.end("ret void")
        return fn

    def _seek(self) -> Function:
        """Write `seek`: the index of the first successor that is a state, by a fault or not; else -1."""
        params = [("ptr", "entries"), ("i64", "count"), ("ptr", "state"), ("i1", "by_fault")]
        fn = Function("seek", params, "i64")
        found, where = fn.new("found"), fn.cell(64, i64(-1))
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            is_same = fn.is_zero(self._difference(fn, entry, "%state"))
            by_fault = fn.is_set(fn.lshr(fn.read(entry, self.words), i64(FAULT)))
            fn.store(where, index)
            fn.leave_if(fn.and_(is_same, fn.eq(by_fault, V(1, "%by_fault"))), found)
        fn.store(where, i64(-1))
        fn.goto(found)
        fn.begin(found)
        fn.end(f"ret {fn.load(where)}")
        return fn

    # --------------------------------------------------------------------- states

    def _each_word(self, write: Callable[[int], object]) -> None:
        """Emit `write` for each word of a state."""
        for number in range(self.words):
            write(number)

    def _row(self, fn: Function, states: str, index: V) -> str:
        """Emit the address of a state."""
        return fn.at(states, fn.mul(index, i64(self.words)))

    def _move(self, fn: Function, source: str, to: str) -> None:
        """Emit copying a state."""
        words = [fn.read(source, n) for n in range(self.words)]
        for n, word in enumerate(words):
            fn.write(to, word, n)

    def _difference(self, fn: Function, one: str, other: str) -> V:
        """Emit a word that is 0 if two states are equal."""
        differs = i64(0)
        for n in range(self.words):
            differs = fn.or_(differs, fn.xor(fn.read(one, n), fn.read(other, n)))
        return differs

    def _below(self, fn: Function, one: str, other: str) -> V:
        """Emit whether a state is below another."""
        less: V = FALSE
        for n in range(self.words):
            a, b = fn.read(one, n), fn.read(other, n)
            less = fn.or_(fn.below(a, b), fn.and_(fn.eq(a, b), less))
        return less
