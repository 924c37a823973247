"""Arrays of packed states in the order of their values, as code: sort, merge, subtract, split into bytes.

The value of a state is that of its words as one number, the last word the highest.  An array may have
tags next to it, a number for each state.  The functions are the same for all models whose states have
as many words.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.search.runtime import FAULT, StateWords

BYTE = 8
DIGITS = 1 << BYTE  # of a number to that base, by which states are sorted
TAG = 16  # bits
WRITTEN_OUT = 8  # words up to which a loop over them is written out
MOST_UNITS = DIGITS - 1  # that a byte can count
STATES = [("ptr", "states"), ("i64", "count")]
COUNT = V(64, "%count")

# The words of a frame of `merge_sorted`: both arrays and the room for the result, from here to there;
# and the tags of each for `merge_tagged`.
FROM, FROM_END, OTHER, OTHER_END, INTO, INTO_END, FROM_TAGS, OTHER_TAGS, INTO_TAGS = range(9)


def unit(words: int) -> int:
    """How many bytes of a split state are counted as one, a power of two: such that a byte can count them."""
    most = BYTE * words - 1
    found = 1
    while -(-most // found) > MOST_UNITS:
        found *= 2
    return found


class SortedStates(StateWords):
    """Writes the LLVM functions on sorted arrays of states of `words` words."""

    def functions(self) -> list[Function]:
        """All LLVM functions on sorted arrays."""
        return [
            self._sort(),
            self._merge("merge_sorted", tagged=False),
            self._merge("merge_tagged", tagged=True),
            self._subtract(),
            self._drop(),
            self._distinct(),
            self._pick(),
            self._first_from(),
            self._split(),
            self._join(),
            self._split_tags(),
            self._join_tags(),
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
            self.move(fn, row, self._row(fn, target, place))

    def _merge(self, name: str, *, tagged: bool) -> Function:
        """Write `merge_sorted` or `merge_tagged`: merges two arrays, equal states once.

        It ends when one of them is empty or the room full.
        """
        fn = Function(name, [("ptr noalias", "frame")], "void")
        places = [FROM, OTHER, INTO, *((FROM_TAGS, OTHER_TAGS, INTO_TAGS) if tagged else ())]
        one, other, into, *tags = cells = [fn.cell(64, fn.read("%frame", place)) for place in places]
        ends = [fn.read("%frame", place) for place in (FROM_END, OTHER_END, INTO_END)]
        width = i64(BYTE * self.words)

        def advance(cell: Register, now: V, by: V) -> None:
            fn.store(cell, fn.add(now, by))

        with fn.during(lambda: self._all_below(fn, (one, other, into), ends)):
            a, b, out = fn.load(one), fn.load(other), fn.load(into)
            left, right = (self._value(fn, fn.pointer(row)) for row in (a, b))
            less, first = fn.below(left, right), fn.up_to(left, right)
            self.move(fn, fn.pointer(fn.select(first, a, b)), fn.pointer(out))
            if tagged:
                own, others, made = (fn.load(cell) for cell in tags)
                tag = fn.read(fn.pointer(fn.select(first, own, others)), 0, TAG)
                fn.write(fn.pointer(made), tag)
                advance(tags[0], own, fn.select(first, i64(TAG // BYTE), i64(0)))
                advance(tags[1], others, fn.select(less, i64(0), i64(TAG // BYTE)))
                advance(tags[2], made, i64(TAG // BYTE))
            advance(one, a, fn.select(first, width, i64(0)))
            advance(other, b, fn.select(less, i64(0), width))
            advance(into, out, width)
        for place, cell in zip(places, cells, strict=True):
            fn.write("%frame", fn.load(cell), place)
        fn.end("ret void")
        return fn

    def _all_below(self, fn: Function, cells: Sequence[Register], ends: Sequence[V]) -> V:
        """Emit whether all cells are below their ends."""
        is_more: V = TRUE
        for cell, end in zip(cells, ends, strict=True):
            is_more = fn.and_(is_more, fn.below(fn.load(cell), end))
        return is_more

    def _subtract(self) -> Function:
        """Write `subtract`: sets the byte in `marks` of each state that is in another array too."""
        fn = Function(
            "subtract", [*STATES, ("ptr", "seen"), ("i64", "size"), ("ptr noalias", "marks")], "void"
        )
        other, size = fn.cell(64, i64(0)), V(64, "%size")

        def seen() -> V:
            return self._value(fn, self._row(fn, "%seen", fn.load(other)))

        done = fn.new("done")
        with fn.loop(COUNT) as index:
            state = self._value(fn, self._row(fn, "%states", index))
            look, skip, there = fn.new("look"), fn.new("skip"), fn.new("there")
            fn.goto(look)
            fn.begin(look)
            fn.leave_if(fn.up_to(size, fn.load(other)), done)
            now = seen()
            fn.fork(fn.below(now, state), skip, there)
            fn.begin(skip)
            fn.store(other, fn.add(fn.load(other), i64(1)))
            fn.goto(look)
            fn.begin(there)
            with fn.when(fn.eq(now, state)):  # else another thread may mark it meanwhile, for another array
                fn.write("%marks", const(BYTE, 1), index)
        fn.goto(done)
        fn.begin(done)
        fn.end("ret void")
        return fn

    def _drop(self) -> Function:
        """Write `drop`: removes the states with a mark, and clears the marks; returns how many are left."""
        fn = Function("drop", [*STATES, ("ptr noalias", "marks")], "i64")
        many = fn.cell(64, i64(0))
        with fn.loop(COUNT) as index:
            self._keep_if(fn, index, "%states", many, fn.is_zero(fn.read("%marks", index, BYTE)))
            fn.write("%marks", const(BYTE, 0), index)
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _distinct(self) -> Function:
        """Write `distinct`: removes the states that are as the one before; returns how many are left."""
        fn = Function("distinct", STATES, "i64")
        many = fn.cell(64, i64(0))
        with fn.loop(COUNT) as index:
            place = fn.load(many)
            state, last = self._row(fn, "%states", index), self._row(fn, "%states", fn.sub(place, i64(1)))
            first = fn.is_zero(place)
            before = self._value(fn, fn.pointer(fn.select(first, fn.address(state), fn.address(last))))
            self._keep_if(fn, index, "%states", many, fn.or_(first, fn.ne(before, self._value(fn, state))))
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _pick(self) -> Function:
        """Write `pick`: copies the states whose tag is from `low` to below `high`; returns how many."""
        params = [*STATES, ("ptr", "tags"), ("i64", "low"), ("i64", "high"), ("ptr noalias", "out")]
        fn = Function("pick", params, "i64")
        many = fn.cell(64, i64(0))
        width = fn.sub(V(64, "%high"), V(64, "%low"))
        with fn.loop(COUNT) as index:
            tag = fn.resize(fn.read("%tags", index, TAG), 64)
            self._keep_if(fn, index, "%out", many, fn.below(fn.sub(tag, V(64, "%low")), width))
        fn.end(f"ret {fn.load(many)}")
        return fn

    def _keep_if(self, fn: Function, index: V, into: str, many: Register, test: V) -> None:
        """Emit copying a state behind the `many` that an array keeps, where it stays if `test` is true."""
        place = fn.load(many)
        self.move(fn, self._row(fn, "%states", index), self._row(fn, into, place))
        fn.store(many, fn.add(place, fn.resize(test, 64)))

    def _first_from(self) -> Function:
        """Write `first_from`: the index of the first state that is not below `state`."""
        fn = Function("first_from", [*STATES, ("ptr", "state")], "i64")
        low, high = fn.cell(64, i64(0)), fn.cell(64, COUNT)
        state = self._value(fn, "%state")
        with fn.during(lambda: fn.less(fn.load(low), fn.load(high))):
            middle = fn.lshr(fn.add(fn.load(low), fn.load(high)), i64(1))
            less = fn.below(self._value(fn, self._row(fn, "%states", middle)), state)
            fn.store(low, fn.select(less, fn.add(middle, i64(1)), fn.load(low)))
            fn.store(high, fn.select(less, fn.load(high), middle))
        fn.end(f"ret {fn.load(low)}")
        return fn

    # --------------------------------------------------------------------- bytes

    def _split(self) -> Function:
        """Write `split_bytes`: states by what is not as in the state before; returns how many bytes.

        First how many bytes there are to the highest that differs, of each state, in units; then the lowest
        byte of each; then the others up to there, state by state; then room for reading whole words.
        """
        fn = Function("split_bytes", [*STATES, ("ptr noalias", "out")], "i64")
        before = [fn.cell(64, i64(0)) for _ in range(self.words)]
        lowest = fn.at("%out", COUNT, "i8")
        rest = fn.cell(64, fn.address(fn.at(lowest, COUNT, "i8")))
        with fn.loop(COUNT) as index:
            row, more = self._row(fn, "%states", index), i64(0)
            words = [fn.read(row, n) for n in range(self.words)]
            for n, (word, cell) in enumerate(zip(words, before, strict=True)):
                changed = fn.xor(word, fn.load(cell))
                highest = fn.add(fn.lshr(fn.highest(changed), i64(3)), i64(BYTE * n))
                more = fn.select(fn.is_set(changed), highest, more)
                fn.store(cell, word)
            units = fn.lshr(fn.add(more, i64(self._unit - 1)), self._shift)
            more = fn.shl(units, self._shift)
            fn.write("%out", fn.resize(units, BYTE), index)
            fn.write(lowest, fn.resize(words[0], BYTE), index)
            now = fn.load(rest)
            to = fn.pointer(now)
            fn.write(to, fn.lshr(words[0], i64(BYTE)), align=1)
            with fn.when(self._is_beyond_a_word(fn, more)):
                for n in range(1, self.words):
                    fn.write(self._further(fn, to, n), words[n], align=1)
            fn.store(rest, fn.add(now, more))
        end = fn.load(rest)
        for n in range(self.words):
            fn.write(fn.pointer(end), i64(0), n, align=1)
        size = fn.sub(end, fn.address("%out"))
        fn.end(f"ret {fn.add(size, i64(BYTE * self.words))}")
        return fn

    def _join(self) -> Function:
        """Write `join_bytes`: the states that `split_bytes` has split; returns whether it can be all."""
        params = [("ptr noalias", "bytes"), ("i64", "size"), ("i64", "count"), ("ptr noalias", "out")]
        fn = Function("join_bytes", params, "i1")
        whole = fn.cell(64, fn.add(fn.mul(COUNT, i64(2)), i64(BYTE * self.words)))
        with fn.loop(COUNT) as index:
            fn.store(whole, fn.add(fn.load(whole), self._counted(fn, index)))
        damaged = fn.new("damaged")
        fn.leave_if(fn.ne(fn.load(whole), V(64, "%size")), damaged)
        before = [fn.cell(64, i64(0)) for _ in range(self.words)]
        lowest = fn.at("%bytes", COUNT, "i8")
        rest = fn.cell(64, fn.address(fn.at(lowest, COUNT, "i8")))
        with fn.loop(COUNT) as index:
            more, now = self._counted(fn, index), fn.load(rest)
            source = fn.pointer(now)
            low = fn.resize(fn.read(lowest, index, BYTE), 64)
            first = fn.or_(fn.shl(fn.read(source, align=1), i64(BYTE)), low)
            self._change(fn, before[0], first, fn.add(more, i64(1)))
            with fn.when(self._is_beyond_a_word(fn, more)):
                for n in range(1, self.words):
                    word = fn.read(self._further(fn, source, n), align=1)
                    self._change(fn, before[n], word, fn.sub(more, i64(BYTE * n - 1)))
            row = self._row(fn, "%out", index)
            for n, cell in enumerate(before):
                fn.write(row, fn.load(cell), n)
            fn.store(rest, fn.add(now, more))
        fn.end("ret i1 1")
        fn.exit(damaged, "ret i1 0")
        return fn

    @property
    def _unit(self) -> int:
        """How many bytes are counted as one."""
        return unit(self.words)

    @property
    def _shift(self) -> V:
        """The bits by which a count of bytes is more than one of units."""
        return i64(self._unit.bit_length() - 1)

    def _counted(self, fn: Function, index: V) -> V:
        """Emit how many bytes of a split state there are, but the lowest."""
        return fn.shl(fn.resize(fn.read("%bytes", index, BYTE), 64), self._shift)

    def _is_beyond_a_word(self, fn: Function, more: V) -> V:
        """Emit whether a state differs from the one before in more than its lowest word."""
        return fn.less(i64(BYTE - 1), more) if self.words > 1 else FALSE

    def _further(self, fn: Function, rest: str, n: int) -> str:
        """Emit the address of a word but the lowest, of whose bytes one is elsewhere."""
        return fn.at(rest, BYTE * n - 1, "i8")

    def _change(self, fn: Function, cell: Register, word: V, count: V) -> None:
        """Emit setting the lowest `count` bytes of a cell to those of a word: all, or none below 1."""
        some = fn.mask(64, fn.shl(count, i64(3)))
        mask = fn.select(fn.less(i64(BYTE - 1), count), i64(-1), some)
        mask = fn.select(fn.less(i64(0), count), mask, i64(0))
        before = fn.load(cell)
        fn.store(cell, fn.xor(before, fn.and_(fn.xor(before, word), mask)))

    def _split_tags(self) -> Function:
        """Write `split_tags`: the lower bytes of how much tags grow, then the higher ones."""
        fn = Function("split_tags", [("ptr", "tags"), ("i64", "count"), ("ptr noalias", "out")], "void")
        before, high = fn.cell(TAG, const(TAG, 0)), fn.at("%out", COUNT, "i8")
        with fn.loop(COUNT) as index:
            tag = fn.read("%tags", index, TAG)
            grown = fn.sub(tag, fn.load(before))
            fn.store(before, tag)
            fn.write("%out", fn.resize(grown, BYTE), index)
            fn.write(high, fn.resize(fn.lshr(grown, const(TAG, BYTE)), BYTE), index)
        fn.end("ret void")
        return fn

    def _join_tags(self) -> Function:
        """Write `join_tags`: the tags that `split_tags` has split, each and `more`."""
        params = [("ptr noalias", "bytes"), ("i64", "count"), ("i16", "more"), ("ptr noalias", "out")]
        fn = Function("join_tags", params, "void")
        before, high = fn.cell(TAG, V(TAG, "%more")), fn.at("%bytes", COUNT, "i8")
        with fn.loop(COUNT) as index:
            lower, higher = (fn.resize(fn.read(at, index, BYTE), TAG) for at in ("%bytes", high))
            tag = fn.add(fn.load(before), fn.or_(fn.shl(higher, const(TAG, BYTE)), lower))
            fn.store(before, tag)
            fn.write("%out", tag, index)
        fn.end("ret void")
        return fn

    # ------------------------------------------------------------------- entries

    def _with_meta(self) -> Function:
        """Write `with_meta`: the states as successors of no state, by no fault."""
        fn = Function("with_meta", [*STATES, ("ptr noalias", "out")], "void")
        with fn.loop(COUNT) as index:
            entry = fn.at("%out", fn.mul(index, i64(self.entry)))
            self.move(fn, self._row(fn, "%states", index), entry)
            fn.write(entry, i64(0), self.words)
        fn.end("ret void")
        return fn

    def _without_meta(self) -> Function:
        """Write `without_meta`: the states of successors."""
        fn = Function("without_meta", [("ptr", "entries"), ("i64", "count"), ("ptr noalias", "out")], "void")
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            self.move(fn, entry, self._row(fn, "%out", index))
        fn.end("ret void")
        return fn

    def _seek(self) -> Function:
        """Write `seek`: the index of the first successor that is a state, by a fault or not; else -1."""
        params = [("ptr", "entries"), ("i64", "count"), ("ptr", "state"), ("i1", "by_fault")]
        fn = Function("seek", params, "i64")
        found, where = fn.new("found"), fn.cell(64, i64(-1))
        with fn.loop(COUNT) as index:
            entry = fn.at("%entries", fn.mul(index, i64(self.entry)))
            is_same = fn.is_zero(self.difference(fn, entry, "%state"))
            by_fault = fn.is_set(fn.lshr(fn.read(entry, self.words), i64(FAULT)))
            fn.store(where, index)
            fn.leave_if(fn.and_(is_same, fn.eq(by_fault, V(1, "%by_fault"))), found)
        fn.store(where, i64(-1))
        fn.goto(found)
        fn.begin(found)
        fn.end(f"ret {fn.load(where)}")
        return fn

    # --------------------------------------------------------------------- states

    def _row(self, fn: Function, states: str, index: V) -> str:
        """Emit the address of a state."""
        return fn.at(states, fn.mul(index, i64(self.words)))

    def _value(self, fn: Function, state: str) -> V:
        """Emit the value of a state."""
        return fn.read(state, 0, 64 * self.words, align=BYTE)
