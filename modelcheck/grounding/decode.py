"""From values of the plain variables back to a state of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import spec.types as t
from modelcheck.grounding.shapes import Heap, Listed, Maybe, Parts, Row, Shape, Tagged
from modelcheck.grounding.terms import Sign, Term
from spec.ir import Value

Values = Sequence[int]


def decoded(of: t.Type, shape: Shape, values: Values) -> Value:
    """The value of a stored shape, where the plain variables have these values."""
    match of, shape:
        case t.Bool(), Term():
            return bool(stored_value(shape, values))
        case _, Term():
            return stored_value(shape, values)
        case t.Option(inner), Maybe(has, held):
            return decoded(inner, held, values) if held is not None and stored_value(has, values) else None
        case t.Record(_, fields), Parts(parts):
            return tuple(decoded(f.type, part, values) for f, part in zip(fields, parts, strict=True))
        case t.Tuple(items), Parts(parts):
            return tuple(decoded(item, part, values) for item, part in zip(items, parts, strict=True))
        case t.Map(_, inner), Parts(parts):
            return tuple(decoded(inner, part, values) for part in parts)
        case t.Union(_, cases), Tagged(tag, held_cases):
            case = stored_value(tag, values)
            pairs = zip(cases[case].fields, held_cases[case], strict=True)
            return (case, *(decoded(f.type, part, values) for f, part in pairs))
        case t.Seq(inner), Row(length, slots):
            return tuple(decoded(inner, slot, values) for slot in slots[: stored_value(length, values)])
        case t.Bag(), Heap(held_members):
            counts = {member: stored_value(term, values) for member, term in held_members.items()}
            return frozenset((member, count) for member, count in counts.items() if count)
        case ((t.Set(inner) | t.Bag(inner)), Listed(places)):
            there = [decoded(inner, item, values) for has, item in places if stored_value(has, values)]
            return frozenset(Counter(there).items() if isinstance(of, t.Bag) else there)
        case t.Set(), Heap(held_members):
            return frozenset(member for member, term in held_members.items() if stored_value(term, values))
        case _:
            raise AssertionError(f"a {of} in another shape")


def stored_value(term: Term, values: Values) -> int:
    """The value of a term; of a truth value, 1 or 0."""
    args = [stored_value(arg, values) for arg in term.args]
    match term.sign, args:
        case Sign.CONST, _:
            return term.lo
        case Sign.VAR, _:
            return int(values[term.value])
        case Sign.NOT, [a]:
            return 1 - a
        case Sign.EQ, [a, b]:
            return int(a == b)
        case Sign.ADD, [a, b]:
            return a + b
        case _:
            raise AssertionError(f"a stored value is no {term.sign}")
