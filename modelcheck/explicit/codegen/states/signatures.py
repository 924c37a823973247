"""Signatures of members as code: numbers that tell all that a state has about a member, and name no member.

They go with their member when it is renamed, so the members of a representative can be put in
their order.  Often they are enough: two members with equal signatures can then change places, and
nothing else changes (the sorted strategy of Bosnacki, Dams and Holenderski, "Symmetric Spin", 2002,
by all that there is about a member).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.fits import is_code
from modelcheck.explicit.codegen.states.layout import WORD
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.codes import code_at, decode, encode, place_of
from modelcheck.explicit.codegen.values.members import candidate, length
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Optional,
    Product,
    Slots,
    TaggedUnion,
    bits,
)
from modelcheck.explicit.codegen.values.packing import Sequence as Entries
from modelcheck.explicit.codegen.values.values import Live, code, cut_out, some, split, tag_of
from modelcheck.search.symmetry import exchanged, is_local, neighbours
from spec.frozen import frozen
from spec.model.ir import Model, Scope, Value
from spec.model.renaming import renamed

MIX = 0x9E3779B97F4A7C15  # odd, and of no pattern
MOST_PLACES = 256  # of a mask that signatures look at


@frozen
class Feature:
    """What a state tells about a member, in at most `width` bits; `exact` if it is no sum or count."""

    v: V
    width: int
    exact: bool = True


@frozen
class Signatures:
    """Writes the signatures of the members of sorts in a state."""

    fn: Function
    model: Model
    scope: Scope
    sorts: tuple[str, ...]

    def of(self, sort: str, state: StateBits) -> tuple[list[V], bool]:
        """Emit the signature of each member of a sort; and whether those with the same can change places."""
        size = len(self.scope.sorts[sort])
        parts = [self._of_member(sort, member, state) for member in range(size)]
        local = all(is_local(each.type, sort, self.sorts) for each in self.model.variables)
        is_exact = local and _fit(parts[0]) and all(each.exact for each in parts[0])
        return [self._word(each) for each in parts], is_exact

    def in_part(self, sort: str, state: StateBits) -> list[V]:
        """Emit the cheap part of each member's signature: its entries in maps whose values name no member."""
        keys = []
        for member in range(len(self.scope.sorts[sort])):
            parts = [*self._of_own(sort, member, state)]
            keys.append(self._word(parts))
        return keys

    def _of_own(self, sort: str, member: int, state: StateBits) -> Iterator[Feature]:
        """All of a member's entries in maps whose values name no member that may be renamed."""
        look = _Look(self, sort, member)
        for index, variable in enumerate(self.model.variables):
            of = variable.type
            if isinstance(of, t.Map) and of.key == t.Sort(sort) and self.names_none(of.value):
                yield from look.at(state.get(state.variable(index)), of, own=False)

    def names_none(self, of: t.Type) -> bool:
        """Whether values of a type name no member that may be renamed."""
        return set(self.sorts).isdisjoint(t.sorts_in(of))

    def _of_member(self, sort: str, member: int, state: StateBits) -> list[Feature]:
        """What the variables of a state tell about a member."""
        look = _Look(self, sort, member)
        return [
            each
            for index, variable in enumerate(self.model.variables)
            if sort in t.sorts_in(variable.type)
            for each in look.at(state.get(state.variable(index)), variable.type, own=False)
        ]

    def _word(self, parts: Sequence[Feature]) -> V:
        """Emit the parts in a word, or a hash of more."""
        return self._joined(parts) if _fit(parts) else self._mixed(parts)

    def _joined(self, parts: Sequence[Feature]) -> V:
        """Emit the parts one after the other in a word."""
        fn, found = self.fn, i64(0)
        for each in parts:
            found = fn.or_(fn.shl(found, i64(each.width)), each.v)
        return found

    def _mixed(self, parts: Sequence[Feature]) -> V:
        """Emit a hash of the parts."""
        fn, found = self.fn, i64(0)
        for each in parts:
            found = fn.mul(fn.xor(found, each.v), i64(MIX))
            found = fn.xor(found, fn.lshr(found, i64(29)))
        return found

    def summed(self, there: V, parts: Sequence[Feature]) -> V:
        """Emit a number for one of several things whose order does not count; 0 if it is not `there`."""
        mixed = self._mixed([*parts, Feature(i64(1), 1)])
        return self.fn.select(there, mixed, i64(0))


@frozen
class _Look:
    """What values tell about one member of a sort."""

    by: Signatures
    sort: str
    member: int

    def at(  # noqa: C901 - a dispatch over pairs
        self, live: Live, of: t.Type, *, own: bool
    ) -> Iterator[Feature]:
        """Emit what a value tells about the member; if it is its `own`, such as a map's entry, all of it."""
        fn, packing = self.by.fn, live.packing
        if self.sort not in t.sorts_in(of):
            if own and self.by.names_none(of):
                yield from self._whole(live)
            return
        match of, packing:
            case t.Sort(), _:
                yield Feature(fn.resize(fn.eq(live.v, i64(self.member)), WORD), 1)
            case t.Option(inner), Optional(packed):
                there = fn.is_set(live.v)
                yield Feature(fn.resize(there, WORD), 1)
                yield from self._if(there, self.at(some(fn, live, packed), inner, own=own))
            case _, Product():
                for part, inner in zip(split(fn, live), t.parts(of), strict=True):
                    yield from self.at(part, inner, own=own)
            case t.Case(name), TaggedUnion():
                union = next(each for each in self.by.model.unions if each.name == name)
                yield from self.at(live, union, own=own)
            case t.Union(_, cases), TaggedUnion():
                yield from self._case(live, cases, packing, own=own)
            case t.Map(key, inner), Array():
                yield from self._entries(live, key, inner, packing, own=own)
            case t.Seq(inner), Entries():
                yield from self._sequence(live, inner, packing, own=own)
            case ((t.Set(inner) | t.Bag(inner)), Mask()):
                yield from self._counts(live, inner, packing)
            case ((t.Set(inner) | t.Bag(inner)), Slots()):
                yield self._sum(live, inner, packing)
            case _:
                raise TypeError(f"{packing} is no {of}")

    def _whole(self, live: Live) -> Iterator[Feature]:
        """Emit all of a value."""
        fn, width = self.by.fn, live.packing.width
        whole = code(fn, live)
        for low in range(0, width, WORD):
            part = fn.resize(fn.lshr(whole, const(whole.bits, low)), WORD)
            yield Feature(part, min(WORD, width - low))

    def _if(self, there: V, parts: Iterator[Feature]) -> Iterator[Feature]:
        """Emit parts that say nothing unless a test is true."""
        for each in parts:
            yield Feature(self.by.fn.select(there, each.v, i64(0)), each.width, each.exact)

    def _case(
        self, live: Live, cases: tuple[t.Case, ...], packing: TaggedUnion, *, own: bool
    ) -> Iterator[Feature]:
        """Emit what the fields of a union's value say."""
        fn, tag = self.by.fn, tag_of(self.by.fn, live)
        if own:
            yield Feature(tag, bits(len(cases)))
        for ordinal, (case, part) in enumerate(zip(cases, packing.cases, strict=True)):
            fields = self.at(cut_out(fn, live.v, 0, part), case, own=own)
            yield from self._if(fn.eq(tag, i64(ordinal)), fields)

    def _entries(
        self, live: Live, key: t.Type, inner: t.Type, packing: Array, *, own: bool
    ) -> Iterator[Feature]:
        """Emit what the values of a map say: that of the member itself, or all."""
        fn = self.by.fn
        if key == t.Sort(self.sort):
            mine = cut_out(fn, live.v, packing.offsets[self.member], packing.of)
            yield from self.at(mine, inner, own=True)
        elif self.by.names_none(key):
            for item in split(fn, live):
                yield from self.at(item, inner, own=own)
        else:  # in the order of members of another sort, which is none
            found = i64(0)
            for item in split(fn, live):
                found = fn.add(found, self.by.summed(const(1, 1), [*self.at(item, inner, own=own)]))
            yield Feature(found, WORD, exact=False)

    def _sequence(self, live: Live, inner: t.Type, packing: Entries, *, own: bool) -> Iterator[Feature]:
        """Emit what each entry of a sequence says."""
        fn = self.by.fn
        if own:
            yield Feature(length(fn, live), bits(packing.most + 1))
        for index in range(packing.most):
            there, item = candidate(fn, live, i64(index))
            yield from self._if(there, self.at(item, inner, own=own))

    def _sum(self, live: Live, inner: t.Type, packing: Slots) -> Feature:
        """Emit one number for what all members of a set or bag say together."""
        fn, found = self.by.fn, self.by.fn.cell(WORD, i64(0))
        with fn.loop(i64(packing.most)) as index:
            there, item = candidate(fn, live, index)
            parts = [*self.at(item, inner, own=True)]
            fn.store(found, fn.add(fn.load(found), self.by.summed(there, parts)))
        return Feature(fn.load(found), WORD, exact=False)

    def _counts(self, live: Live, inner: t.Type, packing: Mask) -> Iterator[Feature]:
        """Emit for members of a set that tell the same about this member how many there are."""
        fn = self.by.fn
        if packing.width > MOST_PLACES:
            yield Feature(i64(0), 0, exact=False)
            return
        for places in _alike(self, inner, packing):
            mask = const(live.v.bits, sum(1 << place for place in places))
            if len(places) == 1:
                there = fn.lshr(fn.and_(live.v, mask), const(live.v.bits, places[0]))
                yield Feature(fn.resize(there, WORD), 1)
            else:
                yield Feature(fn.popcount(fn.and_(live.v, mask)), bits(len(places) + 1), exact=False)


def _fit(parts: Sequence[Feature]) -> bool:
    """Whether a word has room for all parts."""
    return sum(each.width for each in parts) <= WORD


def _alike(look: _Look, of: t.Type, packing: Mask) -> list[list[int]]:
    """The places of a mask, in groups that renamings of other members exchange; those alone that name one.

    The groups are those of the first member with the two exchanged, so they come in the same order for each.
    """
    scope, sort = look.by.scope, look.sort
    size = len(scope.sorts[sort])
    every = [
        decode(packing.of, code)
        for code in map(partial(code_at, packing.of), range(packing.width))
        if is_code(look.by.fn, packing.of, code)
    ]
    exchange = exchanged(size, 0, look.member)
    others = [(sort, (0, *(1 + n for n in swap))) for swap in neighbours(size - 1)]
    others += [(s, swap) for s in look.by.sorts if s != sort for swap in neighbours(len(scope.sorts[s]))]
    group = {each: number for number, each in enumerate(every)}
    changed = True
    while changed:
        changed = False
        for one in every:
            for name, swap in others:
                other = renamed(of, name, one, swap)
                if group[one] != group[other]:
                    group[one] = group[other] = min(group[one], group[other])
                    changed = True
    named = [one for one in every if _moves(of, sort, one, size)]
    found = []
    for _, alike in groupby(sorted(named, key=group.__getitem__), key=group.__getitem__):
        places = [place_of(packing.of, encode(packing.of, renamed(of, sort, one, exchange))) for one in alike]
        found.append(sorted(places))
    return found


def _moves(of: t.Type, sort: str, value: Value, size: int) -> bool:
    """Whether a value names the first member: exchanging it with another changes the value."""
    return any(renamed(of, sort, value, exchanged(size, 0, other)) != value for other in range(1, size))
