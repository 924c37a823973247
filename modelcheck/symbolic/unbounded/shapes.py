"""Values of the language as terms and functions to terms.

What has one term (numbers, members, options, records and unions of such) is
`Flat`; a sequence is its length and a function from an index, a set a function
from a value to whether it is in it, a bag to how often, a map to what is there.
So a changed map is a function that asks the old one, and no theory of sets is
needed: formulas are about numbers, members, and symbols on them.

A set inside something that has one term (a message, an option, another set) is an
array from values to truth values.  Any set can be: one that is not written out gets
a name, and what is in it is said of the name (`Shapes.definitions`).

What the language leaves to an error of the model (the entry behind the end of a
sequence, the value of `none`) is an unspecified value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import spec.ir as ir
import spec.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.sorts import Flat, Types
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Term,
    add,
    apply,
    at_most,
    bound,
    choice,
    conjunction,
    disjunction,
    empty_array,
    equality,
    free_names,
    implication,
    in_array,
    less,
    made,
    negation,
    number,
    quantified,
    renamed,
    tested,
    with_value,
)
from spec.frozen import frozen


@frozen(eq=False)
class Row:
    """A sequence: its length, and the entry at each index below it."""

    length: Term
    at: Callable[[Term], Shape]
    type: t.Seq


@frozen(eq=False)
class Many:
    """A set: whether a value is in it; and the term that it is, where it is one without a new name."""

    has: Callable[[Term], Term]
    type: t.Set
    term: Callable[[], Term] | None = None


@frozen(eq=False)
class Counted:
    """A bag: how often a value is in it."""

    count: Callable[[Term], Term]
    type: t.Bag


@frozen(eq=False)
class Table:
    """A map: what is at each key."""

    get: Callable[[Term], Shape]
    type: t.Map


@frozen(eq=False)
class Parts:
    """A record or tuple with parts that are not flat."""

    parts: tuple[Shape, ...]
    type: t.Record | t.Tuple


@frozen(eq=False)
class Subsets:
    """All subsets of a set: where a set may be chosen from, and nothing else."""

    of: Many
    type: t.Set


@frozen(eq=False)
class Nowhere:
    """A value where there is none, as an entry of the empty sequence."""

    type: t.Type = t.UNKNOWN


Shape = Flat | Row | Many | Counted | Table | Parts | Subsets | Nowhere


class Shapes:
    """Builds, compares and merges values."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.definitions: list[Term] = []  # what is in the sets that have a name
        self._named: dict[tuple[Term, str], str] = {}
        self._bound = 0

    # ---------------------------------------------------------------- quantifiers

    def bind(self, sort: str) -> Term:
        """A new name for a quantifier to bind."""
        self._bound += 1
        return bound(f"{'xyz'[self._bound % 3]}{self._bound}", sort)

    def one(self, sort: str) -> Term:
        """A new symbol for one value, the same wherever it stands."""
        self._bound += 1
        return apply(f"|one {self._bound}|", (), sort)

    def each_index(self, length: Term, body: Callable[[Term], Term]) -> Term:
        """Whether a body is true for each index below a length."""
        at = self.bind(INT)
        inside = conjunction([at_most(number(0), at), less(at, length)])
        return quantified("forall", [at], implication(inside, body(at)))

    def each_element(self, of: t.Type, body: Callable[[Term], Term]) -> Term:
        """Whether a body is true for each term of a flat type."""
        value = self.bind(self.types.sort(of))
        return quantified("forall", [value], body(value))

    def each_member(self, of: t.Type, body: Callable[[Term], Term]) -> Term:
        """Whether a body is true for each value of a scalar type that is in the scope."""
        value = self.bind(self.types.sort(of))
        return quantified("forall", [value], implication(self.within_flat(value, of), body(value)))

    # ---------------------------------------------------------------- comparisons

    def element(self, value: Shape, of: t.Type) -> Term:
        """The term of a value that is in a set, a bag, or a key of a map."""
        if isinstance(value, Flat) and self.types.whole(value.type) == self.types.whole(of):
            return value.term
        return self._packed(self.fitted(value, of), of)

    def _packed(self, value: Shape, of: t.Type) -> Term:
        """One term for a value, with names for the sets in it that are none."""
        match value, self.types.whole(of):
            case Flat(term), _:
                return term
            case Many(_, _, term), _ if term is not None:
                return term()
            case Many(has), t.Set(inner):
                return self._named_set(has, inner)
            case Parts(parts), whole:
                return self._made(parts, whole, None).term
            case _:
                raise Inexpressible(f"{of} inside a set, bag, option or message")

    def _made(self, parts: Sequence[Shape], of: t.Type, case: int | None) -> Flat:
        kinds = _kinds(of, case)
        flat = [Flat(self._packed(part, kind), kind) for part, kind in zip(parts, kinds, strict=True)]
        return self.types.made(flat, of, case)

    def _named_set(self, has: Callable[[Term], Term], inner: t.Type) -> Term:
        """A set by a name of its own, the same for sets of which the same is said."""
        member = self.bind(self.types.sort(inner))
        body, sort = has(member), self.types.sort(t.Set(inner))
        params = tuple(each for each in free_names(body) if each != member)
        key = renamed(apply("", [*params, member, body], BOOL)), sort
        if key not in self._named:
            self._named[key] = name = f"a {sort.strip('|')} {len(self._named)}"
            inside = in_array(apply(f"|{name}|", params, sort), member)
            self.definitions.append(
                quantified("forall", [*params, member], equality(inside, body), (inside,))
            )
        return apply(f"|{self._named[key]}|", params, sort)

    def seen(self, value: Flat) -> Shape:
        """A value taken out of another: of a set, what is in it."""
        if not isinstance(value.type, t.Set):
            return value
        return Many(lambda x: in_array(value.term, x), value.type, lambda: value.term)

    def _unpacked(self, value: Flat, of: t.Record | t.Tuple) -> Parts:
        kinds = _kinds(of, None)
        parts = [self.seen(self.types.part(value, i, None)) for i in range(len(kinds))]
        return Parts(tuple(self.fitted(p, kind) for p, kind in zip(parts, kinds, strict=True)), of)

    def fitted(self, value: Shape, of: t.Type) -> Shape:  # noqa: C901 - by type
        """A value as one of a type that it fits: as an option, or `[]`, `{}` and `none` of anything."""
        of = self.types.whole(of)
        match value, of:
            case _, t.UnknownType():
                return value
            case Nowhere(), _:
                return self.unknown(of, f"nothing in {of}")
            case Flat(_, t.Option(t.UnknownType())), t.Option():
                return self.types.none(of)
            case Flat(_, t.Option(inner)), t.Option(wanted) if self.types.whole(inner) != wanted:
                if self.types.sort(inner) != self.types.sort(wanted):
                    raise Inexpressible(f"{value.type} where {of} is wanted")
                return Flat(value.term, of)
            case Flat(type=t.Option()), t.Option():
                return value
            case Flat() | Many() | Parts(), t.Option(inner):
                return self.types.some(Flat(self.element(value, inner), inner), of)
            case Flat(type=t.Tuple() | t.Record()), t.Tuple() | t.Record() if not self.types.is_flat(of):
                return self._unpacked(value, of)
            case Flat(type=t.Tuple() | t.Record()), _ if self.types.whole(value.type) != of:
                return self._refitted(value, of)
            case Flat(term), t.Int() | t.Nat() | t.Range() if term.sort == INT:
                return Flat(term, of)
            case Row(length, at), t.Seq(inner):
                return Row(length, lambda i: self.fitted(at(i), inner), of)
            case (Many(), t.Set()) | (Counted(), t.Bag()):
                return self._of_members(value, of)
            case Parts(parts), t.Record(_, fields):
                return self.together(
                    [self.fitted(p, f.type) for p, f in zip(parts, fields, strict=True)], of, None
                )
            case Parts(parts), t.Tuple(items):
                return self.together([self.fitted(p, i) for p, i in zip(parts, items, strict=True)], of, None)
            case Table(get, _), t.Map(_, inner):
                return Table(lambda k: self.fitted(get(k), inner), of)
            case _:
                return value

    def _refitted(self, value: Flat, of: t.Type) -> Shape:
        """A tuple whose items are options where others are values, and the like."""
        match of:
            case t.Tuple(items):
                kinds: Sequence[t.Type] = items
            case t.Record(_, fields):
                kinds = [f.type for f in fields]
            case _:
                return value
        parts = [self.fitted(self.types.part(value, i, None), kind) for i, kind in enumerate(kinds)]
        return self.together(parts, of, None)

    def _of_members(self, value: Shape, of: t.Type) -> Shape:
        match value, of:
            case Many(_, t.Set(t.UnknownType())), t.Set():
                return self.many((), of)
            case Counted(_, t.Bag(t.UnknownType())), t.Bag():
                return Counted(lambda _: number(0), of)
            case Many(has, t.Set(inner), term), t.Set(wanted) if self._are_alike(inner, wanted):
                return Many(has, of, term)
            case Counted(count, t.Bag(inner)), t.Bag(wanted) if self._are_alike(inner, wanted):
                return Counted(count, of)
            case Many() | Counted(), _:
                raise Inexpressible(f"{value.type} where {of} is wanted")
            case _:
                return value

    def _are_alike(self, one: t.Type, other: t.Type) -> bool:
        return self.types.sort(one) == self.types.sort(other)

    def together(self, parts: Sequence[Shape], of: t.Type, case: int | None) -> Shape:
        """A record, tuple or case of a union."""
        whole = self.types.whole(of)
        if self.types.is_flat(whole):
            return self._made(parts, whole, case)
        if isinstance(whole, t.Record | t.Tuple):
            return Parts(tuple(parts), whole)
        raise Inexpressible(f"a collection inside {of}")

    def equal(self, left: Shape, right: Shape) -> Term:
        """Whether two values are the same."""
        if isinstance(left, Flat) and isinstance(right, Flat) and left.type == right.type:
            return equality(left.term, right.term)
        left, right = self.fitted(left, right.type), self.fitted(right, left.type)
        match left, right:
            case (Nowhere(), _) | (_, Nowhere()):
                return TRUE
            case Flat(), Flat():
                return self._same(left, right)
            case Row(), Row():
                same = self.each_index(left.length, lambda i: self.equal(left.at(i), right.at(i)))
                return conjunction([equality(left.length, right.length), same])
            case Many(), Many():
                return self.each_element(
                    _inner(left.type, right.type), lambda x: equality(left.has(x), right.has(x))
                )
            case Counted(), Counted():
                return self.each_element(
                    _inner(left.type, right.type), lambda x: equality(left.count(x), right.count(x))
                )
            case Table(get, t.Map(key, _)), Table():
                return self.each_member(key, lambda k: self.equal(get(k), right.get(k)))
            case Parts(), Parts():
                pairs = zip(left.parts, right.parts, strict=True)
                return conjunction([self.equal(a, b) for a, b in pairs])
            case _:
                raise Inexpressible(f"{left.type} compared with {right.type}")

    def _same(self, left: Flat, right: Flat) -> Term:
        """Equality of flat values, into the parts where they are written out."""
        a, b = left.term, right.term
        if a.sort != b.sort:
            raise Inexpressible(f"{left.type} compared with {right.type}")
        return equality(a, b)

    def merged(self, test: Term, then: Shape, other: Shape) -> Shape:
        """The first value where the test is true, the second where it is not."""
        if test in {TRUE, FALSE}:
            return then if test == TRUE else other
        if isinstance(then, Flat) and isinstance(other, Flat) and then.type == other.type:
            return Flat(choice(test, then.term, other.term), then.type)
        then, other = self.fitted(then, other.type), self.fitted(other, then.type)
        match then, other:
            case Nowhere(), _:
                return other
            case _, Nowhere():
                return then
            case Flat(), Flat():
                if then.term.sort != other.term.sort:
                    raise Inexpressible(f"{then.type} or {other.type}")
                return Flat(choice(test, then.term, other.term), then.type)
            case Row(), Row():
                return Row(
                    choice(test, then.length, other.length),
                    lambda i: self.merged(test, then.at(i), other.at(i)),
                    then.type,
                )
            case Many(), Many():
                return Many(lambda x: choice(test, then.has(x), other.has(x)), then.type)
            case Counted(), Counted():
                return Counted(lambda x: choice(test, then.count(x), other.count(x)), then.type)
            case Table(), Table():
                return Table(lambda k: self.merged(test, then.get(k), other.get(k)), then.type)
            case Parts(), Parts():
                pairs = zip(then.parts, other.parts, strict=True)
                return Parts(tuple(self.merged(test, a, b) for a, b in pairs), then.type)
            case _:
                raise Inexpressible(f"{then.type} or {other.type}")

    def below(self, left: Shape, right: Shape, *, or_equal: bool) -> Term:
        """Whether one value is before another, in the order of its type."""
        if not (isinstance(left, Flat) and isinstance(right, Flat)):
            raise Inexpressible(f"an order of {left.type}")
        match self.types.whole(left.type):
            case t.Int() | t.Nat() | t.Range():
                return (at_most if or_equal else less)(left.term, right.term)
            case t.Bool():
                return (implication if or_equal else _below_bool)(left.term, right.term)
            case t.Enum(name, members):
                ranks = [self._rank(each, name, members) for each in (left, right)]
                return (at_most if or_equal else less)(*ranks)
            case t.Tuple(items):
                return self._lexicographic(left, right, len(items), or_equal=or_equal)
            case _:
                raise Inexpressible(f"an order of {left.type}")

    def _rank(self, value: Flat, enum: str, members: Sequence[str]) -> Term:
        rank = number(len(members) - 1)
        for at, member in reversed(list(enumerate(members[:-1]))):
            rank = choice(tested(value.term, self.types.member(enum, member)), number(at), rank)
        return rank

    def _lexicographic(self, left: Flat, right: Flat, count: int, *, or_equal: bool) -> Term:
        found = TRUE if or_equal else FALSE
        for at in reversed(range(count)):
            a, b = self.types.part(left, at, None), self.types.part(right, at, None)
            below = self.below(a, b, or_equal=False)
            found = disjunction([below, conjunction([self.equal(a, b), found])])
        return found

    # ------------------------------------------------------------------- values

    def constant(self, of: t.Type, value: ir.Value) -> Shape:  # noqa: C901 - by type
        """A value that is written in the text, or that a check gives to a switch."""
        match self.types.whole(of):
            case t.Bool():
                return Flat(TRUE if value else FALSE, of)
            case t.Int() | t.Nat() | t.Range():
                return Flat(number(value), of)
            case t.Sort(name):  # only a small scope has members with names
                return Flat(made(f"{name}!{value}", (), self.types.sort(of)), of)
            case t.Enum(name, members):
                return Flat(made(self.types.member(name, members[value]), (), self.types.sort(of)), of)
            case t.Option(inner) as option:
                if value is None:
                    return (
                        Flat(apply("none", (), ""), option)
                        if isinstance(inner, t.UnknownType)
                        else self.types.none(option)
                    )
                return self.fitted(self.constant(inner, value), option)
            case t.Record(_, fields):
                parts = [self.constant(f.type, v) for f, v in zip(fields, value, strict=True)]
                return self.together(parts, of, None)
            case t.Tuple(items):
                return self.together(
                    [self.constant(i, v) for i, v in zip(items, value, strict=True)], of, None
                )
            case t.Union(_, cases) as union:
                fields = cases[value[0]].fields
                parts = [self.constant(f.type, v) for f, v in zip(fields, value[1:], strict=True)]
                return self.together(parts, union, value[0])
            case t.Seq(inner) as seq:
                return self.row([self.constant(inner, each) for each in value], seq)
            case t.Set(inner) as set_:
                return self.many([self.constant(inner, each) for each in value], set_)
            case t.Bag(inner) as bag:
                each = [self.constant(inner, v) for v, count in value for _ in range(count)]
                return self.counted(each, bag)
            case _:
                raise Inexpressible(f"a constant of {of}")

    def row(self, entries: Sequence[Shape], of: t.Seq) -> Row:
        """A sequence that is written out."""

        def at(index: Term) -> Shape:
            found: Shape = Nowhere()
            for place, entry in reversed(list(enumerate(entries))):
                found = self.merged(equality(index, number(place)), entry, found)
            return found

        return Row(number(len(entries)), at, of)

    def many(self, members: Sequence[Shape], of: t.Set) -> Many:
        """A set that is written out."""
        terms = [self.element(each, of.of) for each in members]
        return Many(
            lambda x: disjunction([equality(x, each) for each in terms]),
            of,
            lambda: reduce(with_value, terms, empty_array(self.types.sort(of))),
        )

    def counted(self, members: Sequence[Shape], of: t.Bag) -> Counted:
        """A bag that is written out."""
        terms = [self.element(each, of.of) for each in members]

        def count(value: Term) -> Term:
            found = number(0)
            for each in terms:
                found = add(found, choice(equality(value, each), number(1), number(0)))
            return found

        return Counted(count, of)

    def unknown(self, of: t.Type, name: str, args: tuple[Term, ...] = ()) -> Shape:
        """Any value of a type, as symbols of that name on some arguments."""
        of = self.types.whole(of)
        if self.types.is_flat(of):
            return Flat(apply(f"|{name}|", args, self.types.sort(of)), of)
        match of:
            case t.Seq(inner):
                length = apply(f"|{name} length|", args, INT)
                return Row(length, lambda i: self.unknown(inner, f"{name} at", (*args, i)), of)
            case t.Set(inner):
                self.types.sort(inner)
                return Many(lambda x: apply(f"|{name} has|", (*args, x), BOOL), of)
            case t.Bag(inner):
                self.types.sort(inner)
                return Counted(lambda x: apply(f"|{name} count|", (*args, x), INT), of)
            case t.Map(_, inner):
                return Table(lambda k: self.unknown(inner, name, (*args, k)), of)
            case t.Record(_, fields):
                return Parts(tuple(self.unknown(f.type, f"{name}.{f.name}", args) for f in fields), of)
            case t.Tuple(items):
                return Parts(tuple(self.unknown(i, f"{name}.{n}", args) for n, i in enumerate(items)), of)
            case _:
                raise Inexpressible(f"a variable of {of}")

    def within(self, value: Shape) -> Term:
        """What every value of the type that is in some scope keeps to: its numbers are in their ranges."""
        match value:
            case Flat(term, of):
                return self.within_flat(term, of)
            case Row(length, at, t.Seq(_, limit)):
                inside = self.each_index(length, lambda i: self.within(at(i)))
                bounds = [at_most(number(0), length)]
                bounds += [] if limit is None else [at_most(length, limit_of(limit))]
                return conjunction([*bounds, inside])
            case Many(has, t.Set(inner)):
                return self.each_element(inner, lambda x: implication(has(x), self.within_flat(x, inner)))
            case Counted(count, t.Bag(inner)):
                return self.each_element(
                    inner,
                    lambda x: conjunction(
                        [
                            at_most(number(0), count(x)),
                            implication(less(number(0), count(x)), self.within_flat(x, inner)),
                        ]
                    ),
                )
            case Table(get, t.Map(key, _)):
                return self.each_member(key, lambda k: self.within(get(k)))
            case Parts(parts):
                return conjunction([self.within(part) for part in parts])
            case _:
                return TRUE

    def within_flat(self, term: Term, of: t.Type) -> Term:
        """What every term of a flat type that is in some scope keeps to."""
        whole = self.types.whole(of)
        value = Flat(term, whole)
        match whole:
            case t.Nat(name):
                return conjunction([at_most(number(0), term), at_most(term, bound_of(name))])
            case t.Range(lo, hi):
                return conjunction([at_most(number(lo), term), at_most(term, number(hi))])
            case t.Option(inner):
                inside = self.within_flat(self.types.the(value).term, inner)
                return implication(self.types.is_some(value), inside)
            case t.Set(inner):
                member = self.bind(self.types.sort(inner))
                inside = implication(in_array(term, member), self.within_flat(member, inner))
                return quantified("forall", [member], inside)
            case t.Record(_, parts) | t.Tuple(parts):
                each = [self.types.part(value, i, None) for i in range(len(parts))]
                return conjunction([self.within_flat(part.term, part.type) for part in each])
            case t.Union(_, cases):
                return conjunction(list(self._within_cases(value, cases)))
            case _:
                return TRUE

    def _within_cases(self, value: Flat, cases: Sequence[t.Case]) -> Iterator[Term]:
        for at, case in enumerate(cases):
            parts = [self.types.part(value, i, at) for i in range(len(case.fields))]
            inside = conjunction([self.within_flat(part.term, part.type) for part in parts])
            yield implication(self.types.case_test(value, at), inside)


def _kinds(of: t.Type, case: int | None) -> Sequence[t.Type]:
    """What the parts of a record, a tuple, or a union's case are."""
    match of:
        case t.Record(_, fields):
            return [field.type for field in fields]
        case t.Tuple(items):
            return items
        case t.Union(_, cases) if case is not None:
            return [field.type for field in cases[case].fields]
        case _:
            raise Inexpressible(f"parts of {of}")


def _below_bool(left: Term, right: Term) -> Term:
    return conjunction([negation(left), right])


def _inner(left: t.Type, right: t.Type) -> t.Type:
    """The type of the members of two collections of one type, from whichever says it."""
    for each in (left, right):
        if isinstance(each, t.Set | t.Bag) and not isinstance(each.of, t.UnknownType):
            return each.of
    return t.BOOL  # both are empty


def bound_of(name: str) -> Term:
    """How far a nat goes: any number, the same in one run."""
    return apply(f"|most {name}|", (), INT)


def limit_of(limit: t.Limit) -> Term:
    """How many elements a limit allows."""
    return number(limit.of) if isinstance(limit.of, int) else bound_of(limit.of)
