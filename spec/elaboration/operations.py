"""Operators: which types they join, and what types their answers have."""

from __future__ import annotations

import spec.elaboration.typing as typing
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.diagnostics import suggest
from spec.elaboration.elaborator import Elaborator
from spec.elaboration.scopes import TypeEnv
from spec.model.op import Op
from spec.wording import an

_COMPARE = {"<": Op.LT, "<=": Op.LE, ">": Op.LT, ">=": Op.LE}
_ARITHMETIC = {"*": Op.MUL, "/": Op.DIV, "%": Op.MOD}


def binary(e: Elaborator, node: se.Binary, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of `a op b`."""
    match node.op:
        case "and" | "or" | "implies":
            return _logic(e, node, env)
        case "==" | "!=":
            left, right = pair(e, node.left, node.right, env)
            return _compared(e, node, Op.EQ if node.op == "==" else Op.NE, left, right)
        case "<" | "<=" | ">" | ">=":
            return _ordered(e, node, env)
        case "in" | "not in":
            return _in(e, node, env)
        case "subset":
            left, right = pair(e, node.left, node.right, env)
            _must_be(e, node.left, left, t.Set)
            return _compared(e, node, Op.SUBSET, left, right)
        case "..":
            ends = tuple(e.check(x, t.INT, env, "as the end of a range") for x in (node.left, node.right))
            of = typing.arithmetic(ends[0].type, ends[1].type)
            if of is None:
                return mixed(e, node, ends[0].type, ends[1].type)
            first, last = map(_number, ends)
            if first is not None and last is not None and not t.can_be_listed(first, last):
                help_ = "compare with both ends: `a <= x and x <= b`"
                return e.fail("R0320", node.span, "these are more numbers than can be listed", help=help_)
            return ir.Apply(
                Op.RANGE, ends, type=t.Set(of if isinstance(of, t.Nat) else t.INT), span=node.span
            )
        case "*" | "/" | "%":
            return _arithmetic(e, node, _ARITHMETIC[node.op], env)
        case "&":
            return _sets(e, node, env, hint)
        case _:
            return _sum(e, node, env, hint)


def _number(end: ir.Expr) -> int | None:
    """The integer of a literal; None for other expressions."""
    match end:
        case ir.Const(int(value)):
            return value
        case ir.Apply(Op.NEG, (ir.Const(int(value)),)):
            return -value
        case _:
            return None


def _logic(e: Elaborator, node: se.Binary, env: TypeEnv) -> ir.Expr:
    """The IR of `and`, `or` or `implies`; each part knows what those before imply."""
    operands = _chain(node)
    parts: list[ir.Expr] = []
    for operand in operands:
        part = e.check(operand, t.BOOL, env)
        inner = part.parts if isinstance(part, ir.And if node.op == "and" else ir.Or) else (part,)
        parts += inner if node.op != "implies" else (part,)
        env = env.knowing(e.facts(operand, env, truth=node.op != "or"))
    if node.op == "implies":
        return ir.Implies(*parts, type=t.BOOL, span=node.span)
    kind = ir.And if node.op == "and" else ir.Or
    return kind(tuple(parts), type=t.BOOL, span=node.span)


def _chain(node: se.Binary) -> list[se.Expr]:
    """The operands of `a and b and c`, in order."""
    found: list[se.Expr] = [node.right]
    left = node.left
    while node.op != "implies" and isinstance(left, se.Binary) and left.op == node.op:
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]


def pair(
    e: Elaborator, left: se.Expr, right: se.Expr, env: TypeEnv, hint: t.Type | None = None
) -> tuple[ir.Expr, ir.Expr]:
    """The IR of two expressions whose types inform each other."""
    if _needs_help(e, left) and not _needs_help(e, right):
        b = e.infer(right, env, hint)
        return e.infer(left, env, b.type), b
    a = e.infer(left, env, hint)
    return a, e.infer(right, env, a.type)


def _needs_help(e: Elaborator, node: se.Expr) -> bool:
    """Whether an expression has no type of its own, such as `{}` or `none`."""
    match node:
        case se.Name(name):
            return name in e.declared.members
        case se.NoneLit() | se.SetLit(()) | se.SeqLit(()):
            return True
        case se.SetLit(items) | se.SeqLit(items) | se.TupleLit(items):
            return any(_needs_help(e, item) for item in items)
        case _:
            return False


def _compared(e: Elaborator, node: se.Binary, op: Op, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """The IR of an equation."""
    if unify(e, left.type, right.type) is None:
        return mixed(e, node, left.type, right.type)
    return ir.Apply(op, (left, right), type=t.BOOL, span=node.span)


def unify(e: Elaborator, a: t.Type, b: t.Type) -> t.Type | None:
    """The type that two types have in common, such as the union of two cases; None if there is none."""
    match a, b:
        case t.Case(u, _), t.Case(v, _) if u == v and a != b:
            return e.declared.types[u]
        case _:
            return typing.join(a, b)


def mixed(e: Elaborator, node: se.Binary, a: t.Type, b: t.Type) -> ir.Expr:
    """Report two types that do not fit together."""
    if isinstance(a, t.Nat) and isinstance(b, t.Nat):
        help_ = "they count different things; `int(…)` makes a plain number of either"
        return e.fail("R0303", node.span, f"this mixes {a} and {b}", label=_between(node, a, b), help=help_)
    message = f"`{node.op}` does not go between {an(a)} and {an(b)}"
    label = _between(node, a, b)
    return e.fail(
        "R0304",
        node.span,
        message.replace("[?]", ""),
        label=label.replace("[?]", ""),
        help=_cure(e, node, a, b),
    )


def _ordered(e: Elaborator, node: se.Binary, env: TypeEnv) -> ir.Expr:
    """The IR of `<` and the like."""
    left, right = pair(e, node.left, node.right, env)
    common = unify(e, left.type, right.type)
    if common is None:
        return mixed(e, node, left.type, right.type)
    if not t.is_ordered(common) and common != t.UNKNOWN:
        help_ = (
            "members of a sort are interchangeable: compare numbers that they carry"
            if isinstance(common, t.Sort)
            else "compare numbers in it"
        )
        if isinstance(common, t.Set):
            ends = (node.left, node.right) if node.op in {"<", "<="} else (node.right, node.left)
            less, more = (e.problems.shown(end.span) for end in ends)
            help_ = f"write `{less} subset {more}`"
            if node.op in {"<", ">"}:
                help_ += f" and `{less} != {more}`"
        return e.fail("R0316", node.span, f"{an(common)} has no order", label=str(common), help=help_)
    operands = (left, right) if node.op in {"<", "<="} else (right, left)
    return ir.Apply(_COMPARE[node.op], operands, type=t.BOOL, span=node.span)


def _in(e: Elaborator, node: se.Binary, env: TypeEnv) -> ir.Expr:
    """The IR of `in`."""
    first = e.infer(node.left, env) if _needs_help(e, node.right) and not _needs_help(e, node.left) else None
    right = e.infer(node.right, env, None if first is None else t.Set(first.type))
    inner = t.element(right.type)
    if inner is None:
        if first is None:
            e.infer(node.left, env)
        message = f"{an(right.type)} has no members"
        return e.fail(
            "R0317",
            node.right.span,
            message,
            label=str(right.type),
            help="`in` asks a set, bag, seq or option",
        )
    left = e.infer(node.left, env, inner) if first is None else first
    if unify(e, left.type, inner) is None:
        return mixed(e, node, left.type, right.type)
    found = ir.Apply(Op.IN, (left, right), type=t.BOOL, span=node.span)
    return found if node.op == "in" else ir.Apply(Op.NOT, (found,), type=t.BOOL, span=node.span)


def _sum(e: Elaborator, node: se.Binary, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of `+` or `-` of numbers, sets, bags or (`+`) sequences."""
    left, right = pair(e, node.left, node.right, env, hint)
    match unify(e, left.type, right.type):
        case t.Int() | t.Range() | t.Nat():
            op = Op.ADD if node.op == "+" else Op.SUB
            of = typing.arithmetic(left.type, right.type) or t.INT
            return ir.Apply(op, (left, right), type=of, span=node.span)
        case t.Set() | t.Bag() as common:
            op = Op.UNION if node.op == "+" else Op.MINUS
            return ir.Apply(op, (left, right), type=common, span=node.span)
        case t.Seq() as common if node.op == "+":
            return ir.Apply(Op.CONCAT, (left, right), type=common, span=node.span)
        case t.UnknownType():
            return e.wrong(node.span)
        case _:
            return mixed(e, node, left.type, right.type)


def _sets(e: Elaborator, node: se.Binary, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of a set operator."""
    left, right = pair(e, node.left, node.right, env, hint)
    common = unify(e, left.type, right.type)
    if not isinstance(common, t.Set | t.UnknownType):
        return mixed(e, node, left.type, right.type)
    return ir.Apply(Op.INTERSECT, (left, right), type=common, span=node.span)


def _arithmetic(e: Elaborator, node: se.Binary, op: Op, env: TypeEnv) -> ir.Expr:
    """The IR of an arithmetic operator."""
    left, right = (e.check(x, t.INT, env, f"next to `{node.op}`") for x in (node.left, node.right))
    of = typing.arithmetic(left.type, right.type)
    return (
        mixed(e, node, left.type, right.type)
        if of is None
        else ir.Apply(op, (left, right), type=of, span=node.span)
    )


def _must_be(e: Elaborator, node: se.Expr, found: ir.Expr, kind: type[t.Type]) -> None:
    """Report an operand of another kind."""
    if not isinstance(found.type, kind | t.UnknownType):
        e.mismatch(node, found.type, t.Set(t.UNKNOWN))


def is_case(e: Elaborator, node: se.IsCase, env: TypeEnv) -> ir.Expr:
    """The IR of `m is Vote`."""
    found, case = e.infer(node.of, env), node.case
    if case.text not in e.declared.cases:
        help_ = suggest(case.text, e.declared.cases)
        if case.text.lower() in {"none", "null", "not"}:  # as in `x is not None`
            sign = "!=" if case.text == "not" else "=="
            help_ = f"write `{e.problems.shown(node.of.span)} {sign} none`"
        return e.fail("R0208", case.span, f"there is no case `{case.text}`", help=help_)
    union, ordinal = e.declared.cases[case.text]
    if isinstance(found.type, t.Option):
        help_ = f"it may be none: test it first (`x != none and x is {case.text}`)"
        return e.fail(
            "R0302",
            node.of.span,
            "this may be none, which is no case",
            label=str(found.type),
            help=help_,
            notes=env.why_unknown(node.of),
        )
    own = (
        found.type.union == union.name if isinstance(found.type, t.Case) else found.type in {union, t.UNKNOWN}
    )
    if not own:
        message = f"{an(found.type)} is never a `{case.text}`: that is a case of {union}"
        return e.fail("R0318", node.span, message, label=str(found.type))
    return ir.Is(found, ordinal, type=t.BOOL, span=node.span)


def if_else(e: Elaborator, node: se.IfElse, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of `if c then a else b`; each branch knows what the condition implies."""
    test, then, other = node.test, node.then, node.other
    condition = e.check(test, t.BOOL, env)
    yes, no = (env.knowing(e.facts(test, env, truth=truth)) for truth in (True, False))
    if _needs_help(e, then) and hint is None:
        b = e.infer(other, no)
        a = e.infer(then, yes, b.type)
    else:
        a = e.infer(then, yes, hint)
        b = e.infer(other, no, hint or a.type)
    common = unify(e, a.type, b.type)
    if common is None:
        message = f"the branches differ: {an(a.type)} and {an(b.type)}"
        return e.fail("R0319", node.span, message, help="both must be of one type")
    return ir.If(condition, a, b, type=common, span=node.span)


def _between(node: se.Binary, a: t.Type, b: t.Type) -> str:
    """Two types in words."""
    return f"{a}, {b}" if node.op in {"min", "max"} else f"{a} {node.op} {b}"


def _cure(e: Elaborator, node: se.Binary, a: t.Type, b: t.Type) -> str:
    """The remedy for two types that do not fit together."""
    op, right = node.op, e.problems.shown(node.right.span)
    match a, b:
        case (t.Set() | t.Bag() | t.Seq() as whole, other) | (
            other,
            t.Set() | t.Bag() | t.Seq() as whole,
        ) if t.is_number(other) and not typing.fits(other, whole.of):
            return "`size(…)` is how many members it has"
        case (t.Option(inner), other) | (other, t.Option(inner)) if inner == other:
            return "one side may be none: write `the(…)`, or test it against none first"
        case (t.Set() | t.Bag(), t.Seq()) | (t.Seq(), t.Set() | t.Bag()):
            seq = node.left if isinstance(a, t.Seq) else node.right
            return f"`{{x for x in {e.problems.shown(seq.span)}}}` is the set of what the sequence has"
        case (t.Seq(inner, _), other) if op == "+" and typing.fits(other, inner):
            return f"for one entry write `+ [{right}]`"
        case (t.Set(inner), other) if op in {"+", "-"} and typing.fits(other, inner):
            return f"for one member write `{op} {{{right}}}`"
        case (t.Bool(), t.Bool()) if op == "&":
            return "write `and`"
        case _:
            return ""
