"""Values that a text gives outright: defaults of configs, settings of checks, the command line."""

from __future__ import annotations

import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.elaboration.expressions import ExpressionElaborator
from spec.elaboration.names import Declarations
from spec.elaboration.scopes import SlotFrame, TypeEnv
from spec.model.op import Op


def constant(declared: Declarations, node: se.Expr, of: t.Type) -> ir.Value:
    """The value of a literal of a type; reports other expressions, and values that do not fit."""
    found = ExpressionElaborator(declared, SlotFrame()).check(node, of, TypeEnv(), "as the setting")
    match found, of:
        case ir.Const(value), t.Range(lo, hi) if isinstance(value, int) and not lo <= value <= hi:
            declared.problems.add("R0506", node.span, f"{value} is outside {lo}..{hi}", label=str(of))
            return lo
        case ir.Const(value), _:
            return value
        case ir.Apply(Op.NEG, (ir.Const(value),)), t.Nat():
            help_ = "a nat starts at 0; for numbers below declare a range"
            declared.problems.add("R0506", node.span, f"{-value} is below 0", label=str(of), help=help_)
            return 0
        case ir.Apply(Op.NEG, (ir.Const(value),)), t.Range(lo, hi):
            if not lo <= -value <= hi:
                declared.problems.add("R0506", node.span, f"{-value} is outside {lo}..{hi}", label=str(of))
            return -value
        case _:
            help_ = "write a number, true, false, none, or a member of an enum"
            declared.problems.add("R0506", node.span, "a setting is written out, not computed", help=help_)
            return None
