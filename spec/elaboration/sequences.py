"""Taking an entry out of a sequence, in the operations that the representation has."""

from __future__ import annotations

from typing import Protocol

import spec.model.ir as ir
import spec.model.types as t
from spec.model.op import Op, Quantifier
from spec.source import Span


class FreshSlots(Protocol):
    """An allocator of slots."""

    def slot(self) -> int:
        """A fresh slot."""


def remove_first(frame: FreshSlots, now: ir.Expr, value: ir.Expr, span: Span) -> ir.Expr:
    """The IR of a seq without its first entry equal to `value`; an error of the model if none is."""
    slot = frame.slot()
    zero, one = (ir.Const(n, type=t.INT, span=span) for n in (0, 1))
    size = ir.Apply(Op.SIZE, (now,), type=t.INT, span=span)
    offsets = ir.Apply(
        Op.RANGE,
        (zero, ir.Apply(Op.SUB, (size, one), type=t.INT, span=span)),
        type=t.Set(t.INT),
        span=span,
    )
    at = ir.Local(slot, type=t.INT, span=span)
    entry = ir.Apply(Op.INDEX, (now, at), type=t.element(now.type) or t.UNKNOWN, span=span)
    same = ir.Apply(Op.EQ, (entry, value), type=t.BOOL, span=span)
    first = ir.Bind(Quantifier.MIN, slot, "at", offsets, same, at, type=t.INT, span=span)
    return remove_at(frame, now, first, span)


def remove_at(frame: FreshSlots, now: ir.Expr, index: ir.Expr, span: Span) -> ir.Expr:
    """The IR of a seq without the entry at an offset."""
    slot = frame.slot()
    at = ir.Local(slot, type=t.INT, span=span)
    after = ir.Apply(Op.ADD, (at, ir.Const(1, type=t.INT, span=span)), type=t.INT, span=span)
    left = ir.Apply(Op.TAKE, (now, at), type=now.type, span=span)
    right = ir.Apply(Op.DROP, (now, after), type=now.type, span=span)
    joined = ir.Apply(Op.CONCAT, (left, right), type=now.type, span=span)
    return ir.Let(slot, "at", index, joined, type=now.type, span=span)
