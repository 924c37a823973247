"""The words of a state as code: reading a part of it, and putting another in its place."""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.explicit.codegen.values.packing import Array, Packing, Product
from modelcheck.explicit.codegen.values.values import Live, code, cut_out, value
from spec.frozen import frozen


@frozen
class BitPlace:
    """A part of a state: its packing, and the index of its lowest bit in the state."""

    packing: Packing
    offset: V


@frozen
class StateBits:
    """Access to the packed state in the words at a pointer, in the code of `fn`."""

    fn: Function
    layout: PackedLayout
    words: str

    def variable(self, index: int) -> BitPlace:
        """The place of a variable."""
        field = self.layout.variables[index]
        return BitPlace(field.packing, i64(field.offset))

    def counter(self, index: int) -> BitPlace:
        """The place of the counter of a kind of fault."""
        field = self.layout.counters[index]
        return BitPlace(field.packing, i64(field.offset))

    def part(self, whole: BitPlace, index: int) -> BitPlace:
        """The place of a field of a record, an item of a tuple or a value of a map."""
        assert isinstance(whole.packing, Product | Array)
        offset = self.fn.add(whole.offset, i64(whole.packing.offsets[index]))
        return BitPlace(whole.packing.parts[index], offset)

    def item(self, whole: BitPlace, index: V) -> BitPlace:
        """Emit the place of the value of a map at the key with this index."""
        assert isinstance(whole.packing, Array)
        return BitPlace(whole.packing.of, self.fn.add(whole.offset, offset_of(self.fn, whole.packing, index)))

    def get(self, place: BitPlace) -> Live:
        """Emit reading the value at a place."""
        fn, width = self.fn, place.packing.width
        if width == 0:
            return value(fn, place.packing, i64(0))
        first, shift, count = self._span(place)
        if width <= WORD and count > 1:
            low = fn.lshr(fn.read(self.words, first), shift)
            high = self._above(fn.shl, fn.read(self.words, self._next(first, 1)), shift)
            return cut_out(fn, fn.or_(low, high), 0, place.packing)
        whole = fn.resize(fn.read(self.words, first), WORD * count)
        for n in range(1, count):
            word = fn.resize(fn.read(self.words, self._next(first, n)), WORD * count)
            whole = fn.or_(whole, fn.shl(word, const(WORD * count, WORD * n)))
        return cut_out(fn, whole, shift, place.packing)

    def put(self, place: BitPlace, live: Live) -> None:
        """Emit writing a value, which has the packing of the place."""
        fn, width = self.fn, place.packing.width
        if width == 0:
            return
        first, shift, count = self._span(place)
        if width <= WORD and count > 1:
            ones, new = i64((1 << width) - 1), fn.resize(code(fn, live), WORD)
            self._fill(first, fn.shl(ones, shift), fn.shl(new, shift))
            above = self._above(fn.lshr, ones, shift), self._above(fn.lshr, new, shift)
            self._fill(self._next(first, 1), *above)
            return
        size = WORD * count
        by = fn.resize(shift, size)
        hole = fn.not_(fn.shl(const(size, (1 << width) - 1), by))
        filling = fn.shl(fn.resize(code(fn, live), size), by)
        for n in range(count):
            at = self._next(first, n)
            down = const(size, WORD * n)
            kept = fn.and_(fn.read(self.words, at), fn.resize(fn.lshr(hole, down), WORD))
            fn.write(self.words, fn.or_(kept, fn.resize(fn.lshr(filling, down), WORD)), at)

    def _fill(self, word: V, hole: V, filling: V) -> None:
        """Emit replacing the bits of a word that are set in `hole`."""
        kept = self.fn.and_(self.fn.read(self.words, word), self.fn.not_(hole))
        self.fn.write(self.words, self.fn.or_(kept, filling), word)

    def _above(self, shifted: Callable[[V, V], V], word: V, shift: V) -> V:
        """Emit a word shifted by 64 bits less `shift`, which is 64 for 0: what is beyond its end."""
        fn = self.fn
        if shift.const:
            return shifted(word, i64(WORD - shift.const))
        return shifted(shifted(word, i64(1)), fn.sub(i64(WORD - 1), shift))

    def all_words(self) -> list[V]:
        """Emit reading all words."""
        return [self.fn.read(self.words, n) for n in range(self.layout.words)]

    def copy_to(self, other: StateBits) -> None:
        """Emit copying this state over another."""
        for n in range(self.layout.words):
            self.fn.write(other.words, self.fn.read(self.words, n), n)

    def _span(self, place: BitPlace) -> tuple[V, V, int]:
        """The first word of a place, its bit offset in that word, and how many words it may touch."""
        fn, width = self.fn, place.packing.width
        if self.layout.words == 1:
            return i64(0), place.offset, 1
        first = fn.lshr(place.offset, i64(6))
        shift = fn.and_(place.offset, i64(63))
        if shift.const is not None:
            return first, shift, (shift.const + width + WORD - 1) // WORD
        return first, shift, (width + 63 + WORD - 1) // WORD

    def _next(self, first: V, n: int) -> V:
        """The index of the word `n` after the first, at most the last of the state."""
        if first.const is not None:
            return i64(first.const + n)
        at, last = self.fn.add(first, i64(n)), i64(self.layout.words - 1)
        return self.fn.select(self.fn.below(last, at), last, at)


def offset_of(fn: Function, array: Array, index: V) -> V:
    """Emit the bit offset in a map of the value for the key with this index."""
    return fn.mul(fn.sub(i64(array.count - 1), index), i64(array.of.width))
