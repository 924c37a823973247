"""The layout of a state: flat variables, and the shapes on top of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.listed import in_places
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Shapes, Tagged
from modelcheck.grounding.terms import GroundTerm, Sign
from spec.frozen import frozen
from spec.model.values import ends, members

MOST_MEMBERS = 256  # of one set that is stored
MOST_NUMBERS = 65_536  # of one variable that a solver knows: each is a truth value there
MOST_PLACES = 8  # of a set that is stored in places
FEW_MEMBERS = 64  # that may be in a set, and are faster asked for one by one


@frozen
class FlatVariable:
    """A variable of the translated model: its name, and its greatest value, or None for a Boolean."""

    name: str
    most: int | None


class FlatLayout:
    """Builds the layout of a state: flat variables in order, and a shape over them for each variable."""

    def __init__(
        self, shapes: Shapes, named: Callable[[str], str], *, for_solver: bool = False, listed: bool = False
    ) -> None:
        self.flats: list[FlatVariable] = []
        self._shapes = shapes
        self._named = named
        self._for_solver = for_solver  # numbers below 0 too, by their distance from the least; no wide ones
        self._listed = listed  # whether small sets of many possible members are stored in places
        self.tells_members = False  # whether places came to be taken in the order that members have

    def variable(self, name: str, most: int | None) -> GroundTerm:
        """The term of a new variable; a constant if `most` is 0. Raises Inexpressible if it is too wide."""
        if most == 0:
            return self._shapes.terms.number(0)
        if self._for_solver and most is not None and most >= MOST_NUMBERS:
            raise Inexpressible(f"`{name}`, a number of {most + 1:,} values (more than {MOST_NUMBERS:,})")
        self.flats.append(FlatVariable(self._named(name), most))
        return self._shapes.terms.var(len(self.flats) - 1, most)

    def shape(self, of: t.Type, name: str) -> Shape:
        """The shape of a stored value of a type, over new variables whose names begin with `name`."""
        shapes, terms = self._shapes, self._shapes.terms
        match of:
            case t.Bool():
                return self.variable(name, None)
            case t.Range() | t.Nat() | t.Enum() | t.Sort():
                least, most = self._ends(of)
                return terms.add(self.variable(name, most - least), terms.number(least))
            case t.Option(t.Range() | t.Nat() | t.Enum() | t.Sort() as inner):
                least, most = self._ends(inner)
                coded = self.variable(name, 1 + most - least)
                has = terms.no(terms.eq(coded, terms.number(0)))
                return Maybe(has, terms.add(coded, terms.number(least - 1)))
            case t.Option(inner):
                return Maybe(self.variable(f"{name}_some", None), self.shape(inner, name))
            case t.Record() | t.Tuple() | t.Map():
                return Parts(self._parts(of, name))
            case t.Union(_, cases):
                tag = self.variable(f"{name}_case", len(cases) - 1)
                held = [self._parts(case, f"{name}_{case.name}") for case in cases]
                return Tagged(tag, dict(enumerate(held)))
            case t.Seq(inner, limit) if limit is not None:
                most = shapes.scope.most(limit)
                length = self.variable(f"{name}_len", most)
                return Row(length, tuple(self.shape(inner, f"{name}_{n}") for n in range(most)))
            case t.Set(inner, limit) | t.Bag(inner, limit):
                places = shapes.scope.most(limit) if self._listed and limit is not None else 0
                if 0 < places <= MOST_PLACES and shapes.size(inner) > FEW_MEMBERS:
                    return self._places(of, inner, places, name)
                return self._heap(of, inner, name)
            case _:
                raise Inexpressible(f"a variable of type {of}")

    def _parts(self, of: t.Type, name: str) -> tuple[Shape, ...]:
        """The shapes of the parts of a record, tuple, case or map, over new variables."""
        pairs = zip(self._words(of), self._shapes.parts_of(of), strict=True)
        return tuple(self.shape(part, f"{name}_{word}") for word, part in pairs)

    def _ends(self, of: t.Type) -> tuple[int, int]:
        """The least number stored (at most 0) and the greatest of a scalar type."""
        first, last = ends(of, self._shapes.scope)
        least = min(0, first)
        if least < 0 and not self._for_solver:
            raise Inexpressible(f"a variable that holds numbers below 0, of type {of}")
        return least, max(0, last)

    def _heap(self, of: t.Set | t.Bag, inner: t.Type, name: str) -> Heap:
        """The shape of a stored set or bag with a variable for each possible member."""
        shapes = self._shapes
        size = shapes.size(inner)
        if size > MOST_MEMBERS:
            raise Inexpressible(f"a {of} of {size} possible members (more than {MOST_MEMBERS})")
        most = None
        if isinstance(of, t.Bag):
            most = 1 if of.limit is None else shapes.scope.most(of.limit)
        every = list(shapes.domain(inner))
        words = self._words(inner) if t.is_scalar(inner) else map(str, range(len(every)))
        flats = [self.variable(f"{name}_{word}", most) for word in words]
        held = {v: (flat, shapes.constant(inner, v)) for v, flat in zip(every, flats, strict=True)}
        return Heap(held, counts=most is not None)

    def _places(self, of: t.Set | t.Bag, inner: t.Type, count: int, name: str) -> Listed:
        """The shape of a stored set or bag of `count` places, each empty or with a member."""
        places = tuple(
            (self.variable(f"{name}_{n}_there", None), self.shape(inner, f"{name}_{n}")) for n in range(count)
        )
        return Listed(places, isinstance(of, t.Bag), count)

    def _words(self, of: t.Type) -> Sequence[str]:
        """The names of the parts of a record, tuple, case or map, or of the values of a scalar type."""
        match of:
            case t.Record(_, fields) | t.Case(_, _, fields):
                return [field.name for field in fields]
            case t.Tuple(items):
                return list(map(str, range(len(items))))
            case t.Map(key):
                return self._words(key)
            case t.Sort(name):
                return self._shapes.scope.sorts[name]
            case t.Enum(_, names):
                return names
            case _:
                return [str(int(v)).replace("-", "minus") for v in members(of, self._shapes.scope)]

    def stores(self, to: Shape, value: Shape) -> Iterator[tuple[GroundTerm, GroundTerm]]:
        """The assignments that store a value: pairs of a flat variable and its new term."""
        for flat, becomes in self._stores(to, value, kept=False):
            if flat.constant is None:
                yield flat, becomes

    def _stores(self, to: Shape, value: Shape, *, kept: bool) -> Iterator[tuple[GroundTerm, GroundTerm]]:  # noqa: C901
        """The assignments for a value; variables of absent parts become 0, in places are `kept`."""
        terms, shapes = self._shapes.terms, self._shapes
        match to, value:
            case GroundTerm(sign=Sign.ADD), GroundTerm():
                yield to.args[0], terms.sub(value, to.args[1])
            case GroundTerm(), GroundTerm():
                yield to, value
            case Maybe(has, GroundTerm() as inner), _ if has.args:
                some, code = shapes.option(value), terms.number(0)
                if isinstance(some.value, GroundTerm):
                    code = terms.ite(some.has, terms.sub(some.value, inner.args[1]), code)
                yield has.args[0].args[0], code
            case Maybe(has, inner), _ if inner is not None:
                some = shapes.option(value)
                yield has, some.has
                yield from self._part_stored(inner, some.value, some.has, kept=kept)
            case Parts(), Parts():
                for x, y in zip(to.parts, value.parts, strict=True):
                    yield from self._stores(x, y, kept=kept)
            case Tagged(), Tagged():
                yield to.tag, value.tag
                for case, fields in to.cases.items():
                    test = shapes.is_case(value, case)
                    for field, own in zip_longest(fields, value.cases.get(case, ())):
                        yield from self._part_stored(field, own, test, kept=kept)
            case Row(), Row():
                yield to.length, value.length
                for slot, (_, becomes) in zip(to.slots, shapes.aligned(to, value), strict=False):
                    yield from self._stores(slot, becomes, kept=False)
            case Heap(), Heap():
                pairs = shapes.pairs(to, value)
                yield from ((flat, pairs[member][1]) for member, (flat, _) in to.of.items())
            case Listed(), (Listed() | Heap()):
                yield from self._places_stored(to, value)
            case _:
                raise Inexpressible("a value of another shape than its variable")

    def _part_stored(
        self, to: Shape, value: Shape | None, test: GroundTerm, *, kept: bool
    ) -> Iterator[tuple[GroundTerm, GroundTerm]]:
        """The assignments for a part that is present where `test` is true, and absent elsewhere.

        What is absent is zero, or with `kept` stays as it is; `value` of None is no new value.
        """
        shapes = self._shapes
        if not kept:
            held = shapes.zero(to) if value is None else value
            yield from self._stores(to, shapes.ite(test, held, shapes.zero(held)), kept=False)
        elif value is not None:
            yield from self._stores(to, value, kept=True)

    def _places_stored(self, to: Listed, value: Listed | Heap) -> Iterator[tuple[GroundTerm, GroundTerm]]:
        """The assignments for a set in places; members beyond the last place are dropped (a cut)."""
        if isinstance(value, Heap) or value.limit != to.limit:
            self.tells_members |= isinstance(value, Heap) and len(value.of) > 1
            value = in_places(self._shapes, to, value)
        for (has, item), (has_now, item_now) in zip(to.places, value.places, strict=False):
            yield has, has_now
            yield from self._stores(item, item_now, kept=True)
