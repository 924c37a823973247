"""What the parts that write expressions ask of the whole, so that they do not have to import it."""

from __future__ import annotations

from typing import Protocol

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import V
from modelcheck.explicit.codegen.expressions.costs import Costs
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.values.packing import Packing
from modelcheck.explicit.codegen.values.values import Live

SHORT = 24  # instructions that are computed rather than jumped over


class Writer(Protocol):
    """Writes the expressions of one model within one scope."""

    scope: ir.Scope
    unions: dict[str, t.Union]
    costs: Costs

    def value(self, expr: ir.Expr, at: Scene) -> Live:
        """The value of an expression."""
        ...

    def test(self, expr: ir.Expr, at: Scene) -> V:
        """The value of a condition."""
        ...

    def shape(self, expr: ir.Expr, at: Scene) -> Packing:
        """The packing that a value will have: the expression is written once, into nothing, to find it."""
        ...
