"""Every way in which a value may stand in flat variables, with the values of these that make it so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pytest

from modelcheck.grounding import layout, shapes, terms
from modelcheck.grounding.term_values import decoded, term_value
from spec.model import types as t
from spec.model.ir import Value
from tests.spec.every_value import SCOPE, every_value

Flats = Mapping[int, int]  # the values of some flat variables


@dataclass(frozen=True, eq=False)
class Held:
    """A shape of some form, and the values that it may have, each with the flat variables that make it so."""

    form: str
    shape: shapes.Shape
    values: Sequence[tuple[Value, Flats]]

    @property
    def term(self) -> terms.GroundTerm:
        """Its term, where it is a number or a truth value."""
        return shapes.number(self.shape)


class Bench:
    """Where shapes are made: one after the other, on flat variables of their own."""

    def __init__(self) -> None:
        self.terms = terms.Terms()
        self.shapes = shapes.Shapes(self.terms, SCOPE)
        self.layout = layout.FlatLayout(self.shapes, str, for_solver=True, listed=True)

    def flats(self, *some: Flats) -> list[int]:
        """The values of all flat variables: those that are not said are 0."""
        found = [0] * len(self.layout.flats)
        for each in some:
            for flat, value in each.items():
                found[flat] = value
        return found

    def number(self, most: int) -> Held:
        """A number from 0 to `most`."""
        made = self.layout.variable("number", most)
        return Held("a variable", made, [(n, {made.value: n}) for n in range(most + 1)])

    def test(self) -> Held:
        """A truth value that may be false or true."""
        made = self.layout.variable("test", None)
        return Held("a test", made, [(bool(n), {made.value: n}) for n in range(2)])


def written(bench: Bench, of: t.Type) -> Iterator[Held]:
    """Each value as a constant."""
    for value in every_value(of):
        yield Held("written", bench.shapes.constant(of, value), [(value, {})])


def chosen(bench: Bench, of: t.Type) -> Iterator[Held]:
    """A choice among constants, whose shapes differ in what they have room for."""
    values = every_value(of)
    index = bench.number(len(values) - 1)
    options = [bench.shapes.constant(of, value) for value in values]
    yield Held(
        "chosen", bench.shapes.pick(index.term, options), [(values[n], flats) for n, flats in index.values]
    )


def stored(bench: Bench, of: t.Type) -> Iterator[Held]:
    """A variable of the model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "FEW_MEMBERS", 1 << 20)
        shape = bench.layout.shape(of, "stored")
    makes = [_storing(bench, shape, bench.shapes.constant(of, value)) for value in every_value(of)]
    yield Held("stored", shape, list(zip(every_value(of), makes, strict=True)))


def _storing(bench: Bench, shape: shapes.Shape, value: shapes.Shape) -> Flats:
    return {flat.value: term_value(term, ()) for flat, term in bench.layout.stores(shape, value)}


def in_places(bench: Bench, of: t.Type) -> Iterator[Held]:
    """A set or bag in places, taken in any order, and whatever stands where none is taken."""
    if not isinstance(of, t.Set | t.Bag) or of.limit is None:
        return
    first = len(bench.layout.flats)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "FEW_MEMBERS", 0)
        shape = bench.layout.shape(of, "placed")
    assert isinstance(shape, shapes.Listed)
    ranges = [range(2 if flat.most is None else flat.most + 1) for flat in bench.layout.flats[first:]]
    every = [dict(enumerate(each, first)) for each in product(*ranges)]
    found = [(decoded(shape, bench.flats(each)), each) for each in every if _is_kept(bench, shape, each)]
    yield Held("in places", shape, [(value, each) for value, each in found if value in every_value(of)])


def _is_kept(bench: Bench, shape: shapes.Listed, flats: Flats) -> bool:
    """Whether no member of a set is there twice."""
    values = bench.flats(flats)
    there = [decoded(item, values) for has, item in shape.places if term_value(has, values)]
    return shape.counts or len(there) == len({*there})


def every_held(bench: Bench, of: t.Type) -> list[Held]:
    """All values of a type, in every form that they may have."""
    return [held for form in (written, chosen, stored, in_places) for held in form(bench, of)]
