"""Types and values in TLA+.

NOTE(values): numbers, booleans, sets and tuples are TLA+'s own; a member of an
enum is a string, a member of a sort a model value, and so is None, since TLC
refuses to compare values of different kinds but for model values, which are
different from all else.  A record is a record, a case of a union one with its
name in a field of its own; a sequence is a sequence, a map a function, a bag a
function from its members to their counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import assert_never

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
import spec.model.types as t
from modelcheck.export.tla.library import Library
from modelcheck.export.tla.names import NameSupply, field_name, local
from modelcheck.export.tla.terms import TlaTerm
from spec.formatting.documents import Doc
from spec.frozen import frozen
from spec.model.values import members, ordered

NONE = tla.atom("None")


@frozen
class Vocabulary:
    """The TLA+ names of the model's declarations."""

    members: Mapping[str, tuple[str, ...]]  # of each sort
    sets: Mapping[str, str]  # of each sort, nat and enum
    most: Mapping[str, str]  # the greatest value of each nat, the scope of each network
    configs: Mapping[str, str]
    variables: tuple[str, ...]
    actions: Mapping[str, str]
    properties: Mapping[str, str]
    counters: Mapping[str | None, str]  # of each kind of fault, and of all together
    tag: str  # the field that distinguishes the cases of a union


class Values:
    """Writes types and values; collects the definitions of orders."""

    def __init__(self, words: Vocabulary, scope: ir.Scope, library: Library, names: NameSupply) -> None:
        self.words = words
        self.scope = scope
        self.library = library
        self.definitions: list[Doc] = []
        self._names = names
        self._orders: dict[t.Type, str] = {}
        self._ranks: dict[t.Type, str] = {}

    def use(self, name: str, *args: TlaTerm) -> TlaTerm:
        """A library operator applied to arguments."""
        return tla.call(self.library.use(name), *args)

    # ------------------------------------------------------------------ types

    def all_of(self, of: t.Type) -> TlaTerm:
        """The set of all values of a scalar type."""
        match of:
            case t.Bool():
                return tla.atom("BOOLEAN")
            case t.Range(lo, hi):
                return tla.interval(tla.number(lo), tla.number(hi))
            case t.Nat(name) | t.Sort(name):
                return tla.atom(self.words.sets[name])
            case t.Enum(name) if name in self.words.sets:
                return tla.atom(self.words.sets[name])
            case t.Enum(_, names):
                return tla.a_set(map(tla.text, names))
            case _:
                raise TypeError(f"the values of {of} cannot be listed")

    def in_order(self, of: t.Type) -> TlaTerm:
        """The sequence of all values of a scalar type, ascending."""
        match of:
            case t.Nat(name):
                return self.use("Numbers", tla.number(0), tla.atom(self.words.most[name]))
            case t.Range(lo, hi):
                return self.use("Numbers", tla.number(lo), tla.number(hi))
            case _:
                return tla.a_tuple(self.literal(value, of) for value in members(of, self.scope))

    # ------------------------------------------------------------------ values

    def literal(self, value: ir.Value, of: t.Type) -> TlaTerm:  # noqa: C901 - a dispatch over a union
        """A constant of a type."""
        match of:
            case t.Bool():
                return tla.TRUE if value else tla.FALSE
            case t.Int() | t.Range() | t.Nat():
                return tla.number(value)
            case t.Enum(_, names):
                return tla.text(names[value])
            case t.Sort(name):
                return tla.atom(self.words.members[name][value])
            case t.Option(inner):
                return NONE if value is None else self.literal(value, inner)
            case t.Record() | t.Tuple():
                return self.compound(of, self._parts(value, of))
            case t.Case():
                return self.compound(of, self._parts(value[1:], of))
            case t.Union(_, cases):
                return self.literal(value, cases[value[0]])
            case t.Seq(inner):
                return tla.a_tuple(self.literal(each, inner) for each in value)
            case t.Set(inner):
                return tla.a_set(self.literal(each, inner) for each in ordered(value))
            case t.Bag(inner):
                return self._function([(self.literal(v, inner), tla.number(n)) for v, n in ordered(value)])
            case t.Map(key, inner):
                pairs = zip(members(key, self.scope), value, strict=True)
                return self._function([(self.literal(k, key), self.literal(v, inner)) for k, v in pairs])
            case t.UnknownType():
                return NONE  # of a member of nothing, which no run meets
            case _:
                assert_never(of)

    def _parts(self, values: Sequence[ir.Value], of: t.Type) -> list[TlaTerm]:
        """The constants of a value's parts."""
        return [self.literal(value, part) for value, part in zip(values, t.parts(of), strict=True)]

    def _function(self, pairs: Sequence[tuple[TlaTerm, TlaTerm]]) -> TlaTerm:
        """A function with these pairs of key and value."""
        if not pairs:
            return self.use("EmptyBag")
        return tla.infix("@@", *[tla.infix(":>", key, value) for key, value in pairs])

    def compound(self, of: t.Type, parts: Sequence[TlaTerm]) -> TlaTerm:
        """A record, tuple or case of a union from its parts; a case has its name first."""
        match of:
            case t.Record(_, ()):
                return tla.a_record([(self.words.tag, tla.TRUE)])
            case t.Record(_, fields) | t.Case(_, _, fields):
                named = [(field_name(field.name), part) for field, part in zip(fields, parts, strict=True)]
                tag = [(self.words.tag, tla.text(of.name))] if isinstance(of, t.Case) else []
                return tla.a_record([*tag, *named])
            case _:
                return tla.a_tuple(parts)

    def part(self, of: TlaTerm, type_: t.Type, index: int) -> TlaTerm:
        """A field of a record or case, or item of a tuple."""
        match type_:
            case t.Record(_, fields) | t.Case(_, _, fields):
                return tla.field(of, field_name(fields[index].name))
            case _:
                return tla.applied(of, tla.number(index + 1))

    @property
    def taken(self) -> frozenset[str]:
        """The names that bound variables must not use."""
        return self._names.taken

    def is_case(self, of: TlaTerm, union: t.Type, case: int) -> TlaTerm:
        """The test that a union's value is of a case."""
        assert isinstance(union, t.Union | t.Case), "other types have no cases"
        name = union.cases[case].name if isinstance(union, t.Union) else union.name
        return tla.equal(tla.field(of, self.words.tag), tla.text(name))

    # ------------------------------------------------------------------ orders

    def less(self, of: t.Type, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        """The test a < b in canonical order."""
        match of:
            case t.Int() | t.Range() | t.Nat():
                return tla.infix("<", a, b)
            case t.Bool():
                return tla.both([tla.negated(a), b])
            case t.Enum() | t.Sort():
                rank = tla.atom(self._rank(of))
                return tla.infix("<", tla.applied(rank, a), tla.applied(rank, b))
            case _:
                return tla.call(self.order(of), a, b)

    def order(self, of: t.Type) -> str:
        """The name of the operator that compares two values."""
        if t.is_number(of):
            return self.library.use("NumberLess")
        if of not in self._orders:
            name = self._orders[of] = self._names.fresh(f"Less_{_spelled(of)}")
            one, two = (local(name, self.taken) for name in ("a", "b"))
            body = self._ordering(of, tla.atom(one), tla.atom(two))
            self.definitions.append(tla.definition(name, (one, two), body))
        return self._orders[of]

    def _rank(self, of: t.Enum | t.Sort) -> str:
        """The name of the function from values to their ranks."""
        if of not in self._ranks:
            name = self._ranks[of] = self._names.fresh(f"Rank_{_spelled(of)}")
            ranks = [(self.literal(v, of), tla.number(v)) for v in members(of, self.scope)]
            self.definitions.append(tla.definition(name, (), self._function(ranks)))
        return self._ranks[of]

    def _ordering(self, of: t.Type, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        """The definition of the order of a type."""
        match of:
            case t.Bool() | t.Enum() | t.Sort() | t.Int() | t.Range() | t.Nat():
                return self.less(of, a, b)
            case t.Option(inner):
                some = tla.both([tla.differs(a, NONE), self.less(inner, a, b)])
                return tla.both([tla.differs(b, NONE), tla.either([tla.equal(a, NONE), some])])
            case t.Tuple() | t.Record() | t.Case():
                parts = enumerate(t.parts(of))
                return self._by_parts([(part, self.part(a, of, i), self.part(b, of, i)) for i, part in parts])
            case t.Map(key, inner):
                keys = [self.literal(value, key) for value in members(key, self.scope)]
                return self._by_parts([(inner, tla.applied(a, key), tla.applied(b, key)) for key in keys])
            case t.Union():
                return self._by_case(of, a, b)
            case t.Seq(inner):
                return self._by_entries(inner, a, b)
            case t.Set(inner):
                return self._by_entries(inner, self.ascending(a, inner), self.ascending(b, inner))
            case t.Bag(inner):
                pairs = t.Tuple((inner, t.INT))
                return self._by_entries(pairs, self._pairs(a, pairs), self._pairs(b, pairs))
            case t.UnknownType():
                return tla.FALSE
            case _:
                assert_never(of)

    def _by_parts(self, parts: Sequence[tuple[t.Type, TlaTerm, TlaTerm]]) -> TlaTerm:
        """The lexicographic order of compound values."""
        result = tla.FALSE
        for of, a, b in reversed(parts):
            later = [] if result is tla.FALSE else [tla.both([tla.equal(a, b), result])]
            result = tla.either([self.less(of, a, b), *later])
        return result

    def _by_case(self, of: t.Union, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        """The TLA+ condition that `a` comes before `b` in the order of a union's values."""
        result = tla.FALSE
        for index, case in reversed([*enumerate(of.cases)]):
            ours, theirs = (self.is_case(x, of, index) for x in (a, b))
            own = tla.implies(theirs, self._ordering(case, a, b))
            result = tla.choice(ours, own, tla.both([tla.negated(theirs), result]))
        return result

    def _by_entries(self, of: t.Type, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        """The lexicographic order of sequences, where a prefix comes first."""
        taken = self.taken | {str(a), str(b)}
        i, j, one, two = (local(name, taken) for name in ("i", "j", "one", "two"))
        at, before, first, second = map(tla.atom, (i, j, one, two))
        size, start = tla.call("Len", first), tla.number(1)
        same = tla.equal(tla.applied(first, before), tla.applied(second, before))
        until = tla.interval(start, tla.infix("-", at, start))
        equal = tla.quantified(r"\A", j, until, tla.both([tla.infix("<=", before, size), same]))
        less = self.less(of, tla.applied(first, at), tla.applied(second, at))
        decides = tla.either([tla.infix(">", at, size), less])
        where = tla.interval(start, tla.call("Len", second))
        found = tla.quantified(r"\E", i, where, tla.both([equal, decides]))
        return tla.let_term([tla.definition(one, (), a), tla.definition(two, (), b)], found)

    def _pairs(self, bag: TlaTerm, pairs: t.Tuple) -> TlaTerm:
        """A bag as the ascending sequence of its members with counts."""
        x = local("x", self.taken | {str(bag)})
        both = tla.a_tuple([tla.atom(x), tla.applied(bag, tla.atom(x))])
        return self.ascending(tla.each(x, tla.prefix("DOMAIN ", bag), both), pairs)

    def ascending(self, of: TlaTerm, inner: t.Type) -> TlaTerm:
        """A set as the ascending sequence of its members."""
        return tla.call("SortSeq", self.use("Listed", of), tla.atom(self.order(inner)))


def _spelled(of: t.Type) -> str:
    """The name of a type as part of an identifier."""
    return "_".join(part for part in re.split(r"\W|_", str(of).replace("?", " option")) if part)
