"""Where a state stands: flat variables, and the shapes on top of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import spec.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.listed import in_places
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Shapes, Tagged
from modelcheck.grounding.terms import Sign, Term
from spec.frozen import frozen
from spec.values import ends, members

MOST_MEMBERS = 256  # of one set that is stored
MOST_NUMBERS = 65_536  # of one variable that a solver is told of: each is a truth value there
MOST_PLACES = 8  # of a set that is stored in places
FEW_MEMBERS = 64  # that may be in a set, and are faster asked for one by one


@frozen
class FlatVariable:
    """A variable of the target: its name, and the greatest value, None for a truth value."""

    name: str
    most: int | None


class FlatLayout:
    """Where the state stands: the flat variables, in order, and the shapes made of them."""

    def __init__(
        self, shapes: Shapes, named: Callable[[str], str], *, for_solver: bool = False, listed: bool = False
    ) -> None:
        self.flats: list[FlatVariable] = []
        self._shapes = shapes
        self._named = named
        self._for_solver = for_solver  # numbers below 0 too, by their distance from the least; no wide ones
        self._listed = listed  # whether small sets of many possible members are stored in places
        self.tells_members = False  # whether places came to be taken in the order that members have

    def variable(self, name: str, most: int | None) -> Term:
        """A new variable; what can only be 0 needs none. Raises Inexpressible where it is too wide."""
        if most == 0:
            return self._shapes.terms.number(0)
        if self._for_solver and most is not None and most >= MOST_NUMBERS:
            raise Inexpressible(f"`{name}`, a number of {most + 1:,} values (more than {MOST_NUMBERS:,})")
        self.flats.append(FlatVariable(self._named(name), most))
        return self._shapes.terms.var(len(self.flats) - 1, most)

    def shape(self, of: t.Type, name: str) -> Shape:
        """The shape of a stored value, on new variables."""
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
            case t.Record(_, fields):
                return Parts(tuple(self.shape(f.type, f"{name}_{f.name}") for f in fields))
            case t.Tuple(items):
                return Parts(tuple(self.shape(item, f"{name}_{n}") for n, item in enumerate(items)))
            case t.Map(key, inner):
                return Parts(tuple(self.shape(inner, f"{name}_{k}") for k in self._keys(key)))
            case t.Union(_, cases):
                tag = self.variable(f"{name}_case", len(cases) - 1)
                held = {
                    n: tuple(self.shape(f.type, f"{name}_{case.name}_{f.name}") for f in case.fields)
                    for n, case in enumerate(cases)
                }
                return Tagged(tag, held)
            case t.Seq(inner, limit) if limit is not None:
                most = shapes.limit(limit)
                length = self.variable(f"{name}_len", most)
                return Row(length, tuple(self.shape(inner, f"{name}_{n}") for n in range(most)))
            case t.Set(inner, limit) | t.Bag(inner, limit):
                places = shapes.limit(limit) if self._listed and limit is not None else 0
                if 0 < places <= MOST_PLACES and shapes.size(inner) > FEW_MEMBERS:
                    return self._places(of, inner, places, name)
                return self._heap(of, inner, name)
            case _:
                raise Inexpressible(f"a variable of type {of}")

    def _ends(self, of: t.Type) -> tuple[int, int]:
        """The least number that is stored, 0 or below, and the greatest."""
        first, last = ends(of, self._shapes.scope)
        least = min(0, first)
        if least < 0 and not self._for_solver:
            raise Inexpressible(f"a variable that holds numbers below 0, of type {of}")
        return least, max(0, last)

    def _heap(self, of: t.Set | t.Bag, inner: t.Type, name: str) -> Heap:
        size = self._shapes.size(inner)
        if size > MOST_MEMBERS:
            raise Inexpressible(f"a {of} of {size} possible members (more than {MOST_MEMBERS})")
        most = None
        if isinstance(of, t.Bag):
            most = 1 if of.limit is None else self._shapes.limit(of.limit)
        every = list(self._shapes.domain(inner))
        words = self._keys(inner) if t.is_scalar(inner) else [str(n) for n in range(len(every))]
        made = {v: self.variable(f"{name}_{w}", most) for v, w in zip(every, words, strict=True)}
        return Heap(made, inner, counts=most is not None)

    def _places(self, of: t.Set | t.Bag, inner: t.Type, count: int, name: str) -> Listed:
        places = tuple(
            (self.variable(f"{name}_{n}_there", None), self.shape(inner, f"{name}_{n}")) for n in range(count)
        )
        return Listed(places, inner, isinstance(of, t.Bag), count)

    def _keys(self, key: t.Type) -> list[str]:
        match key:
            case t.Sort(name):
                return list(self._shapes.scope.sorts[name])
            case t.Enum(_, names):
                return list(names)
            case _:
                return [str(int(v)).replace("-", "minus") for v in members(key, self._shapes.scope)]

    def stores(self, to: Shape, value: Shape) -> Iterator[tuple[Term, Term]]:
        """The assignments that store a value: each flat variable of the stored shape with its new term."""
        for flat, becomes in self._stores(to, value):
            if flat.constant is None:
                yield flat, becomes

    def _stores(self, to: Shape, value: Shape) -> Iterator[tuple[Term, Term]]:  # noqa: C901 - by shape
        terms, shapes = self._shapes.terms, self._shapes
        match to, value:
            case Term(sign=Sign.ADD), Term():
                yield to.args[0], terms.sub(value, to.args[1])
            case Term(), Term():
                yield to, value
            case Maybe(has, Term() as inner), _ if has.args:
                some = value if isinstance(value, Maybe) else Maybe(terms.true, value)
                coded = has.args[0].args[0]
                if not isinstance(some.value, Term):
                    yield coded, terms.number(0)
                    return
                code = terms.sub(some.value, inner.args[1])
                yield coded, terms.ite(some.has, code, terms.number(0))
            case Maybe(has, inner), _ if inner is not None:
                some = value if isinstance(value, Maybe) else Maybe(terms.true, value)
                held = shapes.zero(inner) if some.value is None else some.value
                yield has, some.has
                yield from self._stores(inner, shapes.ite(some.has, held, shapes.zero(held)))
            case Parts(), Parts():
                for x, y in zip(to.parts, value.parts, strict=True):
                    yield from self._stores(x, y)
            case Tagged(), Tagged():
                yield to.tag, value.tag
                for case, fields in to.cases.items():
                    own = value.cases.get(case)
                    test = terms.eq(value.tag, terms.number(case))
                    for n, field in enumerate(fields):
                        held = shapes.zero(field) if own is None else own[n]
                        yield from self._stores(field, shapes.ite(test, held, shapes.zero(held)))
            case Row(), Row():
                yield to.length, value.length
                for n, slot in enumerate(to.slots):
                    yield from self._stores(
                        slot, value.slots[n] if n < len(value.slots) else shapes.zero(slot)
                    )
            case Heap(), Heap():
                none = terms.number(0) if to.counts else terms.false
                for member, flat in to.of.items():
                    yield flat, value.of.get(member, none)
            case Listed(), (Listed() | Heap()):
                yield from self._places_stored(to, value)
            case _:
                raise Inexpressible("a value of another shape than its variable")

    def _places_stored(self, to: Listed, value: Listed | Heap) -> Iterator[tuple[Term, Term]]:
        """What is beyond the places is in no step, for there it is too much."""
        if isinstance(value, Heap) or value.limit != to.limit:
            self.tells_members |= isinstance(value, Heap) and len(value.of) > 1
            value = in_places(self._shapes, to, value)
        for (has, item), (has_now, item_now) in zip(to.places, value.places, strict=False):
            yield has, has_now
            yield from self._held(item, item_now)

    def _held(self, to: Shape, value: Shape) -> Iterator[tuple[Term, Term]]:
        """As `_stores`, but what does not count stays as it was."""
        match to, value:
            case Maybe(has, Parts() | Tagged() as inner), Maybe(some, held) if held is not None:
                yield has, some
                yield from self._held(inner, held)
            case Parts(), Parts():
                for x, y in zip(to.parts, value.parts, strict=True):
                    yield from self._held(x, y)
            case Tagged(), Tagged():
                yield to.tag, value.tag
                for case, fields in value.cases.items():
                    for x, y in zip(to.cases[case], fields, strict=True):
                        yield from self._held(x, y)
            case _:
                yield from self._stores(to, value)
