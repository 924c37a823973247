"""Parts of values: fields, entries, slices."""

from __future__ import annotations

import spec.elaboration.references as references
import spec.elaboration.typing as typing
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.diagnostics import suggest
from spec.elaboration.elaborator import Elaborator
from spec.elaboration.scopes import TypeEnv
from spec.model.op import Op
from spec.source import Span
from spec.wording import an, listed


def get(e: Elaborator, node: se.Get, env: TypeEnv) -> ir.Expr:
    """The IR of `r.log`."""
    if isinstance(node.of, se.Name) and references.is_type(e, node.of):
        return references.part_of_a_type(e, node.of, node.name, node.span)
    of = e.infer(node.of, env)
    name = node.name.text
    match of.type:
        case t.Sort(sort):
            own = e.declared.fields.get(sort, {})
            if name not in own:
                return _no_part(e, node, of.type, list(own))
            return _lookup(references.variable(e, own[name], node.span), of, node.span)
        case t.Record(_, fields):
            return _part(e, node, of, fields, None)
        case t.Case(_, case, fields):
            found = e.declared.cases.get(case)
            return _part(e, node, of, fields, found[1] if found else None)
        case t.Union():
            return _common_part(e, node, of, of.type)
        case t.Option(inner):
            help_ = f"test it first (`… != none and …`), bind it (`x in …`), or write `the(…).{name}`"
            return e.fail(
                "R0302",
                node.of.span,
                f"this may be none, which has no `{name}`",
                label=f"{inner}?",
                help=help_,
                notes=env.why_unknown(node.of),
            )
        case t.UnknownType():
            return e.wrong(node.span)
        case _:
            return _no_part(e, node, of.type, [])


def _no_part(e: Elaborator, node: se.Get, of: t.Type, names: list[str]) -> ir.Expr:
    """Report an unknown field."""
    name = node.name.text
    help_ = suggest(name, names) or (f"it has {listed(names)}" if names else "")
    if isinstance(of, t.Set | t.Seq | t.Bag | t.Map):
        help_ = references.counterpart(e, name, node.of.span)
    return e.fail("R0314", node.name.span, f"{an(of)} has no `{node.name.text}`", help=help_)


def _part(e: Elaborator, node: se.Get, of: ir.Expr, fields: tuple[t.Field, ...], case: int | None) -> ir.Expr:
    """The IR of a field by name."""
    for index, part in enumerate(fields):
        if part.name == node.name.text:
            return ir.Part(of, index, case, type=part.type, span=node.span)
    return _no_part(e, node, of.type, [f.name for f in fields])


def _common_part(e: Elaborator, node: se.Get, of: ir.Expr, union: t.Union) -> ir.Expr:
    """The IR of a field that every case of a union has, by position or by case."""
    name = node.name.text
    places = [
        next(((i, f.type) for i, f in enumerate(c.fields) if f.name == name), None) for c in union.cases
    ]
    have = [c.name for c, place in zip(union.cases, places, strict=True) if place is not None]
    if len(have) < len(places):
        help_ = f"only {listed(have)} has it: test `m is {have[0]}` first" if have else ""
        return e.fail("R0314", node.name.span, f"not every {union} has `{name}`", help=help_)
    found = [place for place in places if place is not None]
    if any(of_type != found[0][1] for _, of_type in found):
        return e.fail("R0314", node.name.span, f"`{name}` has different types in the cases of {union}")
    if len({index for index, _ in found}) == 1:
        return ir.Part(of, found[0][0], None, type=found[0][1], span=node.span)
    slot = e.frame.slot()
    whole = ir.Local(slot, type=union, span=node.span)
    parts = [ir.Part(whole, i, c, type=ft, span=node.span) for c, (i, ft) in enumerate(found)]
    chain: ir.Expr = parts[-1]
    for case in reversed(range(len(parts) - 1)):
        test = ir.Is(whole, case, type=t.BOOL, span=node.span)
        chain = ir.If(test, parts[case], chain, type=chain.type, span=node.span)
    return ir.Let(slot, "m", of, chain, type=chain.type, span=node.span)


def _lookup(of: ir.Expr, key: ir.Expr, span: Span) -> ir.Expr:
    """The IR of a look-up in a map."""
    assert isinstance(of.type, t.Map)
    return ir.Apply(Op.LOOKUP, (of, key), type=of.type.value, span=span)


def entry(e: Elaborator, node: se.Index, env: TypeEnv) -> ir.Expr:
    """The IR of `log[i]`."""
    of, index = node.of, node.index
    found = e.infer(of, env)
    match found.type:
        case t.Map(key, _):
            return _lookup(found, e.check(index, key, env, "as the key"), node.span)
        case t.Seq(inner):
            at = e.check(index, typing.length(found.type), env, "as an offset")
            return ir.Apply(Op.INDEX, (found, at), type=inner, span=node.span)
        case t.UnknownType():
            e.infer(index, env)
            return e.wrong(node.span)
        case _:
            e.infer(index, env)
            message = f"{an(found.type)} has no entries to pick"
            return e.fail("R0315", of.span, message, label=str(found.type), help="`[…]` is for seq and map")


def sliced(e: Elaborator, node: se.Upto | se.From, bound: se.Expr, env: TypeEnv) -> ir.Expr:
    """The IR of `log[..n]` and `log[n..]`."""
    of = node.of
    found = e.infer(of, env)
    if not isinstance(found.type, t.Seq | t.UnknownType):
        e.mismatch(of, found.type, t.Seq(t.UNKNOWN, None))
        return e.wrong(node.span)
    at = e.check(bound, typing.length(found.type), env, "as an offset")
    op = Op.TAKE if isinstance(node, se.Upto) else Op.DROP
    return ir.Apply(op, (found, at), type=found.type, span=node.span)
