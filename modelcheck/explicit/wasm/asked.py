"""Whether a property is true of a state, as code: one function for each, to examine a single state."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions import Expressions
from modelcheck.explicit.codegen.layout import PackedLayout
from modelcheck.explicit.codegen.scene import Scene
from modelcheck.explicit.codegen.state import StateBits
from spec.ir import Expr, Property, PropertyKind

OF_A_STATE = {
    PropertyKind.INVARIANT,
    PropertyKind.LEMMA,
    PropertyKind.REACHABLE,
    PropertyKind.RECOVERABLE,
}


def asked(properties: Sequence[Property], expressions: Expressions, layout: PackedLayout) -> list[Function]:
    """`asked.N`: whether the property N is true of a state; 2 for an error."""
    return [
        _one(number, prop.expr, expressions, layout)
        for number, prop in enumerate(properties)
        if prop.kind in OF_A_STATE and prop.expr is not None
    ]


def _one(number: int, expr: Expr, expressions: Expressions, layout: PackedLayout) -> Function:
    fn = Function(f"asked.{number}", [("ptr noalias readonly", "state")], "i64", "nounwind")
    error = fn.new("error")
    own = StateBits(fn, layout, fn.array(layout.words))
    StateBits(fn, layout, "%state").copy_to(own)
    holds = expressions.test(expr, Scene(fn, own, error))
    fn.end(f"ret {fn.resize(holds, 64)}")
    fn.begin(error)
    fn.end("ret i64 2")
    return fn
