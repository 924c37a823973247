"""A small protocol to extend, and the intermediate representation as short texts."""

from __future__ import annotations

import pytest

from spec.diagnostics import SpecError
from spec.load import loads
from spec.model import ir

BASE = """protocol toy
sort Replica
nat  Epoch, Offset
union Msg { Vote(term: Epoch, to: Replica), Ack(at: Offset, term: Epoch), Ping(term: Epoch) }
state { leader: Replica? = none  epoch: Epoch = 0 }
process Replica {
  durable  log: seq[Epoch; Offset] = []
  volatile hw:  Offset             = 0
  volatile ok:  bool               = true
  durable  vote: Epoch?            = none
}
"""
CACHED = BASE.replace("durable  log", "cached   log")


def only(text: str) -> ir.Model:
    (found,) = loads(text)
    return found


def codes(text: str) -> list[str]:
    with pytest.raises(SpecError) as found:
        loads(text)
    return [d.code for d in found.value.diagnostics]


def shown(node: object, model: ir.Model) -> str:  # noqa: C901 - one case a node
    """IR as short text: `$0` a slot, `Replica.log` a variable, operations as calls."""

    def all_of(nodes: tuple[object, ...]) -> str:
        return ", ".join(shown(n, model) for n in nodes)

    match node:
        case ir.Const(value):
            return str(value)
        case ir.Config(name):
            return f"config {name}"
        case ir.Var(index):
            return model.variables[index].name
        case ir.Local(slot):
            return f"${slot}"
        case ir.Apply(op, args):
            return f"{op.value}({all_of(args)})"
        case ir.And(parts):
            return f"and({all_of(parts)})"
        case ir.Or(parts):
            return f"or({all_of(parts)})"
        case ir.Implies(left, right):
            return f"implies({all_of((left, right))})"
        case ir.If(test, then, other):
            return f"if({all_of((test, then, other))})"
        case ir.Let(slot, _, value, body):
            return f"let ${slot} = {shown(value, model)}. {shown(body, model)}"
        case ir.Members(of):
            return f"all {of}"
        case ir.Bind(kind, slot, _, domain, where, body, case):
            narrowed = "" if case is None else f" case {case}"
            kept = "" if where is None else f" where {shown(where, model)}"
            return f"{kind.value} ${slot} in {shown(domain, model)}{narrowed}{kept}. {shown(body, model)}"
        case ir.MapOf(slot, _, body):
            return f"map ${slot}. {shown(body, model)}"
        case ir.Make(parts, made):
            return f"make{'' if made is None else f' case {made}'}({all_of(parts)})"
        case ir.Part(of, index, case):
            return f"{shown(of, model)}.{index}{'' if case is None else f' case {case}'}"
        case ir.Is(of, case):
            return f"{shown(of, model)} is {case}"
        case ir.Fit(of):
            return f"fit {shown(of, model)}"
        case ir.Old(of):
            return f"old({shown(of, model)})"
        case ir.Did(action, args):
            return f"did {action}({all_of(args)})"
        case ir.Guard(name, test):
            return f"require {name}: {shown(test, model)}"
        case ir.Bound(slot, _, value):
            return f"${slot} = {shown(value, model)}"
        case ir.Assign(var, path, value):
            keys = "".join(
                f"[{shown(p.key, model)}]" if isinstance(p, ir.Key) else f".{p.index}" for p in path
            )
            return f"{model.variables[var].name}{keys} := {shown(value, model)}"
        case ir.Branch(test, then, other):
            return f"if {shown(test, model)} {{{all_of(then)}}} else {{{all_of(other)}}}"
        case ir.Each(slot, _, domain, body):
            return f"for ${slot} in {shown(domain, model)} {{{all_of(body)}}}"
        case ir.Choose(slot, _, domain, where):
            kept = "" if where is None else f" where {shown(where, model)}"
            return f"choose ${slot} in {shown(domain, model)}{kept}"
        case ir.Assert(name, test):
            return f"assert {name}: {shown(test, model)}"
        case str(text):
            return repr(text)
        case _:
            raise AssertionError(node)


def prop(text: str, base: str = BASE) -> str:
    """The expression of the one property of a model."""
    model = only(base + text)
    return shown(model.properties[0].expr, model)


def body(text: str, base: str = BASE) -> list[str]:
    """The statements of the first action of a model."""
    model = only(base + text)
    return [shown(statement, model) for statement in model.actions[0].body]


def head(text: str, base: str = BASE) -> list[str]:
    """Guards and `let`s at the start of the first action."""
    model = only(base + text)
    return [shown(part, model) for part in model.actions[0].head]
