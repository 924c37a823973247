"""Values as shapes of terms: options, records, sequences and sets over flat variables.

A shape follows the type.  What does not count is zero: the slots of a sequence
beyond its end, so that equal sequences have equal slots.  The value of an
option that has none, and the fields of the cases that a union's value is not,
may be anything until they are stored, and are zero then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product, zip_longest
from math import prod
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.terms import GroundTerm, Sign, Terms
from spec.frozen import frozen
from spec.model.values import ends, members

MOST_VALUES = 4096  # that a shape may have, before it is refused


@frozen(eq=False)
class Maybe:
    """An option; `value` is None where it is known to be none."""

    has: GroundTerm
    value: Shape | None


@frozen(eq=False)
class Parts:
    """The parts of a record or tuple, or the values of a map."""

    parts: tuple[Shape, ...]


@frozen(eq=False)
class Tagged:
    """A value of a union: its case, and the fields of every case that it may have."""

    tag: GroundTerm
    cases: Mapping[int, tuple[Shape, ...]]


@frozen(eq=False)
class Row:
    """A sequence: its length, and a slot for each entry that it may have."""

    length: GroundTerm
    slots: tuple[Shape, ...]


Item = tuple[GroundTerm, "Shape"]  # whether it is there, and what it is


@frozen(eq=False)
class Heap:
    """A set or bag: each value that may be a member, with the term of its presence or (bag) count."""

    of: Mapping[ir.Value, Item]
    counts: bool = False


@frozen(eq=False)
class Listed:
    """A small set or bag in places: each has the term that it is taken, and the shape of its member.

    No value of a set is there twice.  The places beyond `limit` are taken only where
    all the others are: then there is too much in it.  `fresh` has what was not yet
    seen to fit, and `puts` counts what was put in since it was stored.
    """

    places: tuple[Item, ...]
    counts: bool
    limit: int
    fresh: tuple[Item, ...] = ()
    puts: int = 0


Shape = GroundTerm | Maybe | Parts | Tagged | Row | Heap | Listed


class Shapes:
    """Builds, compares and merges shapes within a scope."""

    def __init__(self, terms: Terms, scope: ir.Scope) -> None:
        self.terms = terms
        self.scope = scope

    # --------------------------------------------------------------- from types

    def constant(self, of: t.Type, value: ir.Value) -> Shape:
        """The shape of a constant of a type."""
        terms = self.terms
        match of:
            case t.Option(inner) if value is not None:
                return Maybe(terms.true, self.constant(inner, value))
            case t.Record() | t.Tuple() | t.Map():
                return Parts(self._constants(of, value))
            case t.Union() | t.Case():
                case = of.cases[value[0]] if isinstance(of, t.Union) else of
                return Tagged(terms.number(value[0]), {value[0]: self._constants(case, value[1:])})
            case t.Seq(inner):
                return Row(terms.number(len(value)), tuple(self.constant(inner, v) for v in value))
            case t.Set(inner):
                return Heap({v: (terms.true, self.constant(inner, v)) for v in value})
            case t.Bag(inner):
                return Heap({v: (terms.number(n), self.constant(inner, v)) for v, n in value}, counts=True)
            case _ if value is None:
                return Maybe(terms.false, None)
            case _:
                return terms.bool(is_true=value) if isinstance(value, bool) else terms.number(value)

    def _constants(self, of: t.Type, values: Sequence[ir.Value]) -> tuple[Shape, ...]:
        """The shapes of the parts of a constant record, tuple, case or map."""
        return tuple(map(self.constant, self.parts_of(of), values))

    def nothing(self, of: t.Type) -> Shape:
        """An arbitrary shape of a type, as the value of an expression that is never evaluated."""
        match of:
            case t.Bool():
                return self.terms.false
            case t.Option():
                return Maybe(self.terms.false, None)
            case t.Record() | t.Tuple() | t.Map():
                return Parts(tuple(map(self.nothing, self.parts_of(of))))
            case t.Union(_, cases):
                return Tagged(self.terms.number(0), {0: tuple(map(self.nothing, t.parts(cases[0])))})
            case t.Seq():
                return Row(self.terms.number(0), ())
            case t.Set() | t.Bag():
                return Heap({}, isinstance(of, t.Bag))
            case _:
                return self.terms.number(0)

    def domain(self, of: t.Type) -> Iterator[ir.Value]:
        """All values of a type. Raises Inexpressible for one with unlimited sequences or sets in it."""
        match of:
            case t.Option(inner):
                yield None
                yield from self.domain(inner)
            case t.Record() | t.Tuple() | t.Map():
                yield from self._domains(self.parts_of(of))
            case t.Union(_, cases):
                for tag, case in enumerate(cases):
                    yield from ((tag, *values) for values in self._domains(t.parts(case)))
            case t.Set(inner, None):
                every = list(self.domain(inner))
                for chosen in product((False, True), repeat=len(every)):
                    yield frozenset(v for v, has in zip(every, chosen, strict=True) if has)
            case t.Seq(inner, limit) if limit is not None:
                for length in range(self.scope.most(limit) + 1):
                    yield from self._domains([inner] * length)
            case t.Bool() | t.Range() | t.Nat() | t.Enum() | t.Sort():
                yield from members(of, self.scope)
            case _:
                raise Inexpressible(f"a set whose members hold {of}")

    def _domains(self, types: Sequence[t.Type]) -> Iterator[tuple[ir.Value, ...]]:
        """All combinations of values of the types."""
        return product(*map(self.domain, types))

    def size(self, of: t.Type) -> int:
        """The number of values of a type, computed without listing them."""
        match of:
            case t.Option(inner):
                return 1 + self.size(inner)
            case t.Record() | t.Case() | t.Tuple() | t.Map():
                return prod(map(self.size, self.parts_of(of)))
            case t.Union(_, cases):
                return sum(map(self.size, cases))
            case t.Set(inner):
                return int(2 ** min(self.size(inner), 64))
            case t.Seq(inner, limit) if limit is not None:
                return int(sum(self.size(inner) ** n for n in range(self.scope.most(limit) + 1)))
            case t.Bool() | t.Range() | t.Nat() | t.Enum() | t.Sort():
                first, last = ends(of, self.scope)
                return last - first + 1
            case _:
                raise Inexpressible(f"a set whose members hold {of}")

    def parts_of(self, of: t.Type) -> Sequence[t.Type]:
        """The types of the parts of a record, tuple, case or map."""
        return [of.value] * len(members(of.key, self.scope)) if isinstance(of, t.Map) else t.parts(of)

    # ------------------------------------------------------------ what is inside

    def inside(self, shape: Shape) -> list[Item]:
        """The components of a value, each with the term of its presence."""
        terms = self.terms
        match shape:
            case Maybe(has, value) if value is not None:
                return [(has, value)]
            case Parts(parts):
                return [(terms.true, part) for part in parts]
            case Tagged(_, cases):
                return [(self.is_case(shape, n), field) for n, fields in cases.items() for field in fields]
            case Row(length, slots):
                return [(terms.lt(terms.number(n), length), slot) for n, slot in enumerate(slots)]
            case Heap(of, counts):
                return [(terms.some(has) if counts else has, item) for has, item in of.values()]
            case Listed(places):
                return list(places)
            case _:
                return []

    def is_fixed(self, shape: Shape) -> bool:
        """Whether the shape is a constant."""
        match shape:
            case (
                GroundTerm(constant=own) | Tagged(GroundTerm(constant=own)) | Row(GroundTerm(constant=own))
            ) if own is None:
                return False
            case Heap(of):
                return all(has.constant is not None for has, _ in of.values())
            case _:
                return all(
                    has.constant is not None and (not has.lo or self.is_fixed(item))
                    for has, item in self.inside(shape)
                )

    def possible(self, shape: Shape) -> list[Shape]:
        """The constants a shape may equal, by the bounds of its terms; some may be outside its type.

        Raises Inexpressible, and soon, where they are more than MOST_VALUES.
        """
        found = list(islice(self._possible(shape), MOST_VALUES + 1))
        if len(found) > MOST_VALUES:
            raise Inexpressible(f"a choice of more than {MOST_VALUES} values")
        return found

    def _possible(self, shape: Shape) -> Iterator[Shape]:  # noqa: C901 - by shape
        """The constants a shape may equal, by its kind."""
        match shape:
            case GroundTerm():
                yield from self._between(shape)
            case Maybe(has, value):
                if not has.constant:
                    yield Maybe(self.terms.false, None)
                if value is not None and has.constant != 0:
                    yield from (Maybe(self.terms.true, each) for each in self.possible(value))
            case Parts(parts):
                yield from map(Parts, self._each_of(parts))
            case Tagged(tag, cases):
                for number_ in self._between(tag):
                    if number_.lo in cases:
                        yield from (
                            Tagged(number_, {number_.lo: each}) for each in self._each_of(cases[number_.lo])
                        )
            case Row(length, slots):
                for count in range(max(0, length.lo), min(length.hi, len(slots)) + 1):
                    number_ = self.terms.number(count)
                    yield from (Row(number_, each) for each in self._each_of(slots[:count]))
            case Heap(of, counts):
                for chosen in product(*(self._between(has) for has, _ in of.values())):
                    some = zip(of, chosen, of.values(), strict=True)
                    yield Heap({v: (has, item) for v, has, (_, item) in some if has.lo}, counts)
            case Listed():
                raise Inexpressible("a choice of sets that are stored in places")
            case _:
                assert_never(shape)

    def _between(self, term: GroundTerm) -> Iterator[GroundTerm]:
        """The constants within the bounds of a term."""
        for n in range(term.lo, term.hi + 1):
            yield self.terms.bool(is_true=bool(n)) if term.truth else self.terms.number(n)

    def _each_of(self, shapes: Sequence[Shape]) -> Iterator[tuple[Shape, ...]]:
        """All combinations of the constants that the shapes may equal."""
        return product(*map(self.possible, shapes))

    # ----------------------------------------------------------------- relations

    def equal(self, a: Shape, b: Shape) -> GroundTerm:
        """The term of two shapes being equal."""
        terms = self.terms
        match a, b:
            case GroundTerm(), GroundTerm():
                return terms.eq(a, b)
            case (Maybe(), _) | (_, Maybe()):
                x, y = self.option(a), self.option(b)
                neither = terms.both(terms.no(x.has), terms.no(y.has))
                if x.value is None or y.value is None:
                    return neither
                return terms.any((terms.all((x.has, y.has, self.equal(x.value, y.value))), neither))
            case Parts(), Parts():
                return terms.all(map(self.equal, a.parts, b.parts))
            case Tagged(), Tagged():
                found = [terms.eq(a.tag, b.tag)]
                for case in sorted(a.cases.keys() & b.cases.keys()):
                    same = terms.all(map(self.equal, a.cases[case], b.cases[case]))
                    found.append(terms.implies(self.is_case(a, case), same))
                return terms.all(found)
            case Row(), Row():
                return terms.all((terms.eq(a.length, b.length), *map(self.equal, a.slots, b.slots)))
            case (Listed() as some, Heap(of)) | (Heap(of), Listed() as some) if not of:
                return terms.no(terms.any(has for has, _ in some.places))
            case ((Heap() | Listed()), (Heap() | Listed())):
                return terms.all(
                    terms.eq(x, y) for x, y, _ in self.pairs(self.heap(a), self.heap(b)).values()
                )
            case _:
                raise Inexpressible("a comparison of unlike values")

    def is_case(self, value: Shape, case: int) -> GroundTerm:
        """The term of a union's value having that case."""
        return self.terms.eq(tagged(value).tag, self.terms.number(case))

    def has(self, heap: Heap, value: ir.Value) -> GroundTerm:
        """The term of a constant being a member of a set or bag."""
        found, _ = heap.of.get(value, (self.terms.false, None))
        return self.terms.some(found)

    def is_in(self, value: Shape, whole: Shape) -> GroundTerm:
        """The term of a value being a component of another."""
        if isinstance(whole, Heap) and self.is_fixed(value):
            return self.has(whole, value_of(value))
        terms = self.terms
        return terms.any(terms.both(has, self.equal(value, item)) for has, item in self.inside(whole))

    def count(self, of: Shape) -> GroundTerm:
        """The number of members of a set or bag, entries of a sequence or values of an option."""
        terms = self.terms
        match of:
            case Row(length, _):
                return length
            case Heap(members_, counts) if counts:
                return terms.sum(has for has, _ in members_.values())
            case Maybe(has, _):
                return terms.count(has)
            case Heap() | Listed():
                return terms.sum(terms.count(has) for has, _ in self.inside(of))
            case _:
                return terms.number(1)  # a bare value where an option is expected

    def pairs(self, a: Heap, b: Heap) -> dict[ir.Value, tuple[GroundTerm, GroundTerm, Shape]]:
        """For each possible member of two sets or bags its presence, or count, in both, and its shape."""
        none = self.terms.number(0) if a.counts else self.terms.false
        return {
            v: (a.of[v][0] if v in a.of else none, b.of[v][0] if v in b.of else none, item)
            for v, (_, item) in {**a.of, **b.of}.items()
        }

    def less(self, a: Shape, b: Shape) -> GroundTerm:
        """The term of a < b for numbers, enums, Booleans and tuples of them."""
        terms = self.terms
        match a, b:
            case GroundTerm(), GroundTerm():
                return terms.lt(a, b)
            case Parts(), Parts():
                found = terms.false
                for x, y in reversed(list(zip(a.parts, b.parts, strict=True))):
                    found = terms.any((self.less(x, y), terms.both(self.equal(x, y), found)))
                return found
            case _:
                raise Inexpressible("an order of unlike values")

    # ------------------------------------------------------------------- merging

    def ite(self, test: GroundTerm, a: Shape, b: Shape) -> Shape:
        """The shape that equals `a` where `test` is true, else `b`."""
        if a is b or test.constant is not None:
            return a if test.constant != 0 else b
        terms = self.terms
        match a, b:
            case GroundTerm(), GroundTerm():
                return terms.ite(test, a, b)
            case (Maybe(), _) | (_, Maybe()):
                x, y = self.option(a), self.option(b)
                has = terms.ite(test, x.has, y.has)
                if x.value is None or y.value is None:
                    return Maybe(has, x.value or y.value)
                return Maybe(has, self.ite(test, x.value, y.value))
            case Parts(), Parts():
                return Parts(self._each_ite(test, a.parts, b.parts))
            case Tagged(), Tagged():
                both = {
                    n: self._each_ite(test, a.cases[n], b.cases[n]) for n in a.cases.keys() & b.cases.keys()
                }
                return Tagged(terms.ite(test, a.tag, b.tag), {**a.cases, **b.cases, **both})
            case Row(), Row():
                slots = tuple(self.ite(test, x, y) for x, y in self.aligned(a, b))
                return Row(terms.ite(test, a.length, b.length), slots)
            case ((Heap() | Listed()), (Heap() | Listed())):
                return self._either_set(test, a, b)
            case _:
                raise Inexpressible("a choice of unlike values")

    def _each_ite(self, test: GroundTerm, a: Sequence[Shape], b: Sequence[Shape]) -> tuple[Shape, ...]:
        """The shapes of the pairwise if-then-else."""
        return tuple(self.ite(test, x, y) for x, y in zip(a, b, strict=True))

    def _either_set(self, test: GroundTerm, a: Heap | Listed, b: Heap | Listed) -> Heap | Listed:
        """The set or bag `a` where `test` is true, else `b`."""
        match a, b:
            case Listed(), Listed():
                return self._either_listed(test, a, b)
            case Listed(), Heap(of) if not of:
                return self._either_listed(test, a, Listed((), a.counts, a.limit))
            case Heap(of), Listed() if not of:
                return self._either_listed(test, Listed((), b.counts, b.limit), b)
            case _:
                x, y = self.heap(a), self.heap(b)
                pairs = self.pairs(x, y).items()
                return Heap({v: (self.terms.ite(test, p, q), item) for v, (p, q, item) in pairs}, x.counts)

    def _either_listed(self, test: GroundTerm, a: Listed, b: Listed) -> Listed:
        """The set or bag in places `a` where `test` is true, else `b`, place by place."""
        terms = self.terms
        places: list[Item] = []
        for x, y in zip_longest(a.places, b.places):
            has, item = x or (terms.false, y[1])
            other, otherwise = y or (terms.false, item)
            places.append((terms.ite(test, has, other), self.ite(test, item, otherwise)))
        fresh = [(terms.both(test, has), item) for has, item in a.fresh]
        fresh += [(terms.both(terms.no(test), has), item) for has, item in b.fresh]
        return Listed(tuple(places), a.counts, a.limit, tuple(fresh), max(a.puts, b.puts))

    def option(self, shape: Shape) -> Maybe:
        """The shape as an option; a bare value is one that is present."""
        return shape if isinstance(shape, Maybe) else Maybe(self.terms.true, shape)

    def heap(self, of: Heap | Listed) -> Heap:
        """A set or bag as a Heap, whichever way it is kept."""
        return of if isinstance(of, Heap) else self.gathered(of.places, counts=of.counts)

    def gathered(self, items: Iterable[Item], *, counts: bool = False) -> Heap:
        """The set, or (`counts`) bag, of those items whose conditions are true."""
        terms = self.terms
        tests: dict[ir.Value, list[GroundTerm]] = {}
        values: dict[ir.Value, Shape] = {}
        for test, item in items:
            for each in self.possible(item):
                has = terms.both(test, self.equal(item, each))
                if has.constant != 0:
                    value = value_of(each)
                    tests.setdefault(value, []).append(has)
                    values[value] = each
        held = {
            v: terms.sum(map(terms.count, some)) if counts else terms.any(some) for v, some in tests.items()
        }
        return Heap({v: (has, values[v]) for v, has in held.items()}, counts)

    def by_value(self, items: Sequence[Item]) -> list[Item]:
        """The distinct constants the items may equal, with conditions; [] if some cannot be listed."""
        if not all(isinstance(item, GroundTerm) for _, item in items):
            return []
        return list(self.gathered(items).of.values())

    def aligned(self, a: Row, b: Row) -> Iterator[tuple[Shape, Shape]]:
        """The slots of two sequences in pairs, filled up with zeros to the same number."""
        for x, y in zip_longest(a.slots, b.slots):
            yield x or self.zero(y), y or self.zero(x)

    def zero(self, shape: Shape) -> Shape:
        """A shape of the same structure with every term zero."""
        match shape:
            case GroundTerm(truth=truth):
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
            case Heap(of):
                none = self.terms.number(0) if shape.counts else self.terms.false
                return replace(shape, of={v: (none, item) for v, (_, item) in of.items()})
            case Listed():
                return self.empty(shape)

    def empty(self, like: Listed) -> Listed:
        """An empty set or bag with places like those of `like`."""
        places = tuple((self.terms.false, self.zero(item)) for _, item in like.places[: like.limit])
        return Listed(places, like.counts, like.limit)

    def pick(self, index: GroundTerm, options: Sequence[Shape], first: int = 0) -> Shape:
        """The option at an index that counts from `first`; an arbitrary one if the index is outside.

        Where the index is a choice among numbers, its tests choose the option: to ask of
        each number whether it is the index would ask them all again each time.
        """
        if index.sign is Sign.ADD and index.args[1].constant is not None:
            return self.pick(index.args[0], options, first - index.args[1].lo)
        named, rest = self.terms.cases(index)
        live = [(n, o) for n, o in enumerate(options, first) if rest.lo <= n <= rest.hi]
        found = self.first_of([(self.terms.is_number(rest, n), o) for n, o in live]) if live else options[0]
        at = [(test, options[n - first]) for test, n in named if first <= n < first + len(options)]
        return self.first_of([*at, (self.terms.true, found)])

    def first_of(self, items: Sequence[Item]) -> Shape:
        """The first item whose condition is true; the last one if no other is."""
        found = items[-1][1]
        for has, item in reversed(items[:-1]):
            found = self.ite(has, item, found)
        return found


def value_of(shape: Shape, of: Callable[[GroundTerm], int] = lambda term: term.lo) -> ir.Value:
    """The value of a shape when `of` gives the values of its terms; by default that of a constant shape."""
    match shape:
        case GroundTerm(truth=truth):
            return bool(of(shape)) if truth else of(shape)
        case Maybe(has, value):
            return value_of(value, of) if value is not None and of(has) else None
        case Parts(parts):
            return tuple(value_of(part, of) for part in parts)
        case Tagged(tag, cases):
            case = of(tag)
            return (case, *(value_of(field, of) for field in cases.get(case, ())))
        case Row(length, slots):
            return tuple(value_of(slot, of) for slot in slots[: of(length)])
        case Heap(held, counts):
            often = {value: of(has) for value, (has, _) in held.items()}
            return frozenset((v, n) if counts else v for v, n in often.items() if n)
        case Listed(places, counts):
            there = [value_of(item, of) for has, item in places if of(has)]
            return frozenset(Counter(there).items() if counts else there)


def number(shape: Shape) -> GroundTerm:
    """The term of a number or Boolean, also of an option that is known to have one."""
    match shape:
        case GroundTerm():
            return shape
        case Maybe(_, value) if value is not None:
            return number(value)  # the language knows that it is there
        case _:
            raise Inexpressible("a number that is none")


def tagged(shape: Shape) -> Tagged:
    """The value of a union, also of an option that is known to have one."""
    match shape:
        case Tagged():
            return shape
        case Maybe(_, value) if value is not None:
            return tagged(value)
        case _:
            raise Inexpressible("a union that is none")
