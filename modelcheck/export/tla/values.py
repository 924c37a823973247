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
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

import modelcheck.export.tla.terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.export.tla.library import Library
from modelcheck.export.tla.names import NameSupply, field_name, local
from modelcheck.export.tla.terms import TlaTerm
from spec.frozen import frozen
from spec.pretty import Doc
from spec.values import members, ordered

NONE = tla.atom("None")
Less = Callable[[TlaTerm, TlaTerm], TlaTerm]


@frozen
class Vocabulary:
    """What the module calls the things that the model declares."""

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
    """Writes types and values; collects the definitions that orders need."""

    def __init__(self, words: Vocabulary, scope: ir.Scope, library: Library, names: NameSupply) -> None:
        self.words = words
        self.scope = scope
        self.library = library
        self.definitions: list[Doc] = []
        self._names = names
        self._orders: dict[t.Type, str] = {}
        self._ranks: dict[t.Type, str] = {}

    # ------------------------------------------------------------------ types

    def all_of(self, of: t.Type) -> TlaTerm:
        """The set of all values of a scalar type."""
        match of:
            case t.Bool():
                return tla.atom("BOOLEAN")
            case t.Range(lo, hi):
                return tla.infix_tight("..", tla.RANGE, tla.number(lo), tla.number(hi))
            case t.Nat(name) | t.Sort(name):
                return tla.atom(self.words.sets[name])
            case t.Enum(name) if name in self.words.sets:
                return tla.atom(self.words.sets[name])
            case t.Enum(_, names):
                return tla.a_set(tla.atom(f'"{name}"') for name in names)
            case _:
                raise TypeError(f"the values of {of} cannot be listed")

    def in_order(self, of: t.Type) -> TlaTerm:
        """The sequence of all values of a scalar type, ascending."""
        match of:
            case t.Nat(name):
                return tla.call(self.library.use("Numbers"), tla.number(0), tla.atom(self.words.most[name]))
            case t.Range(lo, hi):
                return tla.call(self.library.use("Numbers"), tla.number(lo), tla.number(hi))
            case _:
                return tla.a_tuple(self.literal(value, of) for value in members(of, self.scope))

    # ------------------------------------------------------------------ values

    def literal(self, value: ir.Value, of: t.Type) -> TlaTerm:  # noqa: C901 - a dispatch over a union
        """A value of a type."""
        match of:
            case t.Bool():
                return tla.TRUE if value else tla.FALSE
            case t.Int() | t.Range() | t.Nat():
                return tla.number(value)
            case t.Enum(_, names):
                return tla.atom(f'"{names[value]}"')
            case t.Sort(name):
                return tla.atom(self.words.members[name][value])
            case t.Option(inner):
                return NONE if value is None else self.literal(value, inner)
            case t.Record(_, fields):
                return self.record(fields, self._parts(value, [f.type for f in fields]))
            case t.Case(_, name, fields):
                return self.case(name, fields, self._parts(value[1:], [f.type for f in fields]))
            case t.Union(_, cases):
                return self.literal(value, cases[value[0]])
            case t.Tuple(items):
                return tla.a_tuple(self._parts(value, items))
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

    def _parts(self, values: Sequence[ir.Value], types: Sequence[t.Type]) -> list[TlaTerm]:
        return [self.literal(value, of) for value, of in zip(values, types, strict=True)]

    def _function(self, pairs: Sequence[tuple[TlaTerm, TlaTerm]]) -> TlaTerm:
        if not pairs:
            return tla.atom(self.library.use("EmptyBag"))
        return tla.chain("@@", tla.JOINED, [tla.infix(":>", tla.JOINED + 1, k, v) for k, v in pairs])

    def record(self, fields: Sequence[t.Field], parts: Sequence[TlaTerm]) -> TlaTerm:
        """A record of its parts."""
        if not fields:
            return tla.a_record([(self.words.tag, tla.TRUE)])
        return tla.a_record((field_name(field.name), part) for field, part in zip(fields, parts, strict=True))

    def case(self, name: str, fields: Sequence[t.Field], parts: Sequence[TlaTerm]) -> TlaTerm:
        """A case of a union, with its name in front."""
        own = [(field_name(field.name), part) for field, part in zip(fields, parts, strict=True)]
        return tla.a_record([(self.words.tag, tla.atom(f'"{name}"')), *own])

    def part(self, of: TlaTerm, fields: Sequence[t.Field], index: int) -> TlaTerm:
        """A field of a record or of a case."""
        return tla.field(of, field_name(fields[index].name))

    @property
    def taken(self) -> frozenset[str]:
        """The names that nothing bound may have."""
        return self._names.taken

    def is_case(self, of: TlaTerm, union: t.Type, case: int) -> TlaTerm:
        """Whether a union's value is that case."""
        match union:
            case t.Union(_, cases):
                name = cases[case].name
            case t.Case(_, name):
                pass
            case _:
                raise TypeError(f"{union} has no cases")
        return tla.equal(tla.field(of, self.words.tag), tla.atom(f'"{name}"'))

    # ------------------------------------------------------------------ orders

    def less(self, of: t.Type) -> Less:
        """The canonical order of a type's values, which is `<` where the language has one."""
        if t.is_number(of):
            return lambda a, b: tla.infix("<", tla.RELATION, a, b)
        if isinstance(of, t.Bool):
            return lambda a, b: tla.both([tla.negated(a), b])
        if isinstance(of, t.Enum | t.Sort):
            rank = tla.atom(self._rank(of))
            return lambda a, b: tla.infix("<", tla.RELATION, tla.applied(rank, a), tla.applied(rank, b))
        name = self.order(of)
        return lambda a, b: tla.call(name, a, b)

    def order(self, of: t.Type) -> str:
        """The name of an operator that says which of two values comes first."""
        if t.is_number(of):
            return self.library.use("NumberLess")
        if of not in self._orders:
            name = self._orders[of] = self._names.fresh(f"Less_{_spelled(of)}")
            one, two = (local(name, self._names.taken) for name in ("a", "b"))
            body = self._ordering(of, tla.atom(one), tla.atom(two))
            self.definitions.append(tla.definition(name, (one, two), body))
        return self._orders[of]

    def _rank(self, of: t.Enum | t.Sort) -> str:
        if of not in self._ranks:
            name = self._ranks[of] = self._names.fresh(f"Rank_{_spelled(of)}")
            ranks = [(self.literal(v, of), tla.number(v)) for v in members(of, self.scope)]
            self.definitions.append(tla.definition(name, (), self._function(ranks)))
        return self._ranks[of]

    def _ordering(self, of: t.Type, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        match of:
            case t.Bool() | t.Enum() | t.Sort() | t.Int() | t.Range() | t.Nat():
                return self.less(of)(a, b)
            case t.Option(inner):
                some = tla.both([tla.infix("#", tla.RELATION, a, NONE), self.less(inner)(a, b)])
                none = tla.equal(a, NONE)
                return tla.both(
                    [tla.infix("#", tla.RELATION, b, NONE), tla.either([none, some])],
                )
            case t.Tuple(items):
                places = [(tla.applied(a, n), tla.applied(b, n)) for n in map(tla.number, _from_one(items))]
                return self._compare_by_parts(items, places)
            case t.Record(_, fields) | t.Case(_, _, fields):
                names = [field_name(field.name) for field in fields]
                places = [(tla.field(a, name), tla.field(b, name)) for name in names]
                return self._compare_by_parts([field.type for field in fields], places)
            case t.Map(key, inner):
                keys = [self.literal(value, key) for value in members(key, self.scope)]
                places = [(tla.applied(a, key), tla.applied(b, key)) for key in keys]
                return self._compare_by_parts([inner] * len(keys), places)
            case t.Union(_, cases):
                return self._by_case(cases, a, b)
            case t.Seq(inner):
                return self._by_entries(inner, a, b)
            case t.Set(inner):
                return self._by_entries(inner, self._sorted(a, inner), self._sorted(b, inner))
            case t.Bag(inner):
                pairs = t.Tuple((inner, t.INT))
                return self._by_entries(pairs, self._pairs(a, pairs), self._pairs(b, pairs))
            case t.UnknownType():
                return tla.FALSE
            case _:
                assert_never(of)

    def _compare_by_parts(
        self, types: Sequence[t.Type], places: Sequence[tuple[TlaTerm, TlaTerm]]
    ) -> TlaTerm:
        """An order of compound values: by the first part that differs."""
        result = tla.FALSE
        for of, (a, b) in reversed(list(zip(types, places, strict=True))):
            first = self.less(of)(a, b)
            result = (
                first if result is tla.FALSE else tla.either([first, tla.both([tla.equal(a, b), result])])
            )
        return result

    def _by_case(self, cases: Sequence[t.Case], a: TlaTerm, b: TlaTerm) -> TlaTerm:
        result = tla.FALSE
        for case in reversed(cases):
            ours, theirs = (
                tla.equal(tla.field(x, self.words.tag), tla.atom(f'"{case.name}"')) for x in (a, b)
            )
            own = self._ordering(case, a, b)
            result = tla.choice(ours, tla.implies(theirs, own), tla.both([tla.negated(theirs), result]))
        return result

    def _by_entries(self, of: t.Type, a: TlaTerm, b: TlaTerm) -> TlaTerm:
        """The first entry that differs decides, and a prefix comes first."""
        taken = self._names.taken | {str(a), str(b)}
        i, j, one, two = (local(name, taken) for name in ("i", "j", "one", "two"))
        at, before = tla.atom(i), tla.atom(j)
        first, second = tla.atom(one), tla.atom(two)
        size = tla.call("Len", first)
        same = tla.both(
            [
                tla.infix("<=", tla.RELATION, before, size),
                tla.equal(tla.applied(first, before), tla.applied(second, before)),
            ]
        )
        until = tla.infix_tight("..", tla.RANGE, tla.number(1), tla.infix("-", tla.MINUS, at, tla.number(1)))
        differs = tla.either(
            [
                tla.infix(">", tla.RELATION, at, size),
                self.less(of)(tla.applied(first, at), tla.applied(second, at)),
            ]
        )
        where = tla.infix_tight("..", tla.RANGE, tla.number(1), tla.call("Len", second))
        found = tla.quantified(r"\E", i, where, tla.both([tla.quantified(r"\A", j, until, same), differs]))
        return tla.let_term([tla.definition(one, (), a), tla.definition(two, (), b)], found)

    def _sorted(self, of: TlaTerm, inner: t.Type) -> TlaTerm:
        listed = tla.call(self.library.use("Listed"), of)
        return tla.call("SortSeq", listed, tla.atom(self.order(inner)))

    def _pairs(self, bag: TlaTerm, pairs: t.Tuple) -> TlaTerm:
        """A bag as the ascending sequence of its members, each with its count."""
        x = local("x", self._names.taken | {str(bag)})
        both = tla.a_tuple([tla.atom(x), tla.applied(bag, tla.atom(x))])
        return self._sorted(tla.each(x, tla.domain(bag), both), pairs)

    def ascending(self, of: TlaTerm, inner: t.Type) -> TlaTerm:
        """A set as the sequence of its members in canonical order."""
        return self._sorted(of, inner)


def _from_one(items: Sequence[object]) -> range:
    return range(1, len(items) + 1)


def _spelled(of: t.Type) -> str:
    return "_".join(part for part in re.split(r"\W|_", str(of).replace("?", " option")) if part)
