"""Whether values fit where they go: ranges, limits and the scope."""

from __future__ import annotations

import spec.types as t
from modelcheck.grounding.environment import Env
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Shapes, Tagged
from modelcheck.grounding.terms import Term, Terms


def fit(shapes: Shapes, of: t.Type, value: Shape, env: Env) -> None:  # noqa: C901 - by type
    """Note when a value does not fit where it goes."""
    terms = shapes.terms
    match of, value:
        case t.Option(inner), Maybe(has, held):
            if held is not None:
                fit(shapes, inner, held, env.under(terms, has))
        case t.Option(inner), _:
            fit(shapes, inner, value, env)
        case _, Maybe(_, held) if held is not None:
            fit(shapes, of, held, env)
        case t.Range(lo, hi), Term():
            outside = (terms.lt(value, terms.number(lo)), terms.lt(terms.number(hi), value))
            env.error(terms, terms.any(outside))
        case t.Nat(name), Term():
            env.error(terms, terms.lt(value, terms.number(0)))
            env.cut(terms, terms.lt(terms.number(shapes.scope.limit(name)), value))
        case t.Record(_, fields), Parts(parts):
            for f, part in zip(fields, parts, strict=True):
                fit(shapes, f.type, part, env)
        case t.Tuple(items), Parts(parts):
            for item, part in zip(items, parts, strict=True):
                fit(shapes, item, part, env)
        case t.Map(_, inner), Parts(parts):
            for part in parts:
                fit(shapes, inner, part, env)
        case ((t.Union() | t.Case()), Tagged(_, cases)):
            for n, held_fields in cases.items():
                own = of.cases[n] if isinstance(of, t.Union) else of
                within = env.under(terms, shapes.is_case(value, n))
                for f, part in zip(own.fields, held_fields, strict=True):
                    fit(shapes, f.type, part, within)
        case t.Seq(inner, limit), Row(length, slots):
            _limit(shapes, limit, length, env)
            for n, slot in enumerate(slots):
                there = terms.lt(terms.number(n), length)
                fit(shapes, inner, slot, env.under(terms, there))
        case ((t.Set(inner, limit) | t.Bag(inner, limit)), Heap()):
            _limit(shapes, limit, shapes.count(value), env)
            for member in value.of:
                within = env.under(terms, shapes.has(value, member))
                fit(shapes, inner, shapes.constant(inner, member), within)
        case ((t.Set(inner, limit) | t.Bag(inner, limit)), Listed(places)):
            if limit is not None and shapes.limit(limit) == value.limit:
                _beyond(limit, terms.any(has for has, _ in places[value.limit :]), terms, env)
            else:
                _limit(shapes, limit, shapes.count(value), env)
            for has, new in value.fresh:
                fit(shapes, inner, new, env.under(terms, has))
        case _:
            pass


def _limit(shapes: Shapes, limit: t.Limit | None, size: Term, env: Env) -> None:
    if limit is not None:
        terms = shapes.terms
        _beyond(limit, terms.lt(terms.number(shapes.limit(limit)), size), terms, env)


def _beyond(limit: t.Limit, beyond: Term, terms: Terms, env: Env) -> None:
    if isinstance(limit.of, int):
        env.error(terms, beyond)
    else:
        env.cut(terms, beyond)
