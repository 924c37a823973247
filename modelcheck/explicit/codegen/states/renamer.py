"""Values and states under a renaming of members, or with the values of a nat squeezed, as code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.in_use import values_in_use
from modelcheck.explicit.codegen.states.state import StateBits, offset_of
from modelcheck.explicit.codegen.values.conversion import CollectionCell
from modelcheck.explicit.codegen.values.members import (
    candidate,
    entry,
    inserted,
    length,
    member_at,
    with_length,
)
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    assembled,
    code,
    container,
    cut_out,
    known_zero,
    option_of,
    placed,
    some,
    split,
    tag_of,
    tagged,
    value,
)
from spec.frozen import frozen
from spec.model.ir import Model
from spec.model.values_in_use import has

SMALL_TABLE = 64  # bits: a table in a register


@frozen
class NewNames:
    """The new number of each member of a sort, and the address of the same numbers if they are in memory."""

    numbers: tuple[V, ...]
    table: str = ""


def rename_state(renamer: Renamer, model: Model, source: StateBits, target: StateBits) -> None:
    """Emit writing the variables of the renamed `source` that may change to `target`."""
    for index, variable in enumerate(model.variables):
        if renamer.concerns(variable.type):
            live = source.get(source.variable(index))
            target.put(target.variable(index), renamer.renamed(live, variable.type))


def squeeze(model: Model, state: StateBits, nat: str) -> None:
    """Give the values of a nat in a state their ranks: how many are in use up to each, 0 apart."""
    fn = state.fn
    in_use = fn.or_(values_in_use(model, state, nat), i64(1))
    above = fn.add(in_use, i64(1))
    with fn.when(fn.not_(fn.is_zero(fn.and_(in_use, above)))):
        rename_state(Renamer(fn, model, {}, (nat, in_use)), model, state, state)


@frozen
class Renamer:
    """How values change when the members of sorts are renamed, and the values of a nat squeezed.

    `in_use` is that nat, and a word with the bit of each of its values that is in use.
    """

    fn: Function
    model: Model
    renamings: Mapping[str, NewNames]
    in_use: tuple[str, V] | None = None

    def concerns(self, of: t.Type) -> bool:
        """Whether values of a type may change."""
        if self.in_use is not None and has(of, self.in_use[0]):
            return True
        return not self.renamings.keys().isdisjoint(t.sorts_in(of))

    def renamed(self, live: Live, of: t.Type) -> Live:
        """Emit the value with its members renamed."""
        if not self.concerns(of):
            return live
        packing = live.packing
        if self._is_known() and _has_table(of, packing):
            return self._by_table(live, of)
        return self._written(live, of)

    def _written(self, live: Live, of: t.Type) -> Live:
        """Emit the renamed value by instructions; for a constant it is a constant."""
        fn, packing = self.fn, live.packing
        match of, packing:
            case t.Sort(name), _:
                return Live(packing, self._member(name, live.v))
            case t.Nat(), _:
                return Live(packing, self._rank(live.v))
            case t.Option(inner), Optional(packed):
                there = fn.is_set(live.v)
                got = option_of(fn, self.renamed(some(fn, live, packed), inner))
                return Live(packing, fn.select(there, got.v, const(live.v.bits, 0)))
            case _, Product():
                return self._parts(live, t.parts(of))
            case t.Case(name), _:
                union = next(each for each in self.model.unions if each.name == name)
                return self.renamed(live, union)
            case t.Union(_, cases), TaggedUnion():
                return self._union(live, cases, packing)
            case t.Map(key, inner), Array():
                return self._map(live, key, inner, packing)
            case t.Seq(inner), Sequence():
                return self._sequence(live, inner, packing)
            case ((t.Set(inner) | t.Bag(inner)), (Mask() | Slots())):
                return self._members(live, inner)
            case _:
                raise TypeError(f"{packing} is no {of}")

    def _is_known(self) -> bool:
        return self.in_use is None and all(
            number.const is not None for each in self.renamings.values() for number in each.numbers
        )

    def _member(self, sort: str, number: V) -> V:
        """Emit the new number of a sort's member."""
        fn, names = self.fn, self.renamings[sort]
        if names.table:
            return fn.read(names.table, number)
        found = names.numbers[-1]
        for old, new in enumerate(names.numbers[:-1]):
            found = fn.select(fn.eq(number, i64(old)), new, found)
        return found

    def _rank(self, number: V) -> V:
        """How many values in use are below a number."""
        assert self.in_use is not None
        fn, (_, word) = self.fn, self.in_use
        below = fn.sub(fn.shl(i64(1), number), i64(1))
        return fn.popcount(fn.and_(word, below))

    def _by_table(self, live: Live, of: t.Type) -> Live:
        """Emit the renamed value by look-up in a 64-bit constant with the new code of each code."""
        fn, packing = self.fn, live.packing
        table = 0
        scratch = Renamer(Function("scratch", [], "void"), self.model, self.renamings)
        for number in range(packing.codes):
            known = value(scratch.fn, packing, i64(number))
            new = code(scratch.fn, scratch._written(known, of)).const
            if new is None:
                raise AssertionError(f"the renamed value of a known {of} is not known")
            table |= new << number * packing.width
        by = fn.mul(code(fn, live), i64(packing.width))
        found = fn.and_(fn.lshr(i64(table), by), i64((1 << packing.width) - 1))
        return value(fn, packing, found)

    def _parts(self, live: Live, types: Iterable[t.Type]) -> Live:
        """Emit the renamed record, tuple or case, part by part."""
        parts = [self.renamed(part, of) for part, of in zip(split(self.fn, live), types, strict=True)]
        assert isinstance(live.packing, Product)
        placed = zip(parts, live.packing.offsets, strict=True)
        return Live(live.packing, assembled(self.fn, live.packing.width, placed))

    def _union(self, live: Live, cases: tuple[t.Case, ...], packing: TaggedUnion) -> Live:
        """Emit the renamed value of a union."""
        fn = self.fn
        tag, found = tag_of(fn, live), live.v
        for ordinal, (case, part) in enumerate(zip(cases, packing.cases, strict=True)):
            if self.concerns(case):
                new = self._parts(cut_out(fn, live.v, 0, part), t.parts(case))
                whole = tagged(fn, packing, ordinal, new.v)
                found = fn.select(fn.eq(tag, i64(ordinal)), whole, found)
        return Live(packing, found)

    def _map(self, live: Live, key: t.Type, inner: t.Type, packing: Array) -> Live:
        """Emit the renamed map: its values renamed, and moved to their keys' new places."""
        fn, whole = self.fn, const(container(packing.width), 0)
        moves = self.renamings.get(key.name) if isinstance(key, t.Sort) else None
        for index, part in enumerate(split(fn, live)):
            item = code(fn, self.renamed(part, inner))
            behind = offset_of(fn, packing, i64(index) if moves is None else moves.numbers[index])
            whole = fn.or_(whole, fn.shl(fn.resize(item, whole.bits), fn.resize(behind, whole.bits)))
        return Live(packing, whole)

    def _sequence(self, live: Live, inner: t.Type, packing: Sequence) -> Live:
        """Emit the renamed sequence, entry by entry."""
        fn, count, size = self.fn, length(self.fn, live), live.v.bits
        entries = const(size, 0)
        for index in range(packing.most):
            new = placed(fn, self.renamed(entry(fn, live, i64(index)), inner), size, index * packing.of.width)
            there = fn.less(i64(index), count)
            entries = fn.or_(entries, fn.select(there, new, const(size, 0)))
        return with_length(fn, packing, entries, count)

    def _members(self, live: Live, inner: t.Type) -> Live:
        """Emit the renamed set or bag, member by member."""
        fn, packing = self.fn, live.packing
        assert isinstance(packing, Mask | Slots)
        if live.v.const is not None:  # for a table, in which everything has to be known
            found = known_zero(packing)
            for number in range(packing.most):
                there, member = candidate(fn, live, i64(number))
                found = inserted(fn, found, self.renamed(member, inner)) if there.const else found
            return found
        new = CollectionCell(fn, packing)
        for member in self._each(live):
            new.become(inserted(fn, new.value, self.renamed(member, inner)))
        return new.value

    def _each(self, live: Live) -> Iterator[Live]:
        """Emit a loop over the members of a set or bag."""
        fn, packing = self.fn, live.packing
        if isinstance(packing, Slots):
            with fn.loop(length(fn, live)) as index:
                yield entry(fn, live, index)
            return
        assert isinstance(packing, Mask)
        left = fn.cell(live.v.bits, live.v)
        with fn.loop(fn.popcount(live.v)):
            now = fn.load(left)
            fn.store(left, fn.and_(now, fn.sub(now, const(now.bits, 1))))
            yield member_at(fn, packing.of, fn.lowest(now))


def _has_table(of: t.Type, packing: Packing) -> bool:
    """Whether the table of the new codes of all codes fits 64 bits."""
    is_simple = isinstance(of, t.Sort | t.Option) or (isinstance(of, t.Set) and isinstance(packing, Mask))
    return is_simple and packing.width << packing.width <= SMALL_TABLE
