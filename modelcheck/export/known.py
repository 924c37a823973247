"""What is known of an expression's value before the model runs, so that an export does not have to ask.

A variable keeps the bounds of its type in every state, since whatever is
stored is a `Fit`; so does what is read from one.  Arithmetic may leave them:
of that only how far the numbers reach is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import spec.model.ir as ir
import spec.model.types as t
from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.model.types import element


@frozen
class Reach:
    """An interval of numbers, both ends included; infinite where there is no bound."""

    least: float = -inf
    most: float = inf

    def within(self, other: Reach) -> bool:
        """Whether the interval is within another."""
        return other.least <= self.least and self.most <= other.most

    def __or__(self, other: Reach) -> Reach:
        return Reach(min(self.least, other.least), max(self.most, other.most))


ANY = Reach()
COUNTS = Reach(0)


@frozen
class KnownRange:
    """What is known about a value: a type that it fits, None if unknown, and its interval."""

    type: t.Type | None = None
    reach: Reach = ANY


Locals = Mapping[int, KnownRange]


class Knowledge:
    """Static analysis of the ranges of expressions within a scope. Costs a walk over the expression."""

    def __init__(self, model: ir.Model, scope: ir.Scope) -> None:
        self.model = model
        self._scope = scope

    def of(self, expr: ir.Expr, known: Locals) -> KnownRange:
        """What is known about a value; `known` has the same for bound names."""
        if t.is_number(expr.type):
            return KnownRange(self.sure(expr, known), self.reach(expr, known))
        return KnownRange(self.sure(expr, known))

    def member(self, domain: ir.Expr, case: int | None, known: Locals) -> KnownRange:
        """What is known about every member of a domain (or those of one case)."""
        match domain:
            case ir.Members(of=of):
                found: t.Type | None = of
            case ir.Apply(op=Op.RANGE, args=(lo, hi)):
                return KnownRange(None, Reach(self.reach(lo, known).least, self.reach(hi, known).most))
            case _:
                whole = self.sure(domain, known)
                found = None if whole is None else element(whole)
        if isinstance(found, t.Union) and case is not None:
            found = found.cases[case]
        return KnownRange(found, self.of_type(found))

    # ------------------------------------------------------------ how far numbers go

    def reach(self, expr: ir.Expr, known: Locals) -> Reach:
        """The interval of a numeric expression."""
        match expr:
            case ir.Const(value=int(value)):
                return Reach(value, value)
            case ir.Config(name=name) if isinstance(value := self._scope.config[name], int):
                return Reach(value, value)
            case ir.Local(slot=slot) if slot in known:
                return known[slot].reach
            case ir.If():
                return self.reach(expr.then, known) | self.reach(expr.other, known)
            case ir.Let():
                return self.reach(expr.body, {**known, expr.slot: self.of(expr.value, known)})
            case ir.Bind():
                return self._of_bind(expr, known)
            case ir.Apply(op=Op.SIZE, args=(of,)):
                return self.size(of, known)
            case ir.Apply(op=Op.COMMON, args=(a, b)):
                return _arithmetic(Op.MIN2, self.size(a, known), self.size(b, known))
            case ir.Apply(op=op, args=args) if op in _ON_REACHES and all(t.is_number(a.type) for a in args):
                return _arithmetic(op, *(self.reach(arg, known) for arg in args))
            case ir.Apply(op=Op.COUNT):
                return COUNTS
            case _:
                return self.of_type(self.sure(expr, known))

    def _of_bind(self, expr: ir.Bind, known: Locals) -> Reach:
        """The interval of a quantifier's value."""
        member = self.member(expr.domain, expr.case, known)
        if expr.quantifier in {Quantifier.ARGMAX, Quantifier.ARGMIN}:
            return member.reach
        body = self.reach(expr.body, {**known, expr.slot: member})
        if expr.quantifier is Quantifier.SUM:
            return COUNTS if body.within(COUNTS) else ANY
        return body

    def size(self, of: ir.Expr, known: Locals) -> Reach:
        """The interval of a collection's size."""
        if isinstance(of, ir.Make):
            return Reach(0, len(of.parts))
        match self.sure(of, known):
            case t.Option():
                return Reach(0, 1)
            case t.Set(limit=limit) | t.Bag(limit=limit) | t.Seq(limit=limit) if limit is not None:
                return Reach(0, self._scope.most(limit))
            case _:
                return COUNTS

    def of_type(self, of: t.Type | None) -> Reach:
        """The interval of a type's values."""
        match of:
            case t.Range(lo, hi):
                return Reach(lo, hi)
            case t.Nat(name):
                return Reach(0, self._scope.limit(name))
            case _:
                return ANY

    # ------------------------------------------------------------ which bounds are kept

    def sure(self, expr: ir.Expr, known: Locals) -> t.Type | None:
        """A type that the value surely fits, as narrow as possible where that is tested; else None."""
        found = self._sure(expr, known)
        if isinstance(found, t.Option) and not isinstance(expr.type, t.Option):
            return found.of  # the language knows that it is there
        if isinstance(found, t.Union | t.Case) and isinstance(expr.type, t.Case):
            return expr.type  # also where another case is known: there it is never evaluated
        return found

    def _sure(self, expr: ir.Expr, known: Locals) -> t.Type | None:
        """A type that the value surely fits, by the kind of expression."""
        match expr:
            case ir.Var(index=index):
                return self.model.variables[index].type
            case ir.Local(slot=slot):
                return known[slot].type if slot in known else None
            case ir.Old(of=of):
                return self.sure(of, known)
            case ir.Part(of=of):
                return _part(expr, self.sure(of, known))
            case ir.If(then=then, other=other):
                return self._common(self.sure(then, known), self.sure(other, known))
            case ir.Let(slot=slot, value=value, body=body):
                return self.sure(body, {**known, slot: self.of(value, known)})
            case ir.Members(of=of):
                return t.Set(of)
            case ir.Bind():
                return self._sure_of_bind(expr, known)
            case ir.Apply(op=op, args=args):
                return _applied(op, [self.sure(arg, known) for arg in args])
            case _:
                return None

    def _sure_of_bind(self, expr: ir.Bind, known: Locals) -> t.Type | None:
        """A type that a quantifier's value surely fits."""
        member = self.member(expr.domain, expr.case, known)
        if expr.quantifier in {Quantifier.ARGMAX, Quantifier.ARGMIN}:
            return member.type
        of = self.sure(expr.body, {**known, expr.slot: member})
        match expr.quantifier:
            case Quantifier.SET:
                return None if of is None else t.Set(of)
            case Quantifier.MAX | Quantifier.MIN:
                return of
            case _:
                return None

    def _common(self, a: t.Type | None, b: t.Type | None) -> t.Type | None:
        """A type that covers both."""
        if a is None or b is None:
            return None
        return a if self.covers(a, b) else b if self.covers(b, a) else None

    def covers(self, target: t.Type, given: t.Type) -> bool:
        """Whether every value that fits `given` also fits `target`."""
        if target == given:
            return True
        match target, given:
            case ((t.Bool() | t.Enum() | t.Sort() | t.Int() | t.UnknownType()), _):
                return True
            case ((t.Range() | t.Nat()), _):
                return self.of_type(given).within(self.of_type(target))
            case t.Option(a), t.Option(b):
                return self.covers(a, b)
            case t.Option(a), _:
                return self.covers(a, given)
            case (
                (t.Seq(a, most), t.Seq(b, fewer))
                | (t.Bag(a, most), t.Bag(b, fewer))
                | (t.Set(a, most), t.Set(b, fewer))
            ):
                return self._at_most(most, fewer) and self.covers(a, b)
            case t.Map(key, a), t.Map(other, b):
                return key == other and self.covers(a, b)
            case t.Union(_, cases), t.Case():
                return given in cases
            case t.Tuple(items), t.Tuple(others):
                return len(items) == len(others) and all(map(self.covers, items, others))
            case _:
                return False

    def _at_most(self, limit: t.Limit | None, given: t.Limit | None) -> bool:
        """Whether a limit is at most another."""
        if limit is None:
            return True
        return given is not None and self._scope.most(given) <= self._scope.most(limit)


def _part(expr: ir.Part, whole: t.Type | None) -> t.Type | None:
    """The type of a part of a value of a type."""
    match whole, expr.of.type:
        case ((t.Union() | t.Case()), t.Union(_, cases)):
            return t.parts(cases[expr.case or 0])[expr.index]  # where no case is asked for all have it alike
        case ((t.Record() | t.Case() | t.Tuple()), _):
            return t.parts(whole)[expr.index]
        case _:
            return None


def _applied(op: Op, args: list[t.Type | None]) -> t.Type | None:
    """The type that the result of an operator surely fits, if it only reads or removes."""
    match op, args:
        case Op.LOOKUP, [t.Map(_, value), _]:
            return value
        case ((Op.INDEX | Op.LAST | Op.THE | Op.LEAST | Op.GREATEST), [found, *_]):
            return None if found is None else element(found)
        case Op.AT, [t.Seq(of), _]:
            return t.Option(of)
        case ((Op.TAKE | Op.DROP | Op.MINUS | Op.INTERSECT), [found, *_]):
            return found
        case Op.SUBSETS, [t.Set() as found]:
            return t.Set(found)
        case Op.ELEMENTS, [found]:
            inner = None if found is None else element(found)
            return None if inner is None else t.Set(inner)
        case Op.UNION, [t.Set(a), t.Set(b)] if a == b:
            return t.Set(a)
        case _:
            return None


_ON_REACHES = {Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.MIN2, Op.MAX2, Op.DIV, Op.MOD}


def _arithmetic(op: Op, a: Reach, b: Reach = ANY) -> Reach:
    """The interval of an arithmetic operator's result."""
    match op:
        case Op.ADD:
            return Reach(a.least + b.least, a.most + b.most)
        case Op.SUB:
            return Reach(a.least - b.most, a.most - b.least)
        case Op.NEG:
            return Reach(-a.most, -a.least)
        case Op.MIN2:
            return Reach(min(a.least, b.least), min(a.most, b.most))
        case Op.MAX2:
            return Reach(max(a.least, b.least), max(a.most, b.most))
        case Op.MUL if a.within(COUNTS) and b.within(COUNTS):
            return Reach(0, inf if inf in {a.most, b.most} else a.most * b.most)
        case Op.DIV if a.within(COUNTS) and b.least > 0:
            return Reach(0, a.most)
        case Op.MOD if b.least > 0:
            return Reach(0, b.most - 1)
        case _:
            return ANY
