"""The representative of a state's orbit as code: the least of its words over renamings of sorts.

Few renamings are written out, each a few shifts and small tables.  Where there are
many, members are first distinguished by signatures: numbers that describe a member
without naming any, so that they go with it when it is renamed.  Then
only the renamings that put the signatures in order are tried, which is one, but
for members with the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from math import factorial, prod

import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, InstructionBlock, V, const, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.states.in_use import values_in_use
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.states.state import StateBits, offset_of
from modelcheck.explicit.codegen.values.conversion import CollectionCell
from modelcheck.explicit.codegen.values.members import candidate, entry, inserted, length, with_length
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    TooWide,
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
from modelcheck.search.symmetry import MOST_RENAMINGS
from spec.frozen import frozen
from spec.model.ir import Model, Scope
from spec.model.values_in_use import has

WRITTEN_OUT = 6  # up to this many renamings are written out
MIX = 0x9E3779B97F4A7C15  # for signatures: odd, and of no pattern
SMALL_TABLE = 64  # bits: a table in a register

Renaming = tuple[V, ...]  # the new number of each member


def canonical(model: Model, scope: Scope, layout: PackedLayout, sorts: tuple[str, ...]) -> list[Function]:
    """`represent`: from one state's words to its representative's. Raises TooWide for too many renamings.

    Where a nat has no bound it squeezes the values of such nats, which no renaming of members changes, and
    calls `rename`, which is enough for a state in which they are squeezed.
    """
    if not scope.unbounded:
        return [_rename("represent", model, scope, layout, sorts)]
    return [_rename("rename", model, scope, layout, sorts), _squeeze_and_rename(model, scope, layout)]


def emitting(scope: Scope, sorts: tuple[str, ...]) -> dict[str, str | None]:
    """The functions that take a successor, each with that of its representative; None where it is itself.

    `emit_squeezed` is for steps that leave no gap between the values of nats without a bound.
    """
    if scope.unbounded:
        return {"emit": "represent", "emit_squeezed": "rename"}
    return {"emit": "represent" if sorts else None}


def _squeeze_and_rename(model: Model, scope: Scope, layout: PackedLayout) -> Function:
    """Write `represent` for a scope in which a nat has no bound."""
    fn = Function("represent", [("ptr noalias", "from"), ("ptr noalias", "to")], "void")
    own = fn.array(layout.words)
    state = StateBits(fn, layout, own)
    StateBits(fn, layout, "%from").copy_to(state)
    for nat in sorted(scope.unbounded):
        squeeze(model, state, nat)
    fn.emit(f"call void @rename(ptr {own}, ptr %to)")
    fn.end("ret void")
    return fn


def _rename(name: str, model: Model, scope: Scope, layout: PackedLayout, sorts: tuple[str, ...]) -> Function:
    """Write the function of this name that finds the least of a state's words over renamings of sorts."""
    fn = Function(name, [("ptr noalias", "from"), ("ptr noalias", "to")], "void")
    own, other = fn.array(layout.words), fn.array(layout.words)
    source, target = StateBits(fn, layout, own), StateBits(fn, layout, other)
    StateBits(fn, layout, "%from").copy_to(source)
    best = [fn.cell(64, fn.read(own, n)) for n in range(layout.words)]

    def attempt(renamings: dict[str, Renaming]) -> None:
        """Emit renaming the state, and keeping the result if it is less than the best so far."""
        source.copy_to(target)
        _rename_state(_Renamer(fn, model, renamings), model, source, target)
        _keep_less(fn, best, [fn.read(other, n) for n in range(layout.words)])

    sizes = {name: len(scope.sorts[name]) for name in sorts}
    renamings = prod(factorial(size) for size in sizes.values())
    if renamings > MOST_RENAMINGS:
        raise TooWide(f"more than {MOST_RENAMINGS:,} renamings of each state")
    if renamings <= WRITTEN_OUT:
        for each in _all_renamings(sizes):
            attempt(each)
    else:
        for cell in best:  # the state itself is one of those to be tried
            fn.store(cell, i64(-1))
        _try_ordering_renamings(fn, sizes, _signatures(fn, model, source, sizes), attempt)
    for n, cell in enumerate(best):
        fn.write("%to", fn.load(cell), n)
    fn.end("ret void")
    return fn


def _all_renamings(sizes: dict[str, int]) -> Iterator[dict[str, Renaming]]:
    """Every renaming of the members of the sorts but the identity."""
    first, *others = product(*(permutations(range(size)) for size in sizes.values()))
    assert all(list(each) == sorted(each) for each in first)
    for chosen in others:
        yield {name: tuple(map(i64, each)) for name, each in zip(sizes, chosen, strict=True)}


def _try_ordering_renamings(
    fn: Function,
    sizes: dict[str, int],
    signatures: dict[str, str],
    attempt: Callable[[dict[str, Renaming]], None],
) -> None:
    """Emit a loop that calls `attempt` for the renamings that sort the members' signatures."""
    every = list(product(*(permutations(range(size)) for size in sizes.values())))
    width = sum(sizes.values())
    table = fn.table([number for row in every for chosen in row for number in chosen])
    olds = fn.table([chosen.index(new) for row in every for chosen in row for new in range(len(chosen))])
    with fn.loop(i64(len(every))) as index:
        first, next_ = fn.mul(index, i64(width)), fn.new("next")
        with fn.local_values():
            renamings = {}
            at = 0
            for name, size in sizes.items():
                places = [fn.add(first, i64(place)) for place in range(at, at + size)]
                _leave_unless_ascending(fn, signatures[name], [fn.look_up(olds, p) for p in places], next_)
                renamings[name] = places
                at += size
            attempt({name: tuple(fn.look_up(table, p) for p in at) for name, at in renamings.items()})
            fn.goto(next_)
        fn.begin(next_)


def _leave_unless_ascending(fn: Function, words: str, places: list[V], to: InstructionBlock) -> None:
    """Emit a jump to `to` unless the words at these places are ascending."""
    before = fn.read(words, places[0])
    for place in places[1:]:
        now = fn.read(words, place)
        fn.leave_if(fn.below(now, before), to)
        before = now


def _signatures(fn: Function, model: Model, source: StateBits, sizes: dict[str, int]) -> dict[str, str]:
    """Emit the signatures of each sort's members; returns for each sort the pointer to them."""
    found = {}
    for name, size in sizes.items():
        found[name] = fn.array(size)
        for member in range(size):
            signature: V = i64(0)
            for index, variable in enumerate(model.variables):
                live = source.get(source.variable(index))
                for said in _signature_parts(fn, live, variable.type, name, member, set(sizes)):
                    signature = fn.mul(fn.xor(signature, said), i64(MIX))
                    signature = fn.xor(signature, fn.lshr(signature, i64(29)))
            fn.write(found[name], signature, member)
    return found


def _signature_parts(
    fn: Function, live: Live, of: t.Type, sort: str, member: int, sorts: set[str], *, own: bool = False
) -> Iterator[V]:
    """Emit the numbers a variable adds to a member's signature; none if they are not cheap to compute."""
    match of, live.packing:
        case t.Sort(name), _ if name == sort:
            yield fn.resize(fn.eq(live.v, i64(member)), 64)
        case t.Option(t.Sort(name)), Optional(packed) if name == sort:
            there = fn.is_set(live.v)
            is_it = fn.and_(there, fn.eq(some(fn, live, packed).v, i64(member)))
            yield fn.add(fn.resize(there, 64), fn.resize(is_it, 64))
        case t.Set(t.Sort(name)), Mask() if name == sort:
            bit = fn.resize(fn.lshr(live.v, const(live.v.bits, member)), 1)
            yield fn.add(fn.mul(fn.popcount(live.v), i64(2)), fn.resize(bit, 64))
        case t.Map(t.Sort(name), inner), Array(packed) if name == sort and not own:
            item = cut_out(fn, live.v, live.packing.offsets[member], packed)
            yield from _signature_parts(fn, item, inner, sort, member, sorts, own=True)
        case _ if own and not sorts & set(t.sorts_in(of)):
            whole = code(fn, live)
            for low in range(0, max(live.packing.width, 1), 64):
                yield fn.resize(fn.lshr(whole, const(whole.bits, low)), 64)
        case _:
            return


def _keep_less(fn: Function, best: list[Register], words: list[V]) -> None:
    """Emit replacing `best` by `words` if that state is less; the last word counts most."""
    less, same = FALSE, TRUE
    known = [fn.load(cell) for cell in best]
    for mine, theirs in reversed(list(zip(words, known, strict=True))):
        less = fn.or_(less, fn.and_(same, fn.below(mine, theirs)))
        same = fn.and_(same, fn.eq(mine, theirs))
    for cell, mine, theirs in zip(best, words, known, strict=True):
        fn.store(cell, fn.select(less, mine, theirs))


def _rename_state(renamer: _Renamer, model: Model, source: StateBits, target: StateBits) -> None:
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
        _rename_state(_Renamer(fn, model, {}, (nat, in_use)), model, state, state)


@frozen
class _Renamer:
    """How values change when the members of sorts are renamed, and the values of a nat squeezed.

    `in_use` is that nat, and a word with the bit of each of its values that is in use.
    """

    fn: Function
    model: Model
    renamings: dict[str, Renaming]
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
            number.const is not None for renaming in self.renamings.values() for number in renaming
        )

    def _member(self, sort: str, number: V) -> V:
        """Emit the new number of a sort's member."""
        fn, renaming = self.fn, self.renamings[sort]
        found = renaming[-1]
        for old, new in enumerate(renaming[:-1]):
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
        scratch = _Renamer(Function("scratch", [], "void"), self.model, self.renamings)
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
            behind = offset_of(fn, packing, i64(index) if moves is None else moves[index])
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

        def one(index: V) -> None:
            there, member = candidate(fn, live, index)
            with fn.when(there):
                new.become(inserted(fn, new.value, self.renamed(member, inner)))

        fn.rounds(packing.most, one, written_out=packing.most <= WRITTEN_OUT // 3)
        return new.value


def _has_table(of: t.Type, packing: Packing) -> bool:
    """Whether the table of the new codes of all codes fits 64 bits."""
    is_simple = isinstance(of, t.Sort | t.Option) or (isinstance(of, t.Set) and isinstance(packing, Mask))
    return is_simple and packing.width << packing.width <= SMALL_TABLE
