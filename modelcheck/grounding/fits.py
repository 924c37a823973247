"""Whether values fit where they go: ranges, limits and the scope."""

from __future__ import annotations

from dataclasses import dataclass, field

import spec.types as t
from modelcheck.grounding.environment import Env
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Shapes, Tagged
from modelcheck.grounding.terms import Term


@dataclass(slots=True)
class _Misfits:
    """When a part of a value is refused, and when one is beyond the scope."""

    errors: list[Term] = field(default_factory=list)
    cuts: list[Term] = field(default_factory=list)


def fit(shapes: Shapes, of: t.Type, value: Shape, env: Env) -> None:
    """Note when a value does not fit where it goes: an error if any part of it is one, else a cut."""
    terms, found = shapes.terms, _Misfits()
    _look(shapes, of, value, terms.true, found)
    env.error(terms, terms.any(found.errors))
    env.cut(terms, terms.any(found.cuts))


def _look(  # noqa: C901 - by type
    shapes: Shapes, of: t.Type, value: Shape, there: Term, found: _Misfits
) -> None:
    """Gather the misfits of a value, which is looked at only where it is `there`."""
    terms = shapes.terms

    def look(of: t.Type, value: Shape, has: Term | None = None) -> None:
        _look(shapes, of, value, there if has is None else terms.both(there, has), found)

    def add(into: list[Term], misfit: Term) -> None:
        into.append(terms.both(there, misfit))

    def size(limit: t.Limit | None, count: Term) -> None:
        if limit is not None:
            beyond(limit, terms.lt(terms.number(shapes.limit(limit)), count))

    def beyond(limit: t.Limit, misfit: Term) -> None:
        add(found.errors if isinstance(limit.of, int) else found.cuts, misfit)

    match of, value:
        case t.Option(inner), Maybe(has, held):
            if held is not None:
                look(inner, held, has)
        case t.Option(inner), _:
            look(inner, value)
        case _, Maybe(_, held) if held is not None:
            look(of, held)
        case t.Range(lo, hi), Term():
            outside = (terms.lt(value, terms.number(lo)), terms.lt(terms.number(hi), value))
            add(found.errors, terms.any(outside))
        case t.Nat(name), Term():
            add(found.errors, terms.lt(value, terms.number(0)))
            add(found.cuts, terms.lt(terms.number(shapes.scope.limit(name)), value))
        case t.Record(_, fields), Parts(parts):
            for f, part in zip(fields, parts, strict=True):
                look(f.type, part)
        case t.Tuple(items), Parts(parts):
            for item, part in zip(items, parts, strict=True):
                look(item, part)
        case t.Map(_, inner), Parts(parts):
            for part in parts:
                look(inner, part)
        case ((t.Union() | t.Case()), Tagged(_, cases)):
            for n, held_fields in cases.items():
                own = of.cases[n] if isinstance(of, t.Union) else of
                mine = shapes.is_case(value, n)
                for f, part in zip(own.fields, held_fields, strict=True):
                    look(f.type, part, mine)
        case t.Seq(inner, limit), Row(length, slots):
            size(limit, length)
            for n, slot in enumerate(slots):
                look(inner, slot, terms.lt(terms.number(n), length))
        case ((t.Set(inner, limit) | t.Bag(inner, limit)), Heap()):
            size(limit, shapes.count(value))
            for member in value.of:
                look(inner, shapes.constant(inner, member), shapes.has(value, member))
        case ((t.Set(inner, limit) | t.Bag(inner, limit)), Listed(places)):
            if limit is not None and shapes.limit(limit) == value.limit:
                beyond(limit, terms.any(has for has, _ in places[value.limit :]))
            else:
                size(limit, shapes.count(value))
            for has, new in value.fresh:
                look(inner, new, has)
        case _:
            pass
