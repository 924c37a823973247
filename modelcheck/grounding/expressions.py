"""What expressions are in flat variables: every quantifier written out, every value a shape of terms.

What can go wrong is collected along with the value: a `GroundEnv` notes, for the way
that leads to an expression, when its value is an error of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.environment import GroundEnv
from modelcheck.grounding.fits import fit
from modelcheck.grounding.listed import possible_members, put_all, take_out
from modelcheck.grounding.operations import PLAIN
from modelcheck.grounding.rows import common, concat, drop, starts, take
from modelcheck.grounding.shapes import (
    Heap,
    Item,
    Listed,
    Maybe,
    Parts,
    Row,
    Shape,
    Shapes,
    Tagged,
    number,
    tagged,
)
from modelcheck.grounding.terms import GroundTerm, Sign, Terms
from spec.model.derived import CoreRewriter
from spec.model.op import Op, Quantifier
from spec.model.values import members, ordered

CORE = CoreRewriter()
MOST_SUBSETS = 10
IN_PLACES = {Op.IN, Op.SIZE, Op.COUNT}  # what is asked of a set in places without sorting it
ANY_ORDER = {Quantifier.FORALL, Quantifier.EXISTS, Quantifier.SET}  # of the members it looks at


class GroundExpressions:
    """Translates expressions to shapes of terms; quantifiers are expanded."""

    def __init__(self, shapes: Shapes, *, in_places: bool = False) -> None:
        self.shapes = shapes
        self.terms: Terms = shapes.terms
        self.in_places = in_places  # whether sets of what is not known yet are made in places

    def of(self, expr: ir.Expr, env: GroundEnv) -> Shape:
        """The shape of an expression. Raises Inexpressible where it has none."""
        try:
            return self._of(expr, env)
        except Inexpressible as reason:
            raise reason.at(expr.span) from None

    def truth(self, expr: ir.Expr, env: GroundEnv) -> GroundTerm:
        """The term of a condition."""
        return number(self.of(expr, env))

    def _of(self, expr: ir.Expr, env: GroundEnv) -> Shape:  # noqa: C901 - a dispatch over a union
        """The shape of an expression, by its kind."""
        terms, shapes = self.terms, self.shapes
        match expr:
            case ir.Const(value=value):
                return shapes.constant(expr.type, value)
            case ir.Config(name=name):
                return shapes.constant(expr.type, shapes.scope.config[name])
            case ir.Var(index=index):
                return env.state[index]
            case ir.Local(slot=slot):
                value = env.slots[slot]  # a value alone may be bound to the name of an option
                return shapes.option(value) if isinstance(expr.type, t.Option) else value
            case ir.Apply():
                return self._apply(expr, env)
            case ir.And(parts=parts):
                return self._chain(parts, env, stops_at=False)
            case ir.Or(parts=parts):
                return self._chain(parts, env, stops_at=True)
            case ir.Implies(left=left, right=right):
                negated = ir.Apply(Op.NOT, (left,), type=t.BOOL, span=left.span)
                return self._chain((negated, right), env, stops_at=True)
            case ir.If(test=test, then=then, other=other):
                asked = self.truth(test, env)
                if asked.constant is not None:
                    return self.of(then if asked.constant else other, env)
                first = self.of(then, env.under(terms, asked))
                second = self.of(other, env.under(terms, terms.no(asked)))
                return shapes.ite(asked, first, second)
            case ir.Let(slot=slot, value=value, body=body):
                return self.of(body, env.bound(slot, self.of(value, env)))
            case ir.Members(of=of):
                return Heap({v: (terms.true, shapes.constant(of, v)) for v in members(of, shapes.scope)})
            case ir.Bind():
                return self._bind(expr, env)
            case ir.MapOf(slot=slot, body=body, type=t.Map(key)):
                keys = [shapes.constant(key, each) for each in members(key, shapes.scope)]
                return Parts(tuple(self.of(body, env.bound(slot, each)) for each in keys))
            case ir.MapOf():
                raise TypeError(f"{expr.type} is no map")
            case ir.Make():
                return self._make(expr, [self.of(part, env) for part in expr.parts])
            case ir.Part():
                return self._part(expr, env)
            case ir.Is(of=of, case=case):
                return shapes.is_case(self.of(of, env), case)
            case ir.Fit(of=of):
                value_ = self.of(of, env)
                fit(shapes, expr.type, value_, env)
                return replace(value_, fresh=()) if isinstance(value_, Listed) else value_
            case ir.Old(of=of):
                return self.of(of, replace(env, state=env.old or env.state))
            case ir.Did(action=action, args=args):
                if env.step is None or env.step.action != action:
                    return terms.false
                given = [self.of(arg, env) for arg in args]
                return terms.all(shapes.equal(a, b) for a, b in zip(given, env.step.args, strict=False))
            case _:
                assert_never(expr)

    def _chain(self, parts: Sequence[ir.Expr], env: GroundEnv, *, stops_at: bool) -> GroundTerm:
        """The term of `and` or `or` with short circuit: `stops_at` is the value that decides it."""
        found: list[GroundTerm] = []
        for part in parts:
            value = self.truth(part, env)
            found.append(value)
            if value.constant == int(stops_at):
                break
            env = env.under(self.terms, self.terms.no(value) if stops_at else value)
            if env.path.constant == 0:
                break
        return self.terms.any(found) if stops_at else self.terms.all(found)

    # --------------------------------------------------------------- domains

    def items(
        self, domain: ir.Expr, case: int | None, env: GroundEnv, *, any_order: bool = False
    ) -> list[Item]:
        """The possible members of a domain, in canonical order, each with its condition to be one.

        In any order a member of a bag may come more than once.
        """
        try:
            found = self._items(domain, env, any_order=any_order)
        except Inexpressible as reason:
            raise reason.at(domain.span) from None
        if case is not None:
            found = [(self.terms.both(has, self.shapes.is_case(v, case)), v) for has, v in found]
        return [(has, value) for has, value in found if has.constant != 0]

    def _items(self, domain: ir.Expr, env: GroundEnv, *, any_order: bool) -> list[Item]:
        """The possible members of a domain, those of a range of numbers only where it can reach."""
        terms = self.terms
        if isinstance(domain, ir.Apply) and domain.op is Op.RANGE:
            lo, hi = (number(self.of(arg, env)) for arg in domain.args)
            numbers = [terms.number(n) for n in range(lo.lo, hi.hi + 1)]
            return [(terms.both(terms.le(lo, n), terms.le(n, hi)), n) for n in numbers]
        return self._members(self.of(domain, env), domain.type, any_order=any_order)

    def _members(self, whole: Shape, of: t.Type, *, any_order: bool = False) -> list[Item]:
        """The possible members of a set, bag, option or sequence, each with its condition."""
        shapes, optional = self.shapes, isinstance(of, t.Option)
        if isinstance(whole, Listed) and not any_order:
            whole = shapes.heap(whole)
        match whole:
            case Heap(held) if not optional:
                return shapes.inside(replace(whole, of={value: held[value] for value in ordered(held)}))
            case Row() if any_order and not optional:
                entries = shapes.inside(whole)
                fewer = shapes.by_value(entries)
                return fewer if 0 < len(fewer) < len(entries) else entries
            case Maybe() if optional:
                entries = shapes.inside(whole)
                return shapes.by_value(entries) or entries
            case _ if optional:
                return [(self.terms.true, whole)]  # one value, also where that has members of its own
            case Row() | Listed():
                return shapes.inside(whole)
            case _:
                raise Inexpressible(f"the members of {of}")

    def _bind(self, expr: ir.Bind, env: GroundEnv) -> Shape:
        """The shape of a quantifier, expanded over the possible members of its domain."""
        terms = self.terms
        found: list[tuple[GroundTerm, Shape, Shape]] = []
        any_order = expr.quantifier in ANY_ORDER
        for has, member in self.items(expr.domain, expr.case, env, any_order=any_order):
            inner = env.bound(expr.slot, member, terms.both(env.path, has))
            if inner.path.constant == 0:
                continue
            test = has
            if expr.where is not None:
                test = terms.both(has, self.truth(expr.where, inner))
                inner = replace(inner, path=terms.both(env.path, test))
            if test.constant == 0:
                continue
            found.append((test, member, self.of(expr.body, inner)))
        match expr.quantifier:
            case Quantifier.FORALL:
                return terms.all(terms.implies(test, number(body)) for test, _, body in found)
            case Quantifier.EXISTS:
                return terms.any(terms.both(test, number(body)) for test, _, body in found)
            case Quantifier.SUM:
                return terms.sum(terms.ite(test, number(body), terms.number(0)) for test, _, body in found)
            case Quantifier.SET:
                return self.shapes.gathered([(test, body) for test, _, body in found])
            case Quantifier.MAX | Quantifier.MIN:
                scores = [(test, body, body) for test, _, body in found]
                return self._best(scores, expr.type, env, least=expr.quantifier is Quantifier.MIN)
            case Quantifier.ARGMAX | Quantifier.ARGMIN:
                least = expr.quantifier is Quantifier.ARGMIN
                if t.tells_apart(expr.domain.type):
                    self._ties(found, env, least=least)
                return self._best(found, expr.type, env, least=least)
            case _:
                assert_never(expr.quantifier)

    def _better(self, a: Shape, b: Shape, *, least: bool) -> GroundTerm:
        """The term of `a` being strictly better than `b`, as a minimum (`least`) or maximum."""
        return self.shapes.less(a, b) if least else self.shapes.less(b, a)

    def _best(
        self, found: list[tuple[GroundTerm, Shape, Shape]], of: t.Type, env: GroundEnv, *, least: bool
    ) -> Shape:
        """The first member with the best score; an error if there is none.

        Each of `found` is a condition, a member and its score.
        """
        terms, shapes = self.terms, self.shapes
        env.error(self.terms, terms.no(terms.any(test for test, _, _ in found)))
        if not found:
            return self.shapes.nothing(of)
        some, best, score = found[0]
        for test, member, own in found[1:]:
            takes = terms.both(test, terms.any((terms.no(some), self._better(own, score, least=least))))
            best, score = shapes.ite(takes, member, best), shapes.ite(takes, own, score)
            some = terms.any((some, test))
        return best

    def _ties(self, found: list[tuple[GroundTerm, Shape, Shape]], env: GroundEnv, *, least: bool) -> None:
        """Record an error where two members share the best score."""
        terms, shapes = self.terms, self.shapes
        for (test, _, a), (other, _, b) in combinations(found, 2):
            beaten = [terms.both(third, self._better(c, a, least=least)) for third, _, c in found]
            env.error(self.terms, terms.all((test, other, shapes.equal(a, b), terms.no(terms.any(beaten)))))

    # -------------------------------------------------------- parts and wholes

    def _make(self, expr: ir.Make, parts: list[Shape]) -> Shape:
        """The shape of a literal of a record, tuple, union, set, bag or sequence."""
        match expr.type:
            case t.Set() | t.Bag():
                counts = isinstance(expr.type, t.Bag)
                items = [(self.terms.true, part) for part in parts]
                if self.in_places and not all(map(self.shapes.is_fixed, parts)):
                    return put_all(self.shapes, Listed((), counts, len(parts)), items)
                return self.shapes.gathered(items, counts=counts)
            case t.Seq():
                return Row(self.terms.number(len(parts)), tuple(parts))
            case _ if expr.case is not None:
                return Tagged(self.terms.number(expr.case), {expr.case: tuple(parts)})
            case _:
                return Parts(tuple(parts))

    def _part(self, expr: ir.Part, env: GroundEnv) -> Shape:
        """The shape of a field; one of the wrong case of a union is an error."""
        whole = self.of(expr.of, env)
        if isinstance(whole, Parts):
            return whole.parts[expr.index]
        union = tagged(whole)
        if expr.case is not None:
            env.error(self.terms, self.terms.no(self.shapes.is_case(union, expr.case)))
            fields = union.cases.get(expr.case)
            return self.shapes.nothing(expr.type) if fields is None else fields[expr.index]
        fields_ = [(self.shapes.is_case(union, n), union.cases[n][expr.index]) for n in sorted(union.cases)]
        return self.shapes.first_of(fields_)

    # -------------------------------------------------------------- operations

    def _apply(self, expr: ir.Apply, env: GroundEnv) -> Shape:  # noqa: C901 - by operator
        """The shape of an operator applied to its arguments."""
        values = [self.of(arg, env) for arg in expr.args]
        if expr.op in (Op.UNION, Op.MINUS) and isinstance(places := values[0], Listed):
            other = values[1]
            if isinstance(other, Listed) or (isinstance(other, Heap) and len(other.of) <= places.limit):
                return self._in_places(expr.op, places, other)
        if expr.op not in IN_PLACES:
            values = [self.shapes.heap(v) if isinstance(v, Listed) else v for v in values]
        if expr.op in PLAIN:
            return PLAIN[expr.op](self.shapes, *values)
        match expr.op, values:
            case ((Op.DIV | Op.MOD), [GroundTerm() as a, GroundTerm() as b]):
                if b.constant is None or b.lo < 1 or a.lo < 0:
                    raise Inexpressible(
                        f"`{expr.op.value}` of anything but a number from 0 by a fixed one above 0"
                    )
                return self.terms.divide(a, b.lo, Sign.DIV if expr.op is Op.DIV else Sign.MOD)
            case Op.IN, [value, whole]:
                return self._is_in(value, whole, expr.args[1].type)
            case Op.SIZE, [whole]:
                return self.shapes.count(whole)
            case Op.RANGE, _:
                return self.shapes.gathered(self.items(expr, None, env))
            case Op.COUNT, [value, (Heap() | Listed()) as bag]:
                return self._count(value, bag)
            case Op.LOOKUP, [Parts(parts), GroundTerm() as key]:
                return self.shapes.pick(key, parts, self.first(expr.args[0].type, len(parts), key, env))
            case Op.THE, [whole]:
                return self._the(whole, expr, env)
            case Op.SUBSETS, [Heap() as whole]:
                return self._subsets(whole)
            case _, [Row() as row, *others]:
                return self._of_row(expr, row, others, env)
            case _:
                raise Inexpressible(f"`{expr.op.value}` of {', '.join(str(arg.type) for arg in expr.args)}")

    def _in_places(self, op: Op, whole: Listed, other: Heap | Listed) -> Listed:
        """The union or difference of a set in places and another, with the result in places."""
        if op is Op.UNION:
            return put_all(self.shapes, whole, possible_members(self.shapes, other))
        for has, item in possible_members(self.shapes, other):
            whole = take_out(self.shapes, whole, item, has)
        return whole

    def first(self, of: t.Type, count: int, key: GroundTerm, env: GroundEnv) -> int:
        """The key of the first entry of a map; records an error where `key` is none of its keys."""
        lo = of.key.lo if isinstance(of, t.Map) and isinstance(of.key, t.Range) else 0
        if not key.truth:
            outside = (
                self.terms.lt(key, self.terms.number(lo)),
                self.terms.lt(self.terms.number(lo + count - 1), key),
            )
            env.error(self.terms, self.terms.any(outside))
        return lo

    def _is_in(self, value: Shape, whole: Shape, of: t.Type) -> GroundTerm:
        """The term of a value being a member of a collection."""
        match whole:
            case Heap() | Listed() | Row():
                return self.shapes.is_in(value, whole)
            case Maybe(has) if isinstance(of, t.Option):
                return self.terms.both(has, self.shapes.equal(value, whole))
            case _:
                return self.shapes.equal(value, whole)

    def _count(self, value: Shape, bag: Heap | Listed) -> GroundTerm:
        """The term of how often a value is in a bag."""
        terms, shapes = self.terms, self.shapes
        if isinstance(bag, Listed):
            return terms.sum(
                terms.count(terms.both(has, shapes.equal(value, item))) for has, item in bag.places
            )
        held = bag.of.values()
        return terms.sum(terms.ite(shapes.equal(value, item), often, terms.number(0)) for often, item in held)

    def _the(self, whole: Shape, expr: ir.Apply, env: GroundEnv) -> Shape:
        """The shape of the only, least or greatest member, or of an option's value; else an error."""
        match whole:
            case Maybe(has, value):
                env.error(self.terms, self.terms.no(has))
                return self.shapes.nothing(expr.type) if value is None else value
            case Heap():
                only = self.terms.is_number(self.shapes.count(whole), 1)
                env.error(self.terms, self.terms.no(only))
                found = self._members(whole, expr.args[0].type)
                return self.shapes.first_of(found) if found else self.shapes.nothing(expr.type)
            case _:
                return whole

    def _subsets(self, whole: Heap) -> Heap:
        """The set of all subsets of a set."""
        if len(whole.of) > MOST_SUBSETS:
            raise Inexpressible(f"the subsets of a set of {len(whole.of)}")
        chosen = (some for n in range(len(whole.of) + 1) for some in combinations(whole.of.items(), n))
        made = {}
        for some in chosen:
            held = {value: (self.terms.true, item) for value, (_, item) in some}
            made[frozenset(held)] = self.terms.all(has for _, (has, _) in some), Heap(held)
        return Heap(made)

    def _of_row(self, expr: ir.Apply, row: Row, others: list[Shape], env: GroundEnv) -> Shape:
        """The shape of an operator on a sequence."""
        terms, shapes = self.terms, self.shapes
        match expr.op, others:
            case Op.CONCAT, [Row() as other]:
                return concat(shapes, row, other)
            case Op.TAKE, [GroundTerm() as n]:
                return take(shapes, row, n)
            case Op.DROP, [GroundTerm() as n]:
                return drop(shapes, row, n)
            case Op.INDEX, [GroundTerm() as n]:
                outside = terms.any((terms.lt(n, terms.number(0)), terms.le(row.length, n)))
                env.error(self.terms, outside)
                return shapes.pick(n, row.slots) if row.slots else shapes.nothing(expr.type)
            case Op.AT, [GroundTerm() as n]:
                has = terms.both(terms.le(terms.number(0), n), terms.lt(n, row.length))
                return Maybe(has, shapes.pick(n, row.slots) if row.slots else None)
            case Op.LAST, []:
                env.error(self.terms, terms.eq(row.length, terms.number(0)))
                return shapes.pick(row.length, row.slots, 1) if row.slots else shapes.nothing(expr.type)
            case Op.COMMON, [Row() as other]:
                return common(shapes, row, other)
            case Op.STARTS, [Row() as start]:
                return starts(shapes, row, start)
            case _:
                raise Inexpressible(f"`{expr.op.value}` of a sequence")
