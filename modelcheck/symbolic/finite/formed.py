"""Which values of plain variables are a state: those that storing something can leave there.

A run from the start never leaves them; a proof that looks at any state needs it as an assumption.
"""

from __future__ import annotations

from collections.abc import Sequence

import spec.model.types as t
from modelcheck.grounding.layout import FlatLayout
from modelcheck.grounding.shapes import Heap, Maybe, Parts, Row, Shape, Shapes, Tagged
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.model.ir import Model, Scope
from spec.model.values import ends


def formed(model: Model, scope: Scope, stored: Sequence[Shape], terms: Terms) -> GroundTerm:
    """The term that flat variables encode a state: each shape has a value of its type, absent parts are 0."""
    one = _Formed(Shapes(terms, scope))
    return terms.all(one.of(v.type, shape) for v, shape in zip(model.variables, stored, strict=True))


class _Formed:
    """Builds the terms that shapes are well-formed."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes, self._terms = shapes, shapes.terms
        self._layout = FlatLayout(shapes, str)

    def of(self, of: t.Type, shape: Shape) -> GroundTerm:
        """The term that a shape has a value of a type."""
        terms = self._terms
        match of, shape:
            case t.Bool(), _:
                return terms.true
            case t.Option(inner), Maybe(has, GroundTerm() as value) if has.args:  # one variable, 0 for none
                return terms.implies(has, self.of(inner, value))
            case t.Option(inner), Maybe(has, value) if value is not None:
                return self._present_if(has, [(inner, value)])
            case t.Record(_, fields), Parts(parts):
                return terms.all(self.of(f.type, part) for f, part in zip(fields, parts, strict=True))
            case t.Tuple(items), Parts(parts):
                return terms.all(map(self.of, items, parts))
            case t.Map(_, inner), Parts(parts):
                return terms.all(self.of(inner, part) for part in parts)
            case t.Union(_, cases), Tagged(tag, held):
                return terms.all(
                    self._present_if(
                        terms.eq(tag, terms.number(n)),
                        [(f.type, field) for f, field in zip(case.fields, held[n], strict=True)],
                    )
                    for n, case in enumerate(cases)
                )
            case t.Seq(inner), Row(length, slots):
                return terms.all(
                    self._present_if(terms.lt(terms.number(n), length), [(inner, slot)])
                    for n, slot in enumerate(slots)
                )
            case ((t.Set(_, limit) | t.Bag(_, limit)), Heap()):
                if limit is None:
                    return terms.true
                return terms.le(self._shapes.count(shape), terms.number(self._shapes.scope.most(limit)))
            case _, GroundTerm():
                least, most = map(terms.number, ends(of, self._shapes.scope))
                return terms.both(terms.le(least, shape), terms.le(shape, most))
            case _:
                raise AssertionError(f"a {of} in another shape")

    def _present_if(self, test: GroundTerm, held: Sequence[tuple[t.Type, Shape]]) -> GroundTerm:
        """The term that parts have values of their types where `test` is true, and are zero elsewhere."""
        terms = self._terms
        values = terms.all(self.of(of, shape) for of, shape in held)
        zero = terms.all(
            terms.eq(flat, value)
            for _, shape in held
            for flat, value in self._layout.stores(shape, self._shapes.zero(shape))
        )
        return terms.both(terms.implies(test, values), terms.any((test, zero)))
