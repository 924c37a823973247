"""What an expression costs to compute, in instructions or so, and whether it can make an error."""

from __future__ import annotations

from collections.abc import Sequence

import spec.ir as ir
import spec.types as t
from spec.ir import Op, Quantifier, Scope

PRICES = {
    Op.IN: 4,
    Op.SUBSET: 3,
    Op.SIZE: 3,
    Op.CONCAT: 8,
    Op.TAKE: 8,
    Op.DROP: 8,
    Op.INDEX: 5,
    Op.AT: 8,
    Op.LAST: 6,
    Op.COMMON: 10,
    Op.STARTS: 8,
    Op.ELEMENTS: 20,
    Op.SUBSETS: 40,
    Op.RANGE: 8,
    Op.DIV: 10,
    Op.MOD: 10,
}
MAY_FAIL = {Op.INDEX, Op.LAST, Op.THE, Op.LEAST, Op.GREATEST, Op.DIV, Op.MOD}
EXTREMES = {Quantifier.MAX, Quantifier.MIN, Quantifier.ARGMAX, Quantifier.ARGMIN}
SLOTTED = 12  # the price of one slot, where a set or bag is kept in slots


class Costs:
    """Rough costs within a scope, each expression looked at once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._known: dict[int, tuple[int, bool, ir.Expr]] = {}

    def of(self, expr: ir.Expr) -> int:
        """How many instructions the expression takes, about."""
        return self._look(expr)[0]

    def is_harmless(self, expr: ir.Expr, most: int) -> bool:
        """Whether it costs little and makes no error, so that it may be computed for nothing."""
        cost, total = self._look(expr)
        return total and cost <= most

    def is_total(self, expr: ir.Expr) -> bool:
        """Whether it makes no error of the model."""
        return self._look(expr)[1]

    def of_statements(self, statements: Sequence[ir.Stmt]) -> int:
        """About how many instructions some statements are."""
        total = 0
        for statement in statements:
            match statement:
                case ir.Assign(value=expr) | ir.Bound(value=expr) | ir.Assert(test=expr):
                    total += self.of(expr) + 8
                case ir.Branch():
                    total += (
                        self.of(statement.test)
                        + self.of_statements(statement.then)
                        + self.of_statements(statement.other)
                    )
                case ir.Each():
                    total += 4 * self.of_statements(statement.body)
                case ir.Choose():
                    total += 20
        return total + 20

    def _look(self, expr: ir.Expr) -> tuple[int, bool]:
        if id(expr) not in self._known:
            self._known[id(expr)] = (*self._made(expr), expr)
        return self._known[id(expr)][:2]

    def _made(self, expr: ir.Expr) -> tuple[int, bool]:
        match expr:
            case ir.Const() | ir.Config() | ir.Local() | ir.Members():
                return 0, True
            case ir.Var():
                return 2, True
            case ir.Bind():
                return self._bind(expr)
            case ir.MapOf(body=body):
                cost, total = self._look(body)
                return self._count(expr.type.key if isinstance(expr.type, t.Map) else expr.type) * (
                    cost + 2
                ), total
            case ir.Apply(op=op, args=args):
                cost, total = self._sum(args)
                return cost + PRICES.get(op, 1) + self._slots(args), total and not self._may_fail(op, args)
            case ir.Part(of=of, case=case):
                cost, total = self._look(of)
                return cost + 2, total and case is None
            case ir.Did(args=args) | ir.And(parts=args) | ir.Or(parts=args) | ir.Make(parts=args):
                cost, total = self._sum(args)
                return cost + 2 * len(args), total
            case ir.Implies(left=a, right=b):
                return self._sum((a, b))
            case ir.If(test=a, then=b, other=c):
                return self._sum((a, b, c))
            case ir.Let(value=a, body=b):
                return self._sum((a, b))
            case ir.Is(of=of) | ir.Old(of=of) | ir.Fit(of=of):
                cost, total = self._look(of)
                return cost + 2, total

    def _sum(self, parts: tuple[ir.Expr, ...]) -> tuple[int, bool]:
        looked = [self._look(part) for part in parts]
        return sum(cost for cost, _ in looked) + 1, all(total for _, total in looked)

    def _may_fail(self, op: Op, args: tuple[ir.Expr, ...]) -> bool:
        if op is Op.LOOKUP:
            whole, key = args[0].type, args[1].type
            is_safe = isinstance(key, t.Sort | t.Enum | t.Bool) or (
                isinstance(whole, t.Map) and key == whole.key and not isinstance(args[1], ir.Const)
            )
            return not is_safe
        return op in MAY_FAIL

    def _slots(self, args: tuple[ir.Expr, ...]) -> int:
        """What it costs more when a collection has to be gone through."""
        return sum(self._most(arg.type) * SLOTTED for arg in args if isinstance(arg.type, t.Bag | t.Set))

    def _most(self, of: t.Type) -> int:
        match of:
            case t.Set(_, t.Limit(limit)) | t.Bag(_, t.Limit(limit)) | t.Seq(_, t.Limit(limit)):
                return self.scope.limit(limit) if isinstance(limit, str) else limit
            case t.Set(t.Sort() | t.Enum() | t.Bool() | t.Nat() | t.Range() | t.Int()):
                return 0
            case t.Set() | t.Bag() | t.Seq():
                return 4
            case _:
                return 0

    def _bind(self, expr: ir.Bind) -> tuple[int, bool]:
        parts = [expr.body, *([] if expr.where is None else [expr.where])]
        cost, total = self._sum(tuple(parts))
        domain_cost, domain_total = self._look(expr.domain)
        fails = expr.quantifier in EXTREMES
        return domain_cost + self._count(expr.domain.type) * (cost + 4), total and domain_total and not fails

    def _count(self, of: t.Type) -> int:
        """How many members a collection of the type may have, or how many values a type has; a guess."""
        match of:
            case t.Set(inner, None):
                return self._count(inner)
            case t.Set() | t.Bag() | t.Seq():
                return self._most(of)
            case t.Option():
                return 1
            case t.Sort(name):
                return len(self.scope.sorts[name])
            case t.Nat(name):
                return self.scope.limit(name) + 1
            case t.Range(lo, hi):
                return hi - lo + 1
            case t.Enum(_, names):
                return len(names)
            case t.Bool():
                return 2
            case _:
                return 8
