"""Values of the language as terms and functions to terms.

What has one term (numbers, members, options, records and unions of such) is
`Flat`; a sequence is its length and a function from an index, a set a function
from a value to whether it is in it, a bag to how often, a map to what is there.
So a changed map is a function that asks the old one, and no theory of sets is
needed: formulas are about numbers, members, and symbols on them.

A set inside something that has one term (a message, an option, another set) is an
array from values to truth values.  Any set can be: one that is not written out gets
a name, and its content is defined for the name (`SmtShapes.definitions`).

What the language leaves to an error of the model (the entry behind the end of a
sequence, the value of `none`) is an unspecified value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.sorts import Flat, Types, flat, kinds
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    SmtTerm,
    abstracted,
    add,
    apply,
    at_most,
    bound,
    choice,
    conjunction,
    disjunction,
    empty_array,
    equality,
    implication,
    in_array,
    less,
    made,
    negation,
    number,
    quantified,
    with_value,
)
from spec.frozen import frozen


@frozen(eq=False)
class Pointwise:
    """A collection as a function: from an index, key or value to the entry, or to membership or count.

    Of a sequence there is its length; of a set the term that it is, where it is one without a new name.
    """

    at: Callable[[SmtTerm], SmtShape]
    type: Collection
    length: SmtTerm = number(0)
    term: Callable[[], SmtTerm] | None = None

    def says(self, value: SmtTerm) -> SmtTerm:
        """The membership of a value in a set, or its count in a bag."""
        found = self.at(value)
        assert isinstance(found, Flat)
        return found.term

    def has(self, value: SmtTerm) -> SmtTerm:
        """The formula that a value is in a set or bag."""
        says = self.says(value)
        return less(number(0), says) if says.sort == INT else says


Collection = t.Seq | t.Set | t.Bag | t.Map


def members(
    says: Callable[[SmtTerm], SmtTerm], of: t.Set | t.Bag, term: Callable[[], SmtTerm] | None = None
) -> Pointwise:
    """The set or bag with this membership or count for each value."""
    return Pointwise(lambda x: flat(says(x)), of, term=term)


@frozen(eq=False)
class SmtParts:
    """A record or tuple kept as its parts, some of which are no single terms."""

    parts: tuple[SmtShape, ...]
    type: t.Record | t.Tuple


@frozen(eq=False)
class Subsets:
    """The set of all subsets of a set, usable only as the domain of a choice."""

    of: Pointwise
    type: t.Set


@frozen(eq=False)
class Nowhere:
    """The shape of an expression that can have no value, such as an entry of the empty sequence."""

    type: t.Type = t.UNKNOWN


SmtShape = Flat | Pointwise | SmtParts | Subsets | Nowhere

# What formulas have besides: bound names and others that are made here, and what SMT-LIB and Z3 define.
TAKEN = re.compile(
    r"[xyz]\d+|a|chosen|most|one|size"
    r"|abs|as|const|distinct|div|iff|is_int|ite|mod|select|store|to_int|to_real|xor"
)


class SmtShapes:
    """Builds, compares and merges the shapes of values."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.definitions: list[SmtTerm] = []  # what is in the sets that have a name
        self._named: dict[tuple[SmtTerm, str], str] = {}
        self._bound = 0

    # ---------------------------------------------------------------- quantifiers

    def bind(self, sort: str) -> SmtTerm:
        """A new bound variable of a sort, for a quantifier."""
        self._bound += 1
        return bound(f"{'xyz'[self._bound % 3]}{self._bound}", sort)

    def any_of(self, of: t.Type) -> SmtTerm:
        """A new bound variable of a type, for a quantifier."""
        return self.bind(BOOL if isinstance(of, t.UnknownType) else self.types.sort(of))

    def one(self, sort: str) -> SmtTerm:
        """A new constant symbol of a sort."""
        self._bound += 1
        return apply(f"|one {self._bound}|", (), sort)

    def each_index(self, length: SmtTerm, body: Callable[[SmtTerm], SmtTerm]) -> SmtTerm:
        """The formula that the body is true for each index below a length."""
        at = self.bind(INT)
        return quantified("forall", [at], implication(is_index(at, length), body(at)))

    def each_place(self, whole: Pointwise, body: Callable[[SmtTerm], SmtTerm]) -> SmtTerm:
        """The formula that the body is true for each index, key or value of a collection."""
        match whole.type:
            case t.Seq():
                return self.each_index(whole.length, body)
            case t.Map(key):
                at = self.any_of(key)
                return quantified("forall", [at], implication(self.within_flat(at, key), body(at)))
            case t.Set(inner) | t.Bag(inner):
                at = self.any_of(inner)
                return quantified("forall", [at], body(at))

    # ---------------------------------------------------------------- comparisons

    def element(self, value: SmtShape, of: t.Type) -> SmtTerm:
        """The single term of a value, as it occurs in a set, bag, option or key."""
        if isinstance(value, Flat) and self.types.whole(value.type) == self.types.whole(of):
            return value.term
        return self._packed(self.fitted(value, of), of)

    def _packed(self, value: SmtShape, of: t.Type) -> SmtTerm:
        """One term for a value; sets in it get names where they have none."""
        match value, self.types.whole(of):
            case Flat(term), _:
                return term
            case Pointwise(term=term), _ if term is not None:
                return term()
            case Pointwise(), t.Set(inner):
                return self._named_set(value, inner)
            case SmtParts(parts), whole:
                return self._made(parts, whole, None).term
            case _:
                raise Inexpressible(f"{of} inside a set, bag, option or message")

    def _made(self, parts: Sequence[SmtShape], of: t.Type, case: int | None) -> Flat:
        """A value of a datatype from its parts, each as one term."""
        pairs = zip(parts, kinds(of, case), strict=True)
        return self.types.made([Flat(self._packed(part, kind), kind) for part, kind in pairs], of, case)

    def _named_set(self, of: Pointwise, inner: t.Type) -> SmtTerm:
        """A term for a set: a new symbol with an axiom, shared by sets of the same definition."""
        member = self.bind(self.types.sort(inner))
        body, sort = of.says(member), self.types.sort(t.Set(inner))
        params, says = abstracted(body, member)
        key = says, sort
        if key not in self._named:
            self._named[key] = name = f"a {sort.strip('|')} {len(self._named)}"
            inside = in_array(apply(f"|{name}|", params, sort), member)
            self.definitions.append(
                quantified("forall", [*params, member], equality(inside, body), (inside,))
            )
        return apply(f"|{self._named[key]}|", params, sort)

    def seen(self, value: Flat) -> SmtShape:
        """The shape of a term taken out of a datatype: an array becomes a set."""
        if not isinstance(value.type, t.Set):
            return value
        return members(lambda x: in_array(value.term, x), value.type, lambda: value.term)

    def parts(self, value: Flat | SmtParts, case: int | None = None) -> Sequence[SmtShape]:
        """The shapes of the parts of a record or tuple, or of a case of a union."""
        if isinstance(value, SmtParts):
            return value.parts
        return [self.seen(part) for part in self.types.parts(value, case)]

    def fitted(self, value: SmtShape, of: t.Type) -> SmtShape:  # noqa: C901 - by type
        """The value converted to a wider type: to an option, or `[]`, `{}` and `none` to a full type."""
        of = self.types.whole(of)
        match value, of:
            case _, t.UnknownType():
                return value
            case Nowhere(), _:
                return self.unknown(of, f"nothing in {of}")
            case Flat(_, t.Option(t.UnknownType())), t.Option():
                return self.types.none(of)
            case Flat(term, t.Option(inner)), t.Option(wanted) if self.types.whole(inner) != wanted:
                self._require_alike(value, inner, of)
                return Flat(term, of)
            case Flat(type=t.Option()), t.Option():
                return value
            case Flat() | Pointwise(type=t.Set()) | SmtParts(), t.Option(inner):
                return self.types.some(Flat(self.element(value, inner), inner), of)
            case Flat(type=t.Tuple() | t.Record()) | SmtParts(), t.Tuple() | t.Record():
                if isinstance(value, Flat) and value.type == of and self.types.is_flat(of):
                    return value
                return self.together(self.parts(value), of, None)
            case Flat(term), t.Int() | t.Nat() | t.Range() if term.sort == INT:
                return Flat(term, of)
            case Pointwise(at, _, length), t.Seq(inner) | t.Map(_, inner):
                return Pointwise(lambda i: self.fitted(at(i), inner), of, length)
            case Pointwise(type=t.Set(inner) | t.Bag(inner)), t.Set(wanted) | t.Bag(wanted):
                if isinstance(inner, t.UnknownType):
                    return self.written((), of)
                self._require_alike(value, inner, of)
                return Pointwise(value.at, of, term=value.term)
            case _:
                return value

    def narrowed(self, value: SmtShape, of: t.Type) -> tuple[SmtTerm, SmtShape]:
        """The condition that a value is one of a narrower type, and the converted value."""
        match value, self.types.whole(of):
            case _, t.Option():
                return TRUE, value
            case Flat(type=t.Option(inner)), _:
                if isinstance(inner, t.UnknownType):
                    return FALSE, Nowhere()
                test, found = self.narrowed(self.seen(self.types.the(value)), of)
                return conjunction([self.types.is_some(value), test]), found
            case ((Flat(type=t.Tuple()) | SmtParts()), t.Tuple(items)) if value.type != of:
                tests, parts = zip(*map(self.narrowed, self.parts(value), items), strict=True)
                return conjunction(tests), self.together(parts, t.Tuple(items), None)
            case _:
                return TRUE, value

    def _require_alike(self, value: SmtShape, inner: t.Type, of: t.Option | t.Set | t.Bag) -> None:
        """Raise Inexpressible unless members have the same sort in the value and in the type."""
        if self.types.sort(inner) != self.types.sort(of.of):
            raise Inexpressible(f"{value.type} where {of} is wanted")

    def together(self, parts: Sequence[SmtShape], of: t.Type, case: int | None) -> SmtShape:
        """The record, tuple or case of a union with these parts."""
        whole = self.types.whole(of)
        fitted = tuple(self.fitted(part, kind) for part, kind in zip(parts, kinds(whole, case), strict=True))
        if self.types.is_flat(whole):
            return self._made(fitted, whole, case)
        if isinstance(whole, t.Record | t.Tuple):
            return SmtParts(fitted, whole)
        raise Inexpressible(f"a collection inside {of}")

    def _alike(self, left: SmtShape, right: SmtShape) -> tuple[SmtShape, SmtShape]:
        """Two values converted to the same type."""
        if isinstance(left, Flat) and isinstance(right, Flat) and left.type == right.type:
            return left, right
        return self.fitted(left, right.type), self.fitted(right, left.type)

    def equal(self, left: SmtShape, right: SmtShape) -> SmtTerm:
        """The formula that two values are equal."""
        left, right = self._alike(left, right)
        match left, right:
            case (Nowhere(), _) | (_, Nowhere()):
                return TRUE
            case Flat(a), Flat(b) if a.sort == b.sort:
                return equality(a, b)
            case Pointwise(), Pointwise():
                same = self.each_place(left, lambda x: self.equal(left.at(x), right.at(x)))
                return conjunction([equality(left.length, right.length), same])
            case SmtParts(), SmtParts():
                return conjunction(list(map(self.equal, left.parts, right.parts)))
            case _:
                raise Inexpressible(f"{left.type} compared with {right.type}")

    def merged(self, test: SmtTerm, then: SmtShape, other: SmtShape) -> SmtShape:
        """The value `then` where `test` is true, else `other`."""
        if test in {TRUE, FALSE}:
            return then if test == TRUE else other
        then, other = self._alike(then, other)
        match then, other:
            case Nowhere(), _:
                return other
            case _, Nowhere():
                return then
            case Flat(a), Flat(b) if a.sort == b.sort:
                return Flat(choice(test, a, b), then.type)
            case Pointwise(), Pointwise():
                return Pointwise(
                    lambda x: self.merged(test, then.at(x), other.at(x)),
                    then.type,
                    choice(test, then.length, other.length),
                )
            case SmtParts(), SmtParts():
                parts = [self.merged(test, a, b) for a, b in zip(then.parts, other.parts, strict=True)]
                return SmtParts(tuple(parts), then.type)
            case _:
                raise Inexpressible(f"{then.type} or {other.type}")

    def below(self, left: SmtShape, right: SmtShape, *, or_equal: bool) -> SmtTerm:
        """The formula that a value is less than another (or equal) in the order of its type."""
        if not (isinstance(left, Flat) and isinstance(right, Flat)):
            raise Inexpressible(f"an order of {left.type}")
        match self.types.whole(left.type):
            case t.Int() | t.Nat() | t.Range():
                return (at_most if or_equal else less)(left.term, right.term)
            case t.Bool():
                return (implication if or_equal else _below_bool)(left.term, right.term)
            case t.Enum() as enum:
                ranks = [self._rank(each, len(enum.members)) for each in (left, right)]
                return (at_most if or_equal else less)(*ranks)
            case t.Tuple():
                return self._lexicographic(left, right, or_equal=or_equal)
            case _:
                raise Inexpressible(f"an order of {left.type}")

    def _rank(self, value: Flat, count: int) -> SmtTerm:
        """The index of an enum's value, as a number."""
        rank = number(count - 1)
        for at in reversed(range(count - 1)):
            rank = choice(self.types.case_test(value, at), number(at), rank)
        return rank

    def _lexicographic(self, left: Flat, right: Flat, *, or_equal: bool) -> SmtTerm:
        """The formula that a tuple is less than another (or equal)."""
        found = TRUE if or_equal else FALSE
        pairs = list(zip(self.types.parts(left), self.types.parts(right), strict=True))
        for a, b in reversed(pairs):
            below = self.below(a, b, or_equal=False)
            found = disjunction([below, conjunction([self.equal(a, b), found])])
        return found

    # ------------------------------------------------------------------- values

    def constant(self, of: t.Type, value: ir.Value) -> SmtShape:
        """The shape of a constant of a type."""
        match self.types.whole(of):
            case t.Bool():
                return Flat(TRUE if value else FALSE, of)
            case t.Int() | t.Nat() | t.Range():
                return Flat(number(value), of)
            case t.Sort(name):  # only a small scope has members with names
                return Flat(made(f"{name}!{value}", (), self.types.sort(of)), of)
            case t.Enum():
                return self.types.made((), of, value)
            case t.Option(t.UnknownType()):
                return Flat(apply("none", (), ""), of)
            case t.Option(inner) as option:
                return (
                    self.types.none(option)
                    if value is None
                    else self.fitted(self.constant(inner, value), option)
                )
            case t.Record() | t.Tuple() as whole:
                return self.together(list(map(self.constant, t.parts(whole), value)), whole, None)
            case t.Union(_, cases) as union:
                case, *parts = value
                return self.together(list(map(self.constant, t.parts(cases[case]), parts)), union, case)
            case t.Seq(inner) | t.Set(inner) as whole:
                return self.written([self.constant(inner, each) for each in value], whole)
            case t.Bag(inner) as whole:
                each = [self.constant(inner, v) for v, count in value for _ in range(count)]
                return self.written(each, whole)
            case _:
                raise Inexpressible(f"a constant of {of}")

    def written(self, entries: Sequence[SmtShape], of: t.Seq | t.Set | t.Bag) -> Pointwise:
        """The shape of a collection literal."""
        if isinstance(of, t.Seq):
            places = [(number(place), self.fitted(entry, of.of)) for place, entry in enumerate(entries)]
            return Pointwise(lambda index: self._entry(places, index), of, number(len(entries)))
        terms = [self.element(each, of.of) for each in entries]
        if isinstance(of, t.Bag):
            return members(lambda x: count_true(equality(x, each) for each in terms), of)
        return members(
            lambda x: disjunction([equality(x, each) for each in terms]),
            of,
            lambda: reduce(with_value, terms, empty_array(self.types.sort(of))),
        )

    def _entry(self, places: Sequence[tuple[SmtTerm, SmtShape]], index: SmtTerm) -> SmtShape:
        """The value at an index of a sequence literal."""
        found: SmtShape = Nowhere()
        for place, entry in reversed(places):
            found = self.merged(equality(index, place), entry, found)
        return found

    def unknown(self, of: t.Type, name: str, args: tuple[SmtTerm, ...] = ()) -> SmtShape:
        """An arbitrary value of a type, as symbols of that name applied to `args`."""
        of = self.types.whole(of)
        if self.types.is_flat(of):
            whole = f"{name} of" if _may_be_a_function_of_solvers(name, args) else name
            return Flat(apply(f"|{whole}|", args, self.types.sort(of)), of)
        match of:
            case t.Seq(inner):
                length = apply(f"|{name} length|", args, INT)
                return Pointwise(lambda i: self.unknown(inner, f"{name} at", (*args, i)), of, length)
            case t.Map(_, inner):
                return Pointwise(lambda k: self.unknown(inner, name, (*args, k)), of)
            case t.Set(inner) | t.Bag(inner):
                self.types.sort(inner)
                word, sort = ("has", BOOL) if isinstance(of, t.Set) else ("count", INT)
                return members(lambda x: apply(f"|{name} {word}|", (*args, x), sort), of)
            case t.Record(_, fields):
                return SmtParts(tuple(self.unknown(f.type, f"{name}.{f.name}", args) for f in fields), of)
            case t.Tuple(items):
                return SmtParts(tuple(self.unknown(i, f"{name}.{n}", args) for n, i in enumerate(items)), of)
            case _:
                raise Inexpressible(f"a variable of {of}")

    def within(self, value: SmtShape) -> SmtTerm:
        """The formula that the numbers in a value are in the ranges of their types."""
        match value:
            case Flat(term, of):
                return self.within_flat(term, of)
            case Pointwise(type=of):
                inside = self.each_place(value, lambda x: self._within_at(value, x))
                return conjunction([*_length_within(value.length, of), inside])
            case SmtParts(parts):
                return conjunction([self.within(part) for part in parts])
            case _:
                return TRUE

    def _within_at(self, whole: Pointwise, place: SmtTerm) -> SmtTerm:
        """The formula that the entry of a collection at a place is within its type."""
        match whole.type:
            case t.Seq() | t.Map():
                return self.within(whole.at(place))
            case t.Set(inner):
                return implication(whole.has(place), self.within_flat(place, inner))
            case t.Bag(inner):
                least = at_most(number(0), whole.says(place))
                return conjunction([least, implication(whole.has(place), self.within_flat(place, inner))])

    def within_flat(self, term: SmtTerm, of: t.Type) -> SmtTerm:
        """The formula that a term's numbers are in the ranges of the type."""
        whole = self.types.whole(of)
        value = Flat(term, whole)
        match whole:
            case t.Nat(name):
                return conjunction([at_most(number(0), term), at_most(term, bound_of(name))])
            case t.Range(lo, hi):
                return conjunction([at_most(number(lo), term), at_most(term, number(hi))])
            case t.Set():
                return self.within(self.seen(value))
            case t.Record() | t.Tuple():
                return self._within_parts(value, None)
            case t.Option():
                return implication(self.types.is_some(value), self._within_parts(value, 1))
            case t.Union(_, cases):
                each = range(len(cases))
                return conjunction(
                    [
                        implication(self.types.case_test(value, at), self._within_parts(value, at))
                        for at in each
                    ]
                )
            case _:
                return TRUE

    def _within_parts(self, value: Flat, case: int | None) -> SmtTerm:
        """The formula that the parts of a value are within their types."""
        return conjunction([self.within_flat(part.term, part.type) for part in self.types.parts(value, case)])


def symbol(name: str) -> str:
    """The SMT-LIB symbol for a variable or choice of the model, renamed if solvers reserve the name."""
    return f"{name} of the model" if TAKEN.fullmatch(name) else name


def _may_be_a_function_of_solvers(name: str, args: Sequence[SmtTerm]) -> bool:
    """Whether a solver may define a function of that name for such arguments.

    What else it has of that name it has not for members of a model's sorts.
    """
    return bool(args) and " " not in name and ("." not in name or all(a.sort in {BOOL, INT} for a in args))


def is_index(at: SmtTerm, length: SmtTerm) -> SmtTerm:
    """The formula that a number is an index of a sequence."""
    return conjunction([at_most(number(0), at), less(at, length)])


def count_true(tests: Iterable[SmtTerm]) -> SmtTerm:
    """The number of conditions that are true."""
    return reduce(add, (one_if(test) for test in tests), number(0))


def one_if(test: SmtTerm) -> SmtTerm:
    """The number 1 if a condition is true, else 0."""
    return choice(test, number(1), number(0))


def _length_within(length: SmtTerm, of: Collection) -> list[SmtTerm]:
    """The formulas that the length of a sequence is within its limit."""
    if not isinstance(of, t.Seq):
        return []
    return [at_most(number(0), length), *([] if of.limit is None else [at_most(length, limit_of(of.limit))])]


def _below_bool(left: SmtTerm, right: SmtTerm) -> SmtTerm:
    """The formula that a Boolean is less than another."""
    return conjunction([negation(left), right])


def bound_of(name: str) -> SmtTerm:
    """The bound of a nat: an unknown number, the same throughout a run."""
    return apply(f"|most {name}|", (), INT)


def limit_of(limit: t.Limit) -> SmtTerm:
    """The number of elements that a limit allows."""
    return number(limit.of) if isinstance(limit.of, int) else bound_of(limit.of)
