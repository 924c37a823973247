"""From a solver's model of a small scope to a state: what to ask it for, and what its answer means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.shapes import Pointwise, SmtParts, SmtShape, SmtShapes
from modelcheck.symbolic.unbounded.sorts import Flat
from modelcheck.symbolic.unbounded.terms import SmtTerm, number
from modelcheck.symbolic.unbounded.theory import Small
from spec.frozen import frozen
from spec.model.values import members

MOST_ASKED = 8000  # values of one state
MOST_MEMBERS = 6  # of which all sets are looked at

Written = str | list["Written"]
Look = Callable[[SmtTerm, t.Type], ir.Value]


@frozen
class ModelReader:
    """Reads values from a solver's model of a small scope."""

    shapes: SmtShapes
    small: Small

    def asked(self, shape: SmtShape) -> list[SmtTerm]:
        """The terms whose values `value` may need from the solver."""
        found: dict[SmtTerm, None] = {}

        def look(term: SmtTerm, _: t.Type) -> ir.Value:
            found[term] = None
            if len(found) > MOST_ASKED:
                raise Inexpressible(f"more than {MOST_ASKED} values")
            return None

        self.value(shape, look)
        return [*found]

    def value(self, shape: SmtShape, look: Look) -> ir.Value:
        """The value of a shape; `look` gives the values of terms."""
        match shape:
            case Flat(term, of) if self._is_readable(of):
                return look(term, of)
            case Flat():
                return self._by_parts(shape, look)
            case Pointwise(at, t.Seq(_, limit), length):
                found, most = look(length, t.INT), self._most(limit)
                count = most if found is None else found
                return tuple([self.value(at(number(i)), look) for i in range(min(count, most))])
            case Pointwise(at, t.Map(key)):
                return tuple([self.value(at(term), look) for _, term in self.domain(key)])
            case Pointwise(at, t.Set(inner) | t.Bag(inner)):
                said = [(value, self.value(at(term), look)) for value, term in self.domain(inner)]
                is_set = isinstance(shape.type, t.Set)
                return frozenset(value if is_set else (value, says) for value, says in said if says)
            case SmtParts(parts):
                return tuple([self.value(part, look) for part in parts])
            case _:
                raise Inexpressible("a value of this shape")

    def _is_readable(self, of: t.Type) -> bool:
        """Whether the solver's output for a value of the type can be parsed: it has no arrays."""
        return not any(isinstance(part, t.Set) for part in t.walk_type(self.shapes.types.whole(of)))

    def _by_parts(self, of: Flat, look: Look) -> ir.Value:
        """The value of a flat shape with sets in it, from the values of its parts."""
        types = self.shapes.types
        match types.whole(of.type):
            case t.Option():
                is_some = look(types.is_some(of), t.BOOL)
                inner = self.value(self.shapes.seen(types.the(of)), look)
                return inner if is_some else None
            case t.Record() | t.Tuple():
                return tuple([self.value(part, look) for part in self.shapes.parts(of)])
            case t.Union(_, cases):
                found: ir.Value = None
                for at in range(len(cases)):
                    value = (at, *[self.value(part, look) for part in self.shapes.parts(of, at)])
                    found = value if look(types.case_test(of, at), t.BOOL) else found
                return found
            case _:
                raise Inexpressible("a value of this shape")

    def _most(self, limit: t.Limit | None) -> int:
        """The largest number of elements that a limit allows in the scope."""
        if limit is None:
            return 0
        return limit.of if isinstance(limit.of, int) else self.small.nats.get(limit.of, 2)

    def domain(self, of: t.Type) -> Iterator[tuple[ir.Value, SmtTerm]]:
        """All values of a flat type, each with its term."""
        whole = self.shapes.types.whole(of)
        for value in self._values(whole):
            yield value, self.shapes.element(self.shapes.constant(whole, value), whole)

    def _values(self, of: t.Type) -> Iterator[ir.Value]:
        """All values of a flat type."""
        match of:
            case _ if t.is_scalar(of):
                yield from members(of, self.small.scope)
            case t.Option(inner):
                yield None
                yield from self._values(self.shapes.types.whole(inner))
            case t.Set(inner):
                yield from _subsets(list(self._values(self.shapes.types.whole(inner))))
            case t.Record() | t.Tuple() | t.Case():
                yield from product(*(list(self._values(self.shapes.types.whole(p))) for p in t.parts(of)))
            case t.Union(_, cases):
                for at, case in enumerate(cases):
                    yield from ((at, *values) for values in self._values(case))
            case _:
                raise Inexpressible(f"all values of {of}")


def _subsets(members: Sequence[ir.Value]) -> Iterator[ir.Value]:
    """All subsets of the members."""
    if len(members) > MOST_MEMBERS:
        raise Inexpressible(f"all sets of more than {MOST_MEMBERS} members")
    for size in range(len(members) + 1):
        yield from map(frozenset, combinations(members, size))


# ---------------------------------------------------------------- what a solver writes


def values_of_terms(shapes: SmtShapes, terms: Sequence[SmtTerm], text: str) -> Look:
    """A function from terms to their values, read from the solver's answer to `get-value`."""
    after = text[text.index("sat") + len("sat") :]
    pairs = _parsed(after)
    values: Mapping[SmtTerm, Written] = {term: pair[-1] for term, pair in zip(terms, pairs, strict=True)}
    return lambda term, of: _value(shapes, values[term], of)


def _parsed(text: str) -> list[Written]:
    """The first S-expression in a text, as nested lists."""
    stack: list[list[Written]] = [[]]
    for word in re.findall(r'\(|\)|\|[^|]*\||"[^"]*"|[^\s()|"]+', text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word.strip("|"))
    first = stack[0][0]
    assert isinstance(first, list)
    return first


def _value(shapes: SmtShapes, written: Written, of: t.Type) -> ir.Value:
    """The value that an S-expression of the solver denotes."""
    whole = shapes.types.whole(of)
    name, parts = (written, []) if isinstance(written, str) else (written[0], written[1:])
    assert isinstance(name, str) or name == ["as"]
    match whole:
        case t.Bool():
            return name == "true"
        case t.Int() | t.Nat() | t.Range():
            return -int(str(parts[0])) if name == "-" else int(str(name))
        case t.Sort():
            return int(str(name).rpartition("!")[2])
        case t.Enum(enum, members):
            return [f"{enum}.{member}" for member in members].index(str(name))
        case t.Option(inner):
            return None if str(name).startswith("none ") else _value(shapes, parts[0], inner)
        case t.Record() | t.Tuple():
            return tuple(_value(shapes, part, own) for part, own in zip(parts, t.parts(whole), strict=True))
        case t.Union(union, cases):
            at = [f"{union}.{case.name}" for case in cases].index(str(name))
            own_parts = zip(parts, t.parts(cases[at]), strict=True)
            return (at, *(_value(shapes, part, own) for part, own in own_parts))
        case _:
            raise Inexpressible(f"a value of {of}")
