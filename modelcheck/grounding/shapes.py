"""Values as shapes of terms: options, records, sequences and sets over flat variables.

A shape follows the type.  What does not count is zero: the slots of a sequence
beyond its end, so that equal sequences have equal slots.  The value of an
option that has none, and the fields of the cases that a union's value is not,
may be anything until they are stored, and are zero then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product, zip_longest
from math import prod
from typing import assert_never

import spec.ir as ir
import spec.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.terms import Sign, Term, Terms
from spec.frozen import frozen
from spec.values import ends, members

MOST_VALUES = 4096  # that a shape may have, before it is refused


@frozen(eq=False)
class Maybe:
    """An option; `value` is None where it is known to be none."""

    has: Term
    value: Shape | None


@frozen(eq=False)
class Parts:
    """A record, tuple or map."""

    parts: tuple[Shape, ...]


@frozen(eq=False)
class Tagged:
    """A value of a union: its case, and the fields of every case that it may be."""

    tag: Term
    cases: Mapping[int, tuple[Shape, ...]]


@frozen(eq=False)
class Row:
    """A sequence: its length and as many slots as it may have entries."""

    length: Term
    slots: tuple[Shape, ...]


@frozen(eq=False)
class Heap:
    """A set or bag: for each value that may be in it whether it is, or how often."""

    of: Mapping[ir.Value, Term]
    element: t.Type
    counts: bool = False


Item = tuple[Term, "Shape"]  # whether it is there, and what it is


@frozen(eq=False)
class Listed:
    """A set or bag that is small: places, each with whether it is taken and by what.

    No value of a set is there twice.  The places beyond `limit` are taken only where
    all the others are: then there is too much in it.  `fresh` has what was not yet
    seen to fit, and `puts` counts what was put in since it was stored.
    """

    places: tuple[Item, ...]
    element: t.Type
    counts: bool
    limit: int
    fresh: tuple[Item, ...] = ()
    puts: int = 0


Shape = Term | Maybe | Parts | Tagged | Row | Heap | Listed


class Shapes:
    """Builds, compares and merges shapes within a scope."""

    def __init__(self, terms: Terms, scope: ir.Scope) -> None:
        self.terms = terms
        self.scope = scope

    # -------------------------------------------------------------- from values

    def constant(self, of: t.Type, value: ir.Value) -> Shape:  # noqa: C901 - by type
        """The shape of a known value."""
        match of:
            case t.Option(inner):
                if value is None:
                    return Maybe(self.terms.false, None)
                return Maybe(self.terms.true, self.constant(inner, value))
            case t.Record(_, fields):
                return Parts(tuple(self.constant(f.type, v) for f, v in zip(fields, value, strict=True)))
            case t.Tuple(items):
                return Parts(tuple(map(self.constant, items, value)))
            case t.Map(_, inner):
                return Parts(tuple(self.constant(inner, each) for each in value))
            case t.Union(_, cases):
                return self._case(value, cases[value[0]])
            case t.Case():
                return self._case(value, of)
            case t.Seq(inner):
                return Row(self.terms.number(len(value)), tuple(self.constant(inner, v) for v in value))
            case t.Set(inner):
                return Heap(dict.fromkeys(value, self.terms.true), inner)
            case t.Bag(inner):
                return Heap({v: self.terms.number(n) for v, n in value}, inner, counts=True)
            case _ if value is None:
                return Maybe(self.terms.false, None)
            case _ if isinstance(value, bool):
                return self.terms.bool(is_true=value)
            case _:
                return self.terms.number(value)

    def _case(self, value: ir.Value, case: t.Case) -> Tagged:
        fields = tuple(self.constant(f.type, v) for f, v in zip(case.fields, value[1:], strict=True))
        return Tagged(self.terms.number(value[0]), {value[0]: fields})

    def nothing(self, of: t.Type) -> Shape:
        """Some shape of a type, where there is no value and none is needed."""
        match of:
            case t.Bool():
                return self.terms.false
            case t.Option():
                return Maybe(self.terms.false, None)
            case t.Record(_, fields):
                return Parts(tuple(self.nothing(f.type) for f in fields))
            case t.Tuple(items):
                return Parts(tuple(map(self.nothing, items)))
            case t.Map(key, inner):
                return Parts(tuple(self.nothing(inner) for _ in members(key, self.scope)))
            case t.Union(_, cases):
                return Tagged(self.terms.number(0), {0: tuple(self.nothing(f.type) for f in cases[0].fields)})
            case t.Seq():
                return Row(self.terms.number(0), ())
            case t.Set(inner):
                return Heap({}, inner)
            case t.Bag(inner):
                return Heap({}, inner, counts=True)
            case _:
                return self.terms.number(0)

    def domain(self, of: t.Type) -> Iterator[ir.Value]:  # noqa: C901 - by type
        """All values of a type without sequences, sets and bags in it."""
        match of:
            case t.Option(inner):
                yield None
                yield from self.domain(inner)
            case t.Record(_, fields):
                yield from product(*(list(self.domain(f.type)) for f in fields))
            case t.Tuple(items):
                yield from product(*(list(self.domain(item)) for item in items))
            case t.Union(_, cases):
                for tag, case in enumerate(cases):
                    for values in product(*(list(self.domain(f.type)) for f in case.fields)):
                        yield (tag, *values)
            case t.Map(key, inner):
                yield from product(*(list(self.domain(inner)) for _ in members(key, self.scope)))
            case t.Set(inner, None):
                every = list(self.domain(inner))
                for chosen in product((False, True), repeat=len(every)):
                    yield frozenset(v for v, has in zip(every, chosen, strict=True) if has)
            case t.Seq(inner, limit) if limit is not None:
                every = list(self.domain(inner))
                for length in range(self.limit(limit) + 1):
                    yield from product(every, repeat=length)
            case t.Bool() | t.Range() | t.Nat() | t.Enum() | t.Sort():
                yield from members(of, self.scope)
            case _:
                raise Inexpressible(f"a set whose members hold {of}")

    def limit(self, limit: t.Limit) -> int:
        """How many elements a limit allows."""
        return limit.of if isinstance(limit.of, int) else self.scope.limit(limit.of)

    def size(self, of: t.Type) -> int:
        """How many values a type has, without listing them."""
        match of:
            case t.Option(inner):
                return 1 + self.size(inner)
            case t.Record(_, fields) | t.Case(_, _, fields):
                return prod(self.size(f.type) for f in fields)
            case t.Tuple(items):
                return prod(map(self.size, items))
            case t.Union(_, cases):
                return sum(map(self.size, cases))
            case t.Map(key, inner):
                return prod(self.size(inner) for _ in members(key, self.scope))
            case t.Set(inner):
                return int(2 ** min(self.size(inner), 64))
            case t.Seq(inner, limit) if limit is not None:
                return int(sum(self.size(inner) ** n for n in range(self.limit(limit) + 1)))
            case t.Bool() | t.Range() | t.Nat() | t.Enum() | t.Sort():
                first, last = ends(of, self.scope)
                return last - first + 1
            case _:
                raise Inexpressible(f"a set whose members hold {of}")

    # ----------------------------------------------------------------- relations

    def possible(self, shape: Shape, of: t.Type) -> list[ir.Value]:
        """The values that a shape may have, as far as the bounds of its terms say; some are beyond its type.

        Raises Inexpressible, and soon, where they are more than MOST_VALUES.
        """
        if isinstance(of, t.Option) and not isinstance(shape, Maybe):
            of = of.of
        found = list(islice(self._possible(shape, of), MOST_VALUES + 1))
        if len(found) > MOST_VALUES:
            raise Inexpressible(f"a choice of more than {MOST_VALUES} values")
        return found

    def _possible(self, shape: Shape, of: t.Type) -> Iterator[ir.Value]:  # noqa: C901 - by shape
        match shape:
            case Term(truth=True):
                yield from (bool(n) for n in range(shape.lo, shape.hi + 1))
            case Term():
                yield from range(shape.lo, shape.hi + 1)
            case Maybe(has, value):
                if not has.constant:
                    yield None
                if value is not None and has.constant != 0:
                    yield from self.possible(value, of)
            case Parts(parts):
                yield from self._each_of(parts, _parts_of(of, len(parts)))
            case Tagged(tag, cases):
                for case, fields in cases.items():
                    if tag.lo <= case <= tag.hi:
                        own = of.cases[case] if isinstance(of, t.Union) else of
                        found = self._each_of(fields, _parts_of(own, len(fields)))
                        yield from ((case, *values) for values in found)
            case Row(length, slots):
                for count in range(max(0, length.lo), min(length.hi, len(slots)) + 1):
                    yield from self._each_of(slots[:count], _parts_of(of, count))
            case Heap(held, _, counts):
                how_often = [range(has.lo, has.hi + 1) for has in held.values()]
                for chosen in product(*how_often):
                    some = [(value, n) for value, n in zip(held, chosen, strict=True) if n]
                    yield frozenset(some if counts else (value for value, _ in some))
            case Listed():
                raise Inexpressible("a choice of sets that stand in places")
            case _:
                assert_never(shape)

    def _each_of(self, shapes: Sequence[Shape], types: Sequence[t.Type]) -> Iterator[tuple[ir.Value, ...]]:
        return product(*map(self.possible, shapes, types))

    def is_value(self, shape: Shape, of: t.Type, value: ir.Value) -> Term:
        """Whether a shape has that value."""
        return self.equal(shape, self.constant(of, value))

    def equal(self, a: Shape, b: Shape) -> Term:
        """Whether two shapes have the same value."""
        terms = self.terms
        match a, b:
            case Term(), Term():
                return terms.eq(a, b)
            case Maybe(), Maybe():
                if a.value is None or b.value is None:
                    return terms.both(terms.no(a.has), terms.no(b.has))
                same = terms.all((a.has, b.has, self.equal(a.value, b.value)))
                return terms.any((same, terms.both(terms.no(a.has), terms.no(b.has))))
            case Maybe(), _:
                return self.equal(a, Maybe(terms.true, b))
            case _, Maybe():
                return self.equal(Maybe(terms.true, a), b)
            case Parts(), Parts():
                return terms.all(map(self.equal, a.parts, b.parts))
            case Tagged(), Tagged():
                found = [terms.eq(a.tag, b.tag)]
                for case in sorted(a.cases.keys() & b.cases.keys()):
                    same = terms.all(map(self.equal, a.cases[case], b.cases[case]))
                    found.append(terms.implies(terms.eq(a.tag, terms.number(case)), same))
                return terms.all(found)
            case Row(), Row():
                pairs = zip(a.slots, b.slots, strict=False)
                return terms.all((terms.eq(a.length, b.length), *(self.equal(x, y) for x, y in pairs)))
            case ((Heap() | Listed()), (Heap() | Listed())):
                return self._same_members(a, b)
            case _:
                raise Inexpressible("a comparison of unlike values")

    def _same_members(self, a: Heap | Listed, b: Heap | Listed) -> Term:
        terms = self.terms
        match a, b:
            case (Listed(places), Heap(of)) | (Heap(of), Listed(places)) if not of:
                return terms.no(terms.any(has for has, _ in places))
            case _:
                pairs = self.pairs(self.heap(a), self.heap(b))
                return terms.all(terms.eq(a_, b_) for a_, b_ in pairs.values())

    def is_case(self, value: Shape, case: int) -> Term:
        """Whether a value of a union is of that case."""
        return self.terms.eq(tagged(value).tag, self.terms.number(case))

    def has(self, heap: Heap, value: ir.Value) -> Term:
        """Whether a value is in a set or bag."""
        found = heap.of.get(value)
        if found is None:
            return self.terms.false
        return self.terms.lt(self.terms.number(0), found) if heap.counts else found

    def count(self, of: Shape) -> Term:
        """How many members it has."""
        terms = self.terms
        match of:
            case Row(length, _):
                return length
            case Maybe(has, _):
                return terms.count(has)
            case Heap(held, _, counts):
                total = terms.number(0)
                for each in held.values():
                    total = terms.add(total, each if counts else terms.count(each))
                return total
            case Listed(places):
                total = terms.number(0)
                for has, _ in places:
                    total = terms.add(total, terms.count(has))
                return total
            case _:
                return terms.number(1)  # a bare value where an option is expected

    def pairs(self, a: Heap, b: Heap) -> dict[ir.Value, tuple[Term, Term]]:
        """For each value that may be in one or the other whether it is in each, or how often."""
        none = self.terms.number(0) if a.counts else self.terms.false
        return {v: (a.of.get(v, none), b.of.get(v, none)) for v in dict.fromkeys((*a.of, *b.of))}

    def less(self, a: Shape, b: Shape) -> Term:
        """Whether a comes before b: numbers, enums, truth values, and tuples of them."""
        terms = self.terms
        match a, b:
            case Term(), Term():
                return terms.lt(a, b)
            case Parts(), Parts():
                found = terms.false
                for x, y in reversed(list(zip(a.parts, b.parts, strict=True))):
                    found = terms.any((self.less(x, y), terms.both(self.equal(x, y), found)))
                return found
            case _:
                raise Inexpressible("an order of unlike values")

    # ------------------------------------------------------------------- merging

    def ite(self, test: Term, a: Shape, b: Shape) -> Shape:
        """A where the test is true, b elsewhere."""
        if a is b or test.constant is not None:
            return a if test.constant != 0 else b
        terms = self.terms
        match a, b:
            case Term(), Term():
                return terms.ite(test, a, b)
            case Maybe(), Maybe():
                has = terms.ite(test, a.has, b.has)
                if a.value is None or b.value is None:
                    return Maybe(has, a.value or b.value)
                return Maybe(has, self.ite(test, a.value, b.value))
            case Maybe(), _:
                return self.ite(test, a, Maybe(terms.true, b))
            case _, Maybe():
                return self.ite(test, Maybe(terms.true, a), b)
            case Parts(), Parts():
                return Parts(tuple(self.ite(test, x, y) for x, y in zip(a.parts, b.parts, strict=True)))
            case Tagged(), Tagged():
                cases = {**a.cases, **b.cases}
                for case in a.cases.keys() & b.cases.keys():
                    pairs = zip(a.cases[case], b.cases[case], strict=True)
                    cases[case] = tuple(self.ite(test, x, y) for x, y in pairs)
                return Tagged(terms.ite(test, a.tag, b.tag), cases)
            case Row(), Row():
                slots = tuple(self.ite(test, x, y) for x, y in self.aligned(a, b))
                return Row(terms.ite(test, a.length, b.length), slots)
            case ((Heap() | Listed()), (Heap() | Listed())):
                return self._either_set(test, a, b)
            case _:
                raise Inexpressible("a choice of unlike values")

    def _either_set(self, test: Term, a: Heap | Listed, b: Heap | Listed) -> Heap | Listed:
        match a, b:
            case Listed(), Listed():
                return self._either_listed(test, a, b)
            case Listed(), Heap(of) if not of:
                return self._either_listed(test, a, Listed((), a.element, a.counts, a.limit))
            case Heap(of), Listed() if not of:
                return self._either_listed(test, Listed((), b.element, b.counts, b.limit), b)
            case _:
                x, y = self.heap(a), self.heap(b)
                merged = {v: self.terms.ite(test, p, q) for v, (p, q) in self.pairs(x, y).items()}
                return Heap(merged, _wider(x.element, y.element), x.counts)

    def _either_listed(self, test: Term, a: Listed, b: Listed) -> Listed:
        """Place by place; where one does not have it, there is nothing."""
        terms = self.terms
        other = terms.no(test)
        places: list[Item] = []
        for x, y in zip_longest(a.places, b.places):
            if y is None:
                places.append((terms.both(test, x[0]), x[1]))
            elif x is None:
                places.append((terms.both(other, y[0]), y[1]))
            else:
                places.append((terms.ite(test, x[0], y[0]), self.ite(test, x[1], y[1])))
        fresh = [(terms.both(test, has), item) for has, item in a.fresh]
        fresh += [(terms.both(other, has), item) for has, item in b.fresh]
        element, puts = _wider(a.element, b.element), max(a.puts, b.puts)
        return Listed(tuple(places), element, a.counts, a.limit, tuple(fresh), puts)

    def heap(self, listed: Heap | Listed) -> Heap:
        """The same by all values that may be in it."""
        if isinstance(listed, Heap):
            return listed
        return self.gathered(listed.places, listed.element, counts=listed.counts)

    def gathered(self, items: Iterable[Item], of: t.Type, *, counts: bool = False) -> Heap:
        """The set, or bag, of what is there, beyond its type or not."""
        terms = self.terms
        made: dict[ir.Value, Term] = {}
        none = terms.number(0) if counts else terms.false
        for test, item in items:
            for value in self.possible(item, of):
                has = terms.both(test, self.is_value(item, of, value))
                if has.constant == 0:
                    continue
                before = made.get(value, none)
                made[value] = terms.add(before, terms.count(has)) if counts else terms.any((before, has))
        return Heap(made, of, counts)

    def by_value(self, items: Sequence[Item], of: t.Type) -> list[Item]:
        """Each small value that is there, once, with when it is; nothing where one is not small."""
        terms = self.terms
        tests: dict[ir.Value, list[Term]] = {}
        for has, item in items:
            if not isinstance(item, Term):
                return []
            for value in self.possible(item, of):
                same = terms.eq(item, number(self.constant(of, value)))
                tests.setdefault(value, []).append(terms.both(has, same))
        return [(terms.any(some), self.constant(of, value)) for value, some in tests.items()]

    def aligned(self, a: Row, b: Row) -> Iterator[tuple[Shape, Shape]]:
        """The slots of two rows side by side, zero where one has none."""
        for n in range(max(len(a.slots), len(b.slots))):
            x = a.slots[n] if n < len(a.slots) else self.zero(b.slots[n])
            yield x, b.slots[n] if n < len(b.slots) else self.zero(x)

    def zero(self, shape: Shape) -> Shape:
        """The same shape, all zero."""
        match shape:
            case Term(truth=truth):
                return self.terms.false if truth else self.terms.number(0)
            case Maybe(_, value):
                return Maybe(self.terms.false, None if value is None else self.zero(value))
            case Parts(parts):
                return Parts(tuple(map(self.zero, parts)))
            case Tagged(_, cases):
                zeros = {case: tuple(map(self.zero, fields)) for case, fields in cases.items()}
                return Tagged(self.terms.number(0), zeros)
            case Row(_, slots):
                return Row(self.terms.number(0), tuple(map(self.zero, slots)))
            case Heap(of, element, counts):
                none = self.terms.number(0) if counts else self.terms.false
                return Heap(dict.fromkeys(of, none), element, counts)
            case Listed(places):
                empty = tuple((self.terms.false, self.zero(item)) for _, item in places[: shape.limit])
                return Listed(empty, shape.element, shape.counts, shape.limit)

    def pick(self, index: Term, options: Sequence[Shape], first: int = 0) -> Shape:
        """The option at an index that counts from `first`; some option where the index is outside.

        Where the index is a choice among numbers, its tests choose the option: to ask of
        each number whether it is the index would ask them all again each time.
        """
        if index.sign is Sign.ADD and index.args[1].constant is not None:
            return self.pick(index.args[0], options, first - index.args[1].lo)
        named, rest = self.terms.cases(index)
        found = self._picked(rest, options, first)
        for test, n in reversed(named):
            if first <= n < first + len(options):
                found = self.ite(test, options[n - first], found)
        return found

    def _picked(self, index: Term, options: Sequence[Shape], first: int) -> Shape:
        """The option at an index, which is compared with each number that it may be."""
        live = [(n, o) for n, o in enumerate(options, first) if index.lo <= n <= index.hi]
        if not live:
            return options[0]
        found = live[-1][1]
        for n, option in reversed(live[:-1]):
            at = self.terms.number(n)
            test = self.terms.eq(index, at) if not index.truth else self.terms.no(index)
            found = self.ite(test, option, found)
        return found


def _wider(a: t.Type, b: t.Type) -> t.Type:
    return b if isinstance(a, t.UnknownType | t.Case) else a


def _parts_of(of: t.Type, count: int) -> Sequence[t.Type]:
    """The types of the parts of a value."""
    match of:
        case t.Record(_, fields) | t.Case(_, _, fields):
            return [field.type for field in fields]
        case t.Tuple(items):
            return items
        case t.Map(_, inner) | t.Seq(inner):
            return [inner] * count
        case _:
            raise Inexpressible(f"the parts of {of}")


def is_fixed(shape: Shape) -> bool:
    """Whether it always has the same value."""
    match shape:
        case Term():
            return shape.constant is not None
        case Maybe(has, value):
            return has.constant == 0 or (has.constant == 1 and value is not None and is_fixed(value))
        case Parts(parts):
            return all(map(is_fixed, parts))
        case Tagged(tag, cases):
            return tag.constant is not None and all(map(is_fixed, cases.get(tag.lo, ())))
        case Row(length, slots):
            return length.constant is not None and all(map(is_fixed, slots[: length.lo]))
        case Heap(held):
            return all(each.constant is not None for each in held.values())
        case Listed(places):
            return all(has.constant is not None and (not has.lo or is_fixed(item)) for has, item in places)


def known(shape: Shape) -> ir.Value:
    """The value that a shape always has, where it is fixed."""
    match shape:
        case Term(truth=truth, lo=value):
            return bool(value) if truth else value
        case Maybe(has, value):
            return known(value) if has.lo and value is not None else None
        case Parts(parts):
            return tuple(map(known, parts))
        case Tagged(tag, cases):
            return (tag.lo, *map(known, cases.get(tag.lo, ())))
        case Row(length, slots):
            return tuple(map(known, slots[: length.lo]))
        case Heap(held, _, counts):
            return frozenset((v, has.lo) if counts else v for v, has in held.items() if has.lo)
        case Listed(places, _, counts):
            there = [known(item) for has, item in places if has.lo]
            return frozenset(Counter(there).items() if counts else there)


def number(shape: Shape) -> Term:
    """A number or truth value; of an option the value that it is known to have."""
    match shape:
        case Term():
            return shape
        case Maybe(_, value) if value is not None:
            return number(value)  # the language knows that it is there
        case _:
            raise Inexpressible("a number that is none")


def tagged(shape: Shape) -> Tagged:
    """A value of a union; of an option the value that it is known to have."""
    match shape:
        case Tagged():
            return shape
        case Maybe(_, value) if value is not None:
            return tagged(value)
        case _:
            raise Inexpressible("a union that is none")
