"""Whether a property is true of a state, as code: one function for each, to examine a single state."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.search.claims import asks
from modelcheck.explicit.codegen.states.layout import PackedLayout
from spec.model.ir import Property, PropertyKind

OF_A_STATE = {
    PropertyKind.INVARIANT,
    PropertyKind.LEMMA,
    PropertyKind.REACHABLE,
    PropertyKind.RECOVERABLE,
}


def asked(
    properties: Sequence[Property], expressions: ExpressionWriter, layout: PackedLayout
) -> list[Function]:
    """Write `asked.N`: whether property N is true in a state; 2 for an error."""
    return [
        asks(f"asked.{number}", prop.expr, expressions, layout)
        for number, prop in enumerate(properties)
        if prop.kind in OF_A_STATE and prop.expr is not None
    ]
