"""What an expression costs to compute: a rough number of instructions."""

from __future__ import annotations

from collections.abc import Sequence

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.values.packing import packing
from spec.frozen import frozen
from spec.model.ir import Scope
from spec.model.op import Op
from spec.model.totality import Totality
from spec.model.values_in_use import makes_value
from spec.model.walk import children, walk

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
SLOTTED = 12  # the price of one slot, where a set or bag is kept in slots


@frozen
class LoopUnrolling:
    """How many instructions are written one after the other in place of a loop, at most."""

    of_quantifier: int
    of_action: int  # for its parameters


# Actions written out for each value of their parameters are half of the code, and as fast as loops where
# it is compiled quickly.  Quantifiers are some twentieth, and as loops can take twice as long.
SPARING = LoopUnrolling(600, 400)
GENEROUS = LoopUnrolling(600, 1500)  # some tenth faster once it is compiled well


class Costs:
    """Estimated costs of a model's expressions within a scope, in instructions; each is computed once."""

    def __init__(self, model: ir.Model, scope: Scope) -> None:
        self.scope = scope
        self._totality = Totality()
        self._totality.of_model(model)
        self._known: dict[int, tuple[int, ir.Expr]] = {}

    def of(self, expr: ir.Expr) -> int:
        """About how many instructions the code of the expression takes."""
        if id(expr) not in self._known:
            self._known[id(expr)] = self._computed(expr), expr
        return self._known[id(expr)][0]

    def is_harmless(self, expr: ir.Expr, most: int) -> bool:
        """Whether the expression costs at most `most` and cannot fail, so that it may run speculatively."""
        return self.is_total(expr) and self.of(expr) <= most

    def is_total(self, expr: ir.Expr) -> bool:
        """Whether evaluating the expression can never be an error of the model, such as `the {}`."""
        return self._totality.of(expr) and not self._may_make_no_value(expr)

    def _may_make_no_value(self, expr: ir.Expr) -> bool:
        """Whether there is an `x + 1` in it that is an error where x is not the greatest value in use."""
        nats = self.scope.unbounded
        return bool(nats) and any(makes_value(part, nats) for part in walk(expr))

    def of_statements(self, statements: Sequence[ir.Stmt]) -> int:
        """About how many instructions the code of the statements takes."""
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

    def _computed(self, expr: ir.Expr) -> int:
        """The cost of an expression, computed from those of its parts."""
        match expr:
            case ir.Bind():
                return self._bind(expr)
            case ir.MapOf(body=body):
                keys = expr.type.key if isinstance(expr.type, t.Map) else expr.type
                return self._count(keys) * (self.of(body) + 2)
            case ir.Const() | ir.Config() | ir.Local() | ir.Members():
                own = 0
            case ir.Var() | ir.Part() | ir.Is() | ir.Old() | ir.Fit():
                own = 2
            case ir.Apply(op=op, args=args):
                own = 1 + PRICES.get(op, 1) + self._slots(args)
            case ir.Did() | ir.And() | ir.Or() | ir.Make():
                own = 1 + 2 * len(children(expr))
            case ir.Implies() | ir.If() | ir.Let():
                own = 1
        return own + sum(map(self.of, children(expr)))

    def _slots(self, args: tuple[ir.Expr, ...]) -> int:
        """The extra cost of operands that are kept in slots and have to be scanned."""
        return sum(self._most(arg.type) * SLOTTED for arg in args if isinstance(arg.type, t.Bag | t.Set))

    def _most(self, of: t.Type) -> int:
        """The most members a collection type may have when it is kept in slots (4 if unknown), else 0."""
        match of:
            case t.Set(_, t.Limit() as limit) | t.Bag(_, t.Limit() as limit) | t.Seq(_, t.Limit() as limit):
                return self.scope.most(limit)
            case t.Set(t.Sort() | t.Enum() | t.Bool() | t.Nat() | t.Range() | t.Int()):
                return 0
            case t.Set() | t.Bag() | t.Seq():
                return 4
            case _:
                return 0

    def _bind(self, expr: ir.Bind) -> int:
        """The cost of a quantifier: that of its body, times the number of candidates."""
        domain, *parts = children(expr)
        return self.of(domain) + self._count(domain.type) * (sum(map(self.of, parts)) + 5)

    def _count(self, of: t.Type) -> int:
        """A guess at how many members a collection of the type has, or how many values a type has."""
        match of:
            case t.Set(inner, None):
                return self._count(inner)
            case t.Set() | t.Bag() | t.Seq():
                return self._most(of)
            case t.Option():
                return 1
            case t.Sort() | t.Nat() | t.Range() | t.Enum() | t.Bool():
                return packing(of, self.scope, {}).codes
            case _:
                return 8
