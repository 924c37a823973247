"""What the parts that write expressions ask of the whole, so that they do not have to import it."""

from __future__ import annotations

from typing import Protocol

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import V
from modelcheck.explicit.codegen.expressions.costs import Costs, LoopUnrolling
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.values.packing import Packing
from modelcheck.explicit.codegen.values.values import Live

SHORT = 24  # instructions that are computed rather than jumped over


class Writer(Protocol):
    """The interface of ExpressionWriter that the modules it imports use."""

    scope: ir.Scope
    unions: dict[str, t.Union]
    costs: Costs
    unrolling: LoopUnrolling

    def value(self, expr: ir.Expr, at: Scene) -> Live:
        """Emit code for an expression."""
        ...

    def test(self, expr: ir.Expr, at: Scene) -> V:
        """Emit code for a condition; the result has one bit."""
        ...

    def shape(self, expr: ir.Expr, at: Scene) -> Packing:
        """The packing of an expression's value, found by emitting its code to a scratch function."""
        ...
