"""The faults that come with a network, as actions: what a hand-written model would say of them."""

from __future__ import annotations

import spec.model.ir as ir
import spec.model.types as t
from spec.elaboration.names import Declarations
from spec.elaboration.sequences import remove_at
from spec.model.op import Op
from spec.source import Span


class _Slots:
    """Counts slots, for generated actions."""

    def __init__(self) -> None:
        self.slots = 0

    def slot(self) -> int:
        """A fresh slot."""
        self.slots += 1
        return self.slots - 1


def network_faults(declared: Declarations) -> tuple[ir.Action, ...]:
    """The fault actions `net.drop`, `net.duplicate`, `net.reorder` of each network that declares them."""
    return tuple(
        _fault(declared, name, item.mode.text, fault.text, fault.span)
        for name, item in declared.networks.items()
        for fault in item.faults
    )


def _fault(declared: Declarations, name: str, mode: str, fault: str, span: Span) -> ir.Action:
    """The action of a network's fault."""
    slots, variable = _Slots(), declared.variables[name]
    channel: ir.Expr = ir.Var(variable.index, type=variable.type, span=span)
    params: list[ir.Param] = []
    path: list[ir.Key | ir.At] = []
    while isinstance(of := channel.type, t.Map):
        slot, key = slots.slot(), of.key
        domain = ir.Members(key, type=t.Set(key), span=span)
        params.append(ir.Param(f"c{len(params) + 1}", slot, key, domain, span=span))
        at = ir.Local(slot, type=key, span=span)
        path.append(ir.Key(at))
        channel = ir.Apply(Op.LOOKUP, (channel, at), type=of.value, span=span)
    slot = slots.slot()
    message, body, taken = (
        _fifo(slots, channel, slot, fault, span) if mode == "fifo" else _loose(channel, slot, fault, span)
    )
    params.append(message)
    fitted = ir.Fit(body, type=channel.type, span=span)
    assign = ir.Assign(variable.index, tuple(path), fitted, span=span)
    verb = {"drop": "loses", "duplicate": "delivers twice", "reorder": "lets overtake:"}.get(fault, fault)
    says: ir.Says = (f"the network {name} {verb} ", taken)
    kind, fair = ir.Kind.FAULT, ir.Fairness.NONE
    return ir.Action(
        f"{name}.{fault}", kind, fair, tuple(params), (), (assign,), slots.slots, says, span=span
    )


def _loose(channel: ir.Expr, slot: int, fault: str, span: Span) -> tuple[ir.Param, ir.Expr, ir.Expr]:
    """For a set or bag: the parameter (a message), the guard, and the channel after the fault."""
    assert isinstance(channel.type, t.Set | t.Bag)
    inner = channel.type.of
    param = ir.Param("m", slot, inner, channel, span=span)
    message = ir.Local(slot, type=inner, span=span)
    of: t.Type = t.Set(inner) if isinstance(channel.type, t.Set) else t.Bag(inner, None)
    one = ir.Make((message,), type=of, span=span)
    op = Op.MINUS if fault == "drop" else Op.UNION
    return param, ir.Apply(op, (channel, one), type=channel.type, span=span), message


def _fifo(
    slots: _Slots, channel: ir.Expr, slot: int, fault: str, span: Span
) -> tuple[ir.Param, ir.Expr, ir.Expr]:
    """For a queue: the parameter (an offset), the guard, and the channel after the fault."""
    assert isinstance(channel.type, t.Seq)
    at = ir.Local(slot, type=t.INT, span=span)
    one = ir.Const(1, type=t.INT, span=span)
    first = one if fault == "reorder" else ir.Const(0, type=t.INT, span=span)
    size = ir.Apply(Op.SIZE, (channel,), type=t.INT, span=span)
    last = ir.Apply(Op.SUB, (size, one), type=t.INT, span=span)
    domain = ir.Apply(Op.RANGE, (first, last), type=t.Set(t.INT), span=span)
    param = ir.Param("at", slot, t.INT, domain, span=span)
    message = ir.Apply(Op.INDEX, (channel, at), type=channel.type.of, span=span)
    alone = ir.Make((message,), type=t.Seq(channel.type.of, None), span=span)
    without = remove_at(slots, channel, at, span)
    match fault:
        case "drop":
            body = without
        case "reorder":
            body = ir.Apply(Op.CONCAT, (alone, without), type=channel.type, span=span)
        case _:
            head = ir.Apply(Op.TAKE, (channel, at), type=channel.type, span=span)
            tail = ir.Apply(Op.DROP, (channel, at), type=channel.type, span=span)
            twice = ir.Apply(Op.CONCAT, (head, alone), type=channel.type, span=span)
            body = ir.Apply(Op.CONCAT, (twice, tail), type=channel.type, span=span)
    return param, body, message
