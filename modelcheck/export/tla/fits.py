"""What has to be asked of a value before it is stored: is it within the scope, and within declared bounds?

NOTE(fits): the answer is a list of conditions, to be asked in order.  First the
declared bounds: one that is broken is an `Assert`, at which TLC stops, as every
engine does.  Then the scope: a condition that is false is a step beyond it, which
TLC does not take.  What is sure is not asked, so most stores need no condition at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeGuard

import modelcheck.export.tla.terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.export.known import Reach
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.names import local, remark
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.values import NONE
from spec.elaboration.typing import element
from spec.fits import fits
from spec.frozen import frozen
from spec.op import Op
from spec.values import Cut, Misfit

LONG = 40  # characters of a term that is not written twice when what it is stored in has a name
Stored = Callable[[], TlaTerm]


@frozen
class _Place:
    """What is being stored: the expression, where it stands, and how to name the place afterwards."""

    expr: ir.Expr
    env: TlaEnv
    stored: Stored | None = None

    def part(self, expr: ir.Expr, env: TlaEnv | None = None) -> _Place:
        """A part of the expression, which has no name of its own."""
        return _Place(expr, self.env if env is None else env)

    def unfolded(self) -> _Place:
        """The place with `let` names and fits replaced by the expressions they stand for."""
        match self.expr:
            case ir.Fit(of=of):
                return replace(self, expr=of).unfolded()
            case ir.Local(slot=slot) if slot in self.env.values:
                value, there = self.env.values[slot]
                return _Place(value, there.among(self.env.taken), self.stored).unfolded()
            case _:
                return self


class Fits:
    """Writes the conditions under which a value fits where it goes."""

    def __init__(self, expressions: TlaExpressions) -> None:
        self._bounds = [_Bounds(expressions, declared=declared) for declared in (True, False)]

    def conditions(self, fit: ir.Expr, env: TlaEnv, stored: Stored | None = None) -> list[TlaTerm]:
        """What to ask before a value is stored; `stored` names the place as it is afterwards."""
        if not isinstance(fit, ir.Fit):
            return []
        place = _Place(fit.of, env.away(), stored)
        return [condition for bounds in self._bounds for condition in bounds.of(place, fit.type)]


class _Bounds:
    """Writes the conditions of one kind: that a value is within declared bounds, or within the scope."""

    def __init__(self, expressions: TlaExpressions, *, declared: bool) -> None:
        self._declared = declared
        self._expressions = expressions
        self._values = expressions.values
        self._knowledge = expressions.knowledge

    def of(self, place: _Place, target: t.Type) -> list[TlaTerm]:
        place = place.unfolded()
        expr, env = place.expr, place.env
        if isinstance(target, t.Option) and not isinstance(expr.type, t.Option):
            target = target.of
        sure = self._knowledge.sure(expr, env.known)
        if sure is not None and self._knowledge.covers(target, sure):
            return []
        match expr:
            case ir.Const(value=value):
                return self._of_constant(value, target)
            case ir.Config(name=name):
                return self._of_constant(self._values.scope.config[name], target)
            case ir.If(test=test, then=then, other=other):
                first, second = (self.of(place.part(branch), target) for branch in (then, other))
                return on_condition(self._expressions.term(test, env), first, second)
            case ir.Let():
                return self._of_let(expr, place, target)
            case ir.Make():
                return self._of_make(expr, place, target)
            case ir.MapOf():
                return self._of_map(expr, place, target)
            case _ if t.is_number(target):
                return self._of_number(self._term(place), self._knowledge.reach(expr, env.known), target)
            case _ if isinstance(target, t.Seq | t.Set | t.Bag):
                return [*self._of_size(place, target), *self._of_elements(place, target)]
            case _:
                return self._by_type(self._term(place), target, sure, env)

    def _term(self, place: _Place) -> TlaTerm:
        """The value; by the name of its place where it would be long to write it again."""
        term = self._expressions.term(place.expr, place.env)
        return term if place.stored is None or len(str(term)) <= LONG else place.stored()

    # ------------------------------------------------------------------ by expression

    def _of_constant(self, value: ir.Value, target: t.Type) -> list[TlaTerm]:
        check = fits(target, self._values.scope)
        try:
            if check is not None:
                check(value)
        except Cut:
            return [] if self._declared else [tla.FALSE]
        except Misfit as misfit:
            return [stop(tla.FALSE, str(misfit))] if self._declared else []
        return []

    def _of_let(self, expr: ir.Let, place: _Place, target: t.Type) -> list[TlaTerm]:
        env = place.env
        value = self._expressions.term(expr.value, env)
        known = self._knowledge.of(expr.value, env.known)
        if value.is_atom:
            return self.of(place.part(expr.body, env.bound(expr.slot, value, known)), target)
        name = local(expr.name, env.taken)
        inner = env.bound(expr.slot, tla.atom(name), known).standing_for(expr.slot, expr.value, env)
        found = self.of(place.part(expr.body, inner), target)
        return [tla.let_term([tla.definition(name, (), value)], tla.both(found))] if found else []

    def _of_map(self, expr: ir.MapOf, place: _Place, target: t.Type) -> list[TlaTerm]:
        assert isinstance(target, t.Map)
        env = place.env
        name = local(expr.name, env.taken)
        keys = ir.Members(target.key, type=t.Set(target.key), span=expr.span)
        known = self._knowledge.member(keys, None, env.known)
        found = self.of(place.part(expr.body, env.bound(expr.slot, tla.atom(name), known)), target.value)
        return every(name, self._values.all_of(target.key), found)

    def _of_make(self, expr: ir.Make, place: _Place, target: t.Type) -> list[TlaTerm]:
        """Part by part."""
        match target:
            case t.Record(_, fields) | t.Case(_, _, fields):
                types: Sequence[t.Type] = [field.type for field in fields]
            case t.Union(_, cases) if expr.case is not None:
                types = [field.type for field in cases[expr.case].fields]
            case t.Tuple(items):
                types = items
            case t.Seq() | t.Set() | t.Bag():
                return [*self._of_size(place, target), *self._of_elements(place, target)]
            case _:
                raise TypeError(f"{target} has no parts")
        parts = zip(expr.parts, types, strict=True)
        return [condition for part, of in parts for condition in self.of(place.part(part), of)]

    def _of_number(self, term: TlaTerm, reach: Reach, target: t.Type) -> list[TlaTerm]:
        if isinstance(target, t.Nat) and not self._declared:
            most = self._values.scope.limit(target.name)
            fine = reach.most is not None and reach.most <= most
            return [] if fine else [at_most(term, tla.atom(self._values.words.most[target.name]))]
        if not self._declared:
            return []
        low = self._knowledge.least_of(target)
        above = low is None or (reach.least is not None and reach.least >= low)
        not_below = tla.infix(">=", tla.RELATION, term, tla.number(low or 0))
        match target:
            case t.Range(lo, hi):
                if above:
                    test = at_most(term, tla.number(hi))
                elif reach.most is not None and reach.most <= hi:
                    test = not_below
                else:
                    ends = tla.infix_tight("..", tla.RANGE, tla.number(lo), tla.number(hi))
                    test = tla.infix(r"\in", tla.RELATION, term, ends)
                return [] if reach.within(Reach(lo, hi)) else [stop(test, f"outside {target}")]
            case t.Nat(name):
                return [] if above else [stop(not_below, f"below 0, where {name} starts")]
            case _:
                return []

    # ------------------------------------------------------------------ collections

    def _of_size(self, place: _Place, target: t.Seq | t.Set | t.Bag) -> list[TlaTerm]:
        if not self._asks(target.limit):
            return []
        most = self._knowledge.most(target.limit)
        size = self._knowledge.size(place.expr, place.env.known)
        if size.most is not None and size.most <= most:
            return []
        named = isinstance(target.limit.of, str)
        limit = tla.atom(self._values.words.most[str(target.limit.of)]) if named else tla.number(most)
        test = at_most(self._size(place, target), limit)
        return [test] if named else [stop(test, f"too many elements for {target}")]

    def _asks(self, limit: t.Limit | None) -> TypeGuard[t.Limit]:
        return limit is not None and self._declared is isinstance(limit.of, int)

    def _size(self, place: _Place, target: t.Type) -> TlaTerm:
        """The size of a collection, as a sum where it is put together of several."""
        match place.expr, target:
            case (ir.Apply(op=Op.CONCAT, args=args), t.Seq()) | (
                ir.Apply(op=Op.UNION, args=args),
                t.Bag(),
            ):
                return tla.chain("+", tla.PLUS, [self._size(place.part(arg), arg.type) for arg in args])
            case ir.Make(parts=parts), t.Seq() | t.Bag():
                return tla.number(len(parts))
            case _:
                return self._expressions.operations.size(self._term(place), target)

    def _of_elements(self, place: _Place, target: t.Seq | t.Set | t.Bag) -> list[TlaTerm]:
        """What to ask of the elements, where they come from."""
        place = place.unfolded()
        expr, env = place.expr, place.env
        sure = self._knowledge.sure(expr, env.known)
        given = None if sure is None else element(sure)
        if given is not None and self._knowledge.covers(target.of, given):
            return []
        match expr:
            case ir.Apply(op=Op.CONCAT | Op.UNION, args=args):
                return [c for arg in args for c in self._of_elements(place.part(arg), target)]
            case ir.Apply(op=Op.TAKE | Op.DROP | Op.MINUS | Op.INTERSECT, args=(kept, _)):
                # What does not fit may be what is taken away.
                asked = self._of_elements(place.part(kept), target)
                return asked and self._of_all(self._term(place), expr.type, target.of, env)
            case ir.Make(parts=parts):
                return [c for part in parts for c in self.of(place.part(part), target.of)]
            case ir.If(test=test, then=then, other=other):
                first, second = (self._of_elements(place.part(branch), target) for branch in (then, other))
                return on_condition(self._expressions.term(test, env), first, second)
            case ir.Const(value=value) if not value:
                return []
            case _:
                return self._of_all(self._term(place), expr.type, target.of, env)

    def _of_all(self, whole: TlaTerm, of: t.Type, target: t.Type, env: TlaEnv) -> list[TlaTerm]:
        name = local("x", env.taken)
        found = self._by_type(tla.atom(name), target, None, _with(env, name))
        return every(name, self._expressions.operations.members(whole, of), found) if found else []

    # ------------------------------------------------------------------ by type

    def _by_type(self, term: TlaTerm, target: t.Type, given: t.Type | None, env: TlaEnv) -> list[TlaTerm]:
        """What to ask of a value of which nothing more is known."""
        if given is not None and self._knowledge.covers(target, given):
            return []
        values = self._values
        match target:
            case t.Range() | t.Nat():
                return self._of_number(term, Reach(), target)
            case t.Option(inner):
                found = self._by_type(term, inner, None, env)
                return on_condition(tla.infix("#", tla.RELATION, term, NONE), found, [])
            case t.Record(_, fields) | t.Case(_, _, fields):
                parts = [(values.part(term, fields, i), field.type) for i, field in enumerate(fields)]
                return [c for part, of in parts for c in self._by_type(part, of, None, env)]
            case t.Tuple(items):
                return [
                    c
                    for i, of in enumerate(items)
                    for c in self._by_type(tla.applied(term, tla.number(i + 1)), of, None, env)
                ]
            case t.Union(_, cases):
                return [
                    c
                    for i, case in enumerate(cases)
                    for c in on_condition(
                        values.is_case(term, target, i), self._by_type(term, case, None, env), []
                    )
                ]
            case t.Map(key, inner):
                name = local("k", env.taken)
                found = self._by_type(tla.applied(term, tla.atom(name)), inner, None, _with(env, name))
                return every(name, values.all_of(key), found)
            case t.Seq() | t.Set() | t.Bag():
                return [*self._size_of(term, target), *self._of_all(term, target, target.of, env)]
            case _:
                return []

    def _size_of(self, term: TlaTerm, target: t.Seq | t.Set | t.Bag) -> list[TlaTerm]:
        if not self._asks(target.limit):
            return []
        size = self._expressions.operations.size(term, target)
        if isinstance(target.limit.of, str):
            return [at_most(size, tla.atom(self._values.words.most[target.limit.of]))]
        return [stop(at_most(size, tla.number(target.limit.of)), f"too many elements for {target}")]


def _with(env: TlaEnv, name: str) -> TlaEnv:
    return env.among(frozenset({name}))


def stop(test: TlaTerm, message: str, code: str = "R0601") -> TlaTerm:
    """A condition at which TLC stops when it is false."""
    return replace(tla.call("Assert", test, tla.atom(f'"{code}: {remark(message)}"')), op="Assert")


def at_most(term: TlaTerm, limit: TlaTerm) -> TlaTerm:
    """`term <= limit`; `n + 1 <= limit` as `n < limit`."""
    if term.op == "+" and len(term.sides) == 2 and str(term.sides[1]) == "1":
        return tla.infix("<", tla.RELATION, term.sides[0], limit)
    return tla.infix("<=", tla.RELATION, term, limit)


def on_condition(test: TlaTerm, first: list[TlaTerm], second: list[TlaTerm]) -> list[TlaTerm]:
    """What to ask where a test is true, and where it is not."""
    if not first and not second:
        return []
    if not second:
        return [tla.implies(test, tla.both(first))]
    if not first:
        return [tla.implies(tla.negated(test), tla.both(second))]
    return [tla.choice(test, tla.both(first), tla.both(second))]


def every(name: str, domain: TlaTerm, found: list[TlaTerm]) -> list[TlaTerm]:
    """The same asked of every member of a domain."""
    return [tla.quantified(r"\A", name, domain, tla.both(found))] if found else []
