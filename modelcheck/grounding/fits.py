"""Whether values fit where they go: ranges, limits and the scope."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import cycle

import spec.model.types as t
from modelcheck.grounding.environment import GroundEnv
from modelcheck.grounding.shapes import Listed, Maybe, Shape, Shapes, Tagged
from modelcheck.grounding.terms import GroundTerm


@dataclass(slots=True)
class _Misfits:
    """The conditions under which storing a value is an error, and those under which it leaves the scope."""

    errors: list[GroundTerm] = field(default_factory=list)
    cuts: list[GroundTerm] = field(default_factory=list)


def fit(shapes: Shapes, of: t.Type, value: Shape, env: GroundEnv) -> None:
    """Record when storing a value is an error (beyond its type), else a cut (beyond the scope)."""
    terms, found = shapes.terms, _Misfits()
    _collect(shapes, of, value, terms.true, found)
    env.error(terms, terms.any(found.errors))
    env.cut(terms, terms.any(found.cuts))


def _collect(shapes: Shapes, of: t.Type, value: Shape, there: GroundTerm, found: _Misfits) -> None:
    """Add to `found` the misfits of a value and its parts, under the condition `there`."""
    terms, scope = shapes.terms, shapes.scope

    def add(into: list[GroundTerm], misfit: GroundTerm) -> None:
        """Add a misfit, under the condition `there`."""
        into.append(terms.both(there, misfit))

    def beyond(limit: t.Limit, misfit: GroundTerm) -> None:
        """Add exceeding a size limit: an error for a number, a cut for a name whose value the scope gives."""
        add(found.errors if isinstance(limit.of, int) else found.cuts, misfit)

    match of, value:
        case t.Option(), Maybe():
            pass
        case t.Option(inner), _:
            return _collect(shapes, inner, value, there, found)
        case _, Maybe(_, held) if held is not None:
            return _collect(shapes, of, held, there, found)
        case t.Range(lo, hi), GroundTerm():
            outside = (terms.lt(value, terms.number(lo)), terms.lt(terms.number(hi), value))
            add(found.errors, terms.any(outside))
        case t.Nat(name), GroundTerm():
            add(found.errors, terms.lt(value, terms.number(0)))
            add(found.cuts, terms.lt(terms.number(scope.limit(name)), value))
        case ((t.Set(_, limit) | t.Bag(_, limit)), Listed()) if limit and scope.most(limit) == value.limit:
            beyond(limit, terms.any(has for has, _ in value.places[value.limit :]))
        case ((t.Seq(_, limit) | t.Set(_, limit) | t.Bag(_, limit)), _) if limit is not None:
            beyond(limit, terms.lt(terms.number(scope.most(limit)), shapes.count(value)))
    if isinstance(value, GroundTerm):
        return None
    inside = value.fresh if isinstance(value, Listed) else shapes.inside(value)
    for (has, part), own in zip(inside, _types_inside(of, value), strict=False):
        _collect(shapes, own, part, terms.both(there, has), found)
    return None


def _types_inside(of: t.Type, value: Shape) -> Iterable[t.Type]:
    """The types of the components of a value, parallel to `Shapes.inside`."""
    match of, value:
        case t.Union(_, cases), Tagged():
            return [part for case in value.cases for part in t.parts(cases[case])]
        case ((t.Record() | t.Tuple() | t.Case()), _):
            return t.parts(of)
        case _:
            return cycle(t.parts(of))
