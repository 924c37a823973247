"""What has to be asked of a value before it is stored: is it within the scope, and within declared bounds?

NOTE(fits): the answer is a list of conditions, to be asked in order.  First the
declared bounds: one that is broken is an `Assert`, at which TLC stops, as every
engine does.  Then the scope: a condition that is false is a step beyond it, which
TLC does not take.  What is sure is not asked, so most stores need no condition at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
import spec.model.types as t
from modelcheck.export.known import KnownRange, Reach
from modelcheck.export.tla.expressions import TlaEnv, TlaExpressions
from modelcheck.export.tla.names import local, remark
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.values import NONE
from spec.frozen import frozen
from spec.meaning.fits import fits
from spec.model.op import Op
from spec.model.types import element
from spec.model.values import Cut, Misfit

VALUE = -1  # the slot of a value that is no expression of the model
LONG = 40  # characters of a term that is not written twice when what it is stored in has a name
Stored = Callable[[], TlaTerm]


@frozen
class _Place:
    """A value to be stored: its expression, context, and the name of its target afterwards."""

    expr: ir.Expr
    env: TlaEnv
    stored: Stored | None = None

    def part(self, expr: ir.Expr, env: TlaEnv | None = None) -> _Place:
        """A part of the expression, which has no name."""
        return _Place(expr, self.env if env is None else env)

    def unfolded(self) -> _Place:
        """The place with `let` names and fits replaced by their expressions."""
        match self.expr:
            case ir.Fit(of=of):
                return replace(self, expr=of).unfolded()
            case ir.Local(slot=slot) if slot in self.env.values:
                value, there = self.env.values[slot]
                return _Place(value, there.among(*self.env.taken), self.stored).unfolded()
            case _:
                return self

    def value(self, term: TlaTerm, of: t.Type, *taken: str) -> _Place:
        """A value derived from this one, of which only the type is known."""
        env = self.env.among(*taken).bound(VALUE, term, KnownRange())
        return _Place(ir.Local(VALUE, type=of, span=self.expr.span), env)


class Fits:
    """Writes the conditions under which a value can be stored."""

    def __init__(self, expressions: TlaExpressions) -> None:
        self._bounds = [_Bounds(expressions, declared=declared) for declared in (True, False)]

    def conditions(self, fit: ir.Expr, env: TlaEnv, stored: Stored | None = None) -> list[TlaTerm]:
        """The conditions to test before a value is stored; `stored` names the target afterwards."""
        if not isinstance(fit, ir.Fit):
            return []
        place = _Place(fit.of, env.away(), stored)
        return [condition for bounds in self._bounds for condition in bounds.of(place, fit.type)]


class _Bounds:
    """Writes conditions of one kind: declared bounds (errors), or the scope (cuts)."""

    def __init__(self, expressions: TlaExpressions, *, declared: bool) -> None:
        self._declared = declared
        self._expressions = expressions
        self._values = expressions.values
        self._knowledge = expressions.knowledge

    def of(self, place: _Place, target: t.Type) -> list[TlaTerm]:
        """The conditions on a value: on its visible parts, else by its type."""
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
            case ir.If():
                return self._of_if(expr, place, lambda branch: self.of(branch, target))
            case ir.Let():
                return self._of_let(expr, place, target)
            case ir.Make(parts=parts, case=case) if not isinstance(target, t.Seq | t.Set | t.Bag):
                whole = target.cases[case] if isinstance(target, t.Union) and case is not None else target
                types = zip(parts, t.parts(whole), strict=True)
                return [condition for part, of in types for condition in self.of(place.part(part), of)]
            case ir.MapOf(body=body) if isinstance(target, t.Map):
                keys = self._expressions.keys(expr, env)
                return every(keys.name, keys.domain, self.of(place.part(body, keys.env), target.value))
            case _:
                return self._by_type(place, target)

    def _term(self, place: _Place) -> TlaTerm:
        """The value, or the name of its target if that is shorter."""
        term = self._expressions.term(place.expr, place.env)
        return term if place.stored is None or len(str(term)) <= LONG else place.stored()

    # ------------------------------------------------------------------ by expression

    def _of_constant(self, value: ir.Value, target: t.Type) -> list[TlaTerm]:
        """The conditions on a constant."""
        check = fits(target, self._values.scope)
        try:
            if check is not None:
                check(value)
        except Cut:
            return [] if self._declared else [tla.FALSE]
        except Misfit as misfit:
            return [stop(tla.FALSE, str(misfit))] if self._declared else []
        return []

    def _of_if(self, expr: ir.If, place: _Place, asked: Callable[[_Place], list[TlaTerm]]) -> list[TlaTerm]:
        """The conditions on an `if`, by branch."""
        first, second = (asked(place.part(branch)) for branch in (expr.then, expr.other))
        return on_condition(self._expressions.term(expr.test, place.env), first, second)

    def _of_let(self, expr: ir.Let, place: _Place, target: t.Type) -> list[TlaTerm]:
        """The conditions on a `let`."""
        definitions, inner = self._expressions.named(expr, place.env)
        found = self.of(place.part(expr.body, inner), target)
        return [tla.let_term(definitions, tla.both(found))] if definitions and found else found

    # ------------------------------------------------------------------ by type

    def _by_type(self, place: _Place, target: t.Type) -> list[TlaTerm]:
        """The conditions on a value of which only the type is known."""
        if t.is_number(target):
            return self._of_number(place, target)
        if isinstance(target, t.Seq | t.Set | t.Bag):
            return [*self._of_size(place, target), *self._of_elements(place, target)]
        term = self._term(place)
        match target:
            case t.Option(inner):
                return on_condition(tla.differs(term, NONE), self.of(place.value(term, inner), inner), [])
            case t.Record() | t.Case() | t.Tuple():
                parts = [(self._values.part(term, target, i), of) for i, of in enumerate(t.parts(target))]
                return [c for part, of in parts for c in self.of(place.value(part, of), of)]
            case t.Union(_, cases):
                tests = [self._values.is_case(term, target, number) for number in range(len(cases))]
                found = [self.of(place.value(term, case), case) for case in cases]
                return [
                    c for test, own in zip(tests, found, strict=True) for c in on_condition(test, own, [])
                ]
            case t.Map(key, inner):
                name = local("k", place.env.taken)
                entry = place.value(tla.applied(term, tla.atom(name)), inner, name)
                return every(name, self._values.all_of(key), self.of(entry, inner))
            case _:
                return []

    def _of_number(self, place: _Place, target: t.Type) -> list[TlaTerm]:
        """The conditions on a number."""
        term, reach = self._term(place), self._knowledge.reach(place.expr, place.env.known)
        bounds = self._knowledge.of_type(target)
        above, below = reach.least >= bounds.least, reach.most <= bounds.most
        match target:
            case t.Nat(name) if not self._declared:
                return [] if below else [at_most(term, tla.atom(self._values.words.most[name]))]
            case t.Nat(name):
                test = tla.infix(">=", term, tla.number(0))
                return [] if above else [stop(test, f"below 0, where {name} starts")]
            case t.Range(lo, hi) if self._declared and not (above and below):
                test = tla.infix(r"\in", term, self._values.all_of(target))
                if above:
                    test = at_most(term, tla.number(hi))
                elif below:
                    test = tla.infix(">=", term, tla.number(lo))
                return [stop(test, f"outside {target}")]
            case _:
                return []

    # ------------------------------------------------------------------ collections

    def _of_size(self, place: _Place, target: t.Seq | t.Set | t.Bag) -> list[TlaTerm]:
        """The conditions on the size of a collection."""
        limit = target.limit
        if limit is None or self._declared is not isinstance(limit.of, int):
            return []
        most = self._values.scope.most(limit)
        if self._knowledge.size(place.expr, place.env.known).within(Reach(most=most)):
            return []
        size = self._size(place, target)
        if isinstance(limit.of, str):
            return [at_most(size, tla.atom(self._values.words.most[limit.of]))]
        return [stop(at_most(size, tla.number(most)), f"too many elements for {target}")]

    def _size(self, place: _Place, target: t.Type) -> TlaTerm:
        """The size of a collection, as a sum if it is a concatenation or union."""
        match place.expr, target:
            case (ir.Apply(op=Op.CONCAT, args=args), t.Seq()) | (ir.Apply(op=Op.UNION, args=args), t.Bag()):
                return tla.infix("+", *[self._size(place.part(arg), arg.type) for arg in args])
            case ir.Make(parts=parts), t.Seq() | t.Bag():
                return tla.number(len(parts))
            case _:
                return self._values.size(self._term(place), target)

    def _of_elements(self, place: _Place, target: t.Seq | t.Set | t.Bag) -> list[TlaTerm]:
        """The conditions on the elements, where they come from."""
        place = place.unfolded()
        expr = place.expr
        sure = self._knowledge.sure(expr, place.env.known)
        given = None if sure is None else element(sure)
        if given is not None and self._knowledge.covers(target.of, given):
            return []
        match expr:
            case ir.Apply(op=Op.CONCAT | Op.UNION, args=args):
                return [c for arg in args for c in self._of_elements(place.part(arg), target)]
            case ir.Apply(op=Op.TAKE | Op.DROP | Op.MINUS | Op.INTERSECT, args=(kept, _)):
                # What does not fit may be what is taken away.
                asked = self._of_elements(place.part(kept), target)
                return asked and self._of_all(place, target.of)
            case ir.Make(parts=parts):
                return [c for part in parts for c in self.of(place.part(part), target.of)]
            case ir.If():
                return self._of_if(expr, place, lambda branch: self._of_elements(branch, target))
            case ir.Const(value=value) if not value:
                return []
            case _:
                return self._of_all(place, target.of)

    def _of_all(self, place: _Place, target: t.Type) -> list[TlaTerm]:
        """The conditions on all elements of a collection."""
        whole, name = self._term(place), local("x", place.env.taken)
        found = self.of(place.value(tla.atom(name), target, name), target)
        return found and every(name, self._values.members(whole, place.expr.type), found)


def stop(test: TlaTerm, message: str, code: str = "R0601") -> TlaTerm:
    """The formula at which TLC stops with a message if the test is false."""
    return replace(tla.call("Assert", test, tla.text(f"{code}: {remark(message)}")), op="Assert")


def at_most(term: TlaTerm, limit: TlaTerm) -> TlaTerm:
    """The formula `term <= limit`, with `n + 1 <= limit` as `n < limit`."""
    if term.op == "+" and len(term.sides) == 2 and str(term.sides[1]) == "1":
        return tla.infix("<", term.sides[0], limit)
    return tla.infix("<=", term, limit)


def on_condition(test: TlaTerm, first: list[TlaTerm], second: list[TlaTerm]) -> list[TlaTerm]:
    """The conditions if a test is true, and those if it is false, combined."""
    if not first and not second:
        return []
    if not second:
        return [tla.implies(test, tla.both(first))]
    if not first:
        return [tla.implies(tla.negated(test), tla.both(second))]
    return [tla.choice(test, tla.both(first), tla.both(second))]


def every(name: str, domain: TlaTerm, found: list[TlaTerm]) -> list[TlaTerm]:
    """The conditions for every member of a domain."""
    return [tla.quantified(r"\A", name, domain, tla.both(found))] if found else []
