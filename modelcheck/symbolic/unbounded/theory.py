"""Axioms about sizes and chosen values, in addition to the formulas that use them.

A set whose size is asked for becomes a relation with a name, defined by what is
in it, and its size a number of that name.  Only these axioms hold for such numbers,
all of them true of finite sets:

* a size is from 0 to the number of all members, 0 for the empty set alone and
  all for the set of all;
* a set that is in another is not larger, and one smaller if it lacks one member;
* a set without some member lacks two where it lacks another one;
* two sets whose sizes together exceed the number of all members share one.

NOTE(quorums): the last holds because |A and B| = |A| + |B| − |A or B| ≥ |A| + |B| − n.
It is all that a proof for every n needs of quorums, be they majorities
(2·|A| > n) or write and read quorums (|A| ≥ W, |B| ≥ R, W + R > n).  A formula
proved from truths is true, so an axiom about sizes that is missing can
make a proof fail, never succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, permutations, product

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.shapes import Pointwise, SmtShape, SmtShapes, bound_of, count_true
from modelcheck.symbolic.unbounded.sorts import Flat
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    INT,
    SmtTerm,
    abstracted,
    add,
    apply,
    at_most,
    conjunction,
    disjunction,
    equality,
    implication,
    less,
    negation,
    number,
    quantified,
    substituted,
)
from spec.frozen import frozen
from spec.model.values import members

MOST_BESIDE = 6  # ways to take the values of one set for another
MOST_VALUES = 6  # of a sort, for which a set is looked at from the start
MOST_NAMED = 36  # sets of one name


@frozen
class Sized:
    """A set whose size is used: its parameters, and the predicate of its members."""

    name: str
    params: tuple[SmtTerm, ...]
    member: SmtTerm
    of: t.Type

    def has(self, params: tuple[SmtTerm, ...], member: SmtTerm) -> SmtTerm:
        """The formula that a value is in the set."""
        return apply(f"|{self.name} has|", (*params, member), BOOL)

    def size(self, params: tuple[SmtTerm, ...]) -> SmtTerm:
        """The term of the set's size."""
        return apply(f"|{self.name} size|", params, INT)


@frozen
class Small:
    """The bounds of a finite scope: the number of members of each sort, and the bound of each nat.

    `messages` is how many there may be in a network that is a set, None for any number.
    """

    sorts: Mapping[str, int]
    nats: Mapping[str, int]
    messages: int | None = None

    def members(self, sort: str) -> tuple[str, ...]:
        """The names of a sort's members."""
        return tuple(f"{sort}!{at}" for at in range(self.sorts[sort]))

    @property
    def scope(self) -> ir.Scope:
        """The description of the scope, as in a check."""
        return ir.Scope({sort: self.members(sort) for sort in self.sorts}, self.nats, {}, {})


class Theory:
    """The axioms that the terms of one formula need; within a `Small` scope sizes are counted instead."""

    def __init__(self, shapes: SmtShapes, small: Small | None) -> None:
        self.shapes = shapes
        self.small = small
        self._axioms: list[SmtTerm] = []
        self._sized: dict[tuple[SmtTerm, str], Sized] = {}
        self._chosen: dict[SmtTerm, str] = {}

    # ------------------------------------------------------------------- sizes

    def all_of(self, sort: str) -> SmtTerm:
        """The number of members of a sort."""
        if self.small is not None:
            return number(self.small.sorts[sort])
        return apply(f"|size {sort}|", (), INT)

    def size(self, of: Pointwise) -> SmtTerm:
        """The number of members of a set."""
        assert isinstance(of.type, t.Set)
        inner = of.type.of
        if isinstance(inner, t.UnknownType):
            return number(0)
        if self.small is not None:
            return count_true(of.has(each) for each in self.listed(inner, self.small))
        member = self.shapes.bind(self.shapes.types.sort(inner))
        body = of.has(member)
        params, says = abstracted(body, member)
        key = says, str(inner)
        if key not in self._sized:
            self._sized[key] = sized = Sized(f"set {len(self._sized)}", params, member, inner)
            has = sized.has(params, member)
            self._axioms.append(quantified("forall", [*params, member], equality(has, body), (has,)))
            if isinstance(inner, t.Sort):
                self._axioms += self._all_but_one(sized, body)
        return self._sized[key].size(params)

    def listed(self, of: t.Type, small: Small) -> Iterator[SmtTerm]:
        """The terms of all values of a scalar type in a small scope."""
        if not t.is_scalar(of):
            raise Inexpressible(f"the size of a set of {of}")
        for value in members(of, small.scope):
            found = self.shapes.constant(of, value)
            assert isinstance(found, Flat)
            yield found.term

    def axioms(self, about: Sequence[SmtTerm]) -> tuple[SmtTerm, ...]:
        """The axioms for the sizes and choices in a formula; `about` are its ground terms."""
        sized = [*self._sized.values()]
        pairs = [(a, b) for a in sized for b in sized if a.of == b.of]
        return (
            *self.shapes.definitions,
            *self._axioms,
            *(axiom for each in sized for axiom in self._of_one(each)),
            *(axiom for a, b in pairs for axiom in self._of_two(a, b)),
            *(axiom for a, b in pairs if a is not b for axiom in self._with_trigger(a, b)),
            *(axiom for each in sized for axiom in _named(each, about)),
        )

    def _of_one(self, one: Sized) -> Iterator[SmtTerm]:
        """The axioms on one size: it is 0 only for the empty set, and the sort's size for the full set."""
        size, member = one.size(one.params), one.member
        has = one.has(one.params, member)
        for_all = [*one.params]
        empty = quantified("forall", [member], negation(has))
        yield quantified("forall", for_all, at_most(number(0), size), (size,))
        yield quantified("forall", for_all, equality(equality(size, number(0)), empty), (size,))
        if isinstance(one.of, t.Sort):
            whole = quantified("forall", [member], has)
            most = self.all_of(one.of.name)
            yield quantified("forall", for_all, at_most(size, most), (size,))
            yield quantified("forall", for_all, equality(equality(size, most), whole), (size,))

    def _all_but_one(self, one: Sized, body: SmtTerm) -> Iterator[SmtTerm]:
        """The axioms on a set that by definition lacks a member: one smaller than all has the others."""
        assert isinstance(one.of, t.Sort)
        for out in _left_out(body, one.member):
            others = disjunction([body, equality(one.member, out)])
            many = at_most(self.all_of(one.of.name), add(one.size(one.params), number(1)))
            is_full = quantified("forall", [one.member], others)
            yield quantified("forall", [*one.params], implication(many, is_full))

    def _of_two(self, one: Sized, other: Sized) -> Iterator[SmtTerm]:
        """The axioms on two sizes: of subsets, sets that differ by a member, and large sets."""
        left = tuple(self.shapes.bind(each.sort) for each in one.params)
        right = tuple(self.shapes.bind(each.sort) for each in other.params)
        member, extra = self.shapes.bind(one.member.sort), self.shapes.bind(one.member.sort)
        sizes = one.size(left), other.size(right)
        both = [*left, *right]
        inside = implication(one.has(left, member), other.has(right, member))
        if one is not other or left:
            smaller = implication(quantified("forall", [member], inside), at_most(*sizes))
            yield quantified("forall", both, smaller, sizes)
            grown = equality(
                other.has(right, member), disjunction([one.has(left, member), equality(member, extra)])
            )
            by_one = conjunction([negation(one.has(left, extra)), quantified("forall", [member], grown)])
            next_ = equality(sizes[1], add(sizes[0], number(1)))
            triggers = (*sizes, one.has(left, extra))
            yield quantified("forall", [*both, extra], implication(by_one, next_), triggers)
        if isinstance(one.of, t.Sort) and one.name <= other.name:
            shared = conjunction([one.has(left, member), other.has(right, member)])
            many = less(self.all_of(one.of.name), add(*sizes))
            yield quantified("forall", both, implication(many, quantified("exists", [member], shared)), sizes)

    def _with_trigger(self, one: Sized, other: Sized) -> Iterator[SmtTerm]:
        """The axiom that a size is not negative, triggered where another set's size occurs.

        So the solver instantiates the set before a step when it is asked about the set after it.
        """
        for params in islice(permutations(other.params, len(one.params)), MOST_BESIDE):
            if [each.sort for each in params] == [each.sort for each in one.params]:
                says = at_most(number(0), one.size(params))
                yield quantified("forall", other.params, says, (other.size(other.params),))

    # ---------------------------------------------------------- values by what they are

    def chosen(
        self, of: t.Type, says: Callable[[Flat], SmtTerm], finite: Callable[[], SmtTerm] | None = None
    ) -> Flat:
        """A new symbol for some value that satisfies a formula (a Skolem term).

        With `finite` one does where that is true, which it is of all that a state has.
        """
        sort = self.shapes.types.sort(of)
        blank = self.shapes.bind(sort)
        wish = says(Flat(blank, of))
        params, key = abstracted(wish, blank)
        if finite is not None and any(self.shapes.types.is_endless(each.sort) for each in params):
            wish = implication(finite(), wish)
            params, key = abstracted(wish, blank)
        if key not in self._chosen:
            self._chosen[key] = name = f"chosen {len(self._chosen)}"
            it = apply(f"|{name}|", params, sort)
            self._axioms.append(quantified("forall", [*params], substituted(wish, {blank: it})))
        return Flat(apply(f"|{self._chosen[key]}|", params, sort), of)

    def common(
        self, left: Callable[[SmtTerm], SmtShape], right: Callable[[SmtTerm], SmtShape], most: SmtTerm
    ) -> Flat:
        """The length of the longest common prefix of two sequences, at most `most`."""

        def says(it: Flat) -> SmtTerm:
            at = it.term
            same = self.shapes.each_index(at, lambda i: self.shapes.equal(left(i), right(i)))
            differ = negation(self.shapes.equal(left(at), right(at)))
            inside = conjunction([at_most(number(0), at), at_most(at, most)])
            return conjunction([inside, same, implication(less(at, most), differ)])

        return self.chosen(t.INT, says)


def _left_out(body: SmtTerm, member: SmtTerm) -> Iterator[SmtTerm]:
    """The values that no set has whose members satisfy a formula, by the form of the formula."""
    for part in body.args if body.op == "and" else (body,):
        match part:
            case SmtTerm(op="not", args=(SmtTerm(op="=", args=(a, b)),)):
                for one, other in ((a, b), (b, a)):
                    if one == member and member not in other.free_names:
                        yield other
            case _:
                pass


def _named(one: Sized, about: Sequence[SmtTerm]) -> Iterator[SmtTerm]:
    """The axioms that a size is not negative for ground parameters, so that the solver considers it."""
    values = [[each for each in about if each.sort == param.sort][:MOST_VALUES] for param in one.params]
    for params in islice(product(*values), MOST_NAMED):
        yield at_most(number(0), one.size(params))


def sizes_of(sorts: tuple[t.Sort, ...], nats: tuple[t.Nat, ...], small: Small | None) -> Iterator[SmtTerm]:
    """The facts about the sizes of sorts and the bounds of nats."""
    for nat in nats:
        if small is None:
            yield at_most(number(0), bound_of(nat.name))
        else:
            yield equality(bound_of(nat.name), number(small.nats[nat.name]))
    if small is None:
        for sort in sorts:
            yield at_most(number(1), apply(f"|size {sort.name}|", (), INT))
