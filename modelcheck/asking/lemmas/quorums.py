"""The model's own questions about the size of a set of members, such as whether it is a majority.

They are taken from the guards and properties, and may be asked of any other set of the same sort.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.phrases import Phrase, members_where, negated
from spec.frozen import frozen
from spec.model.op import Op
from spec.model.walk import walk, with_parts

WORDS = {Op.LT: "<", Op.LE: "<=", Op.EQ: "==", Op.MUL: "*", Op.ADD: "+", Op.SUB: "-", Op.DIV: "/"}
OPPOSITES = {Op.LT: ">=", Op.LE: ">", Op.EQ: "!="}


@frozen
class SizeQuestion:
    """A question about the size of a set of members of a sort: `test`, in which HOLE is the size."""

    sort: t.Sort
    test: ir.Apply

    @property
    def is_of_many(self) -> bool:
        """Whether it is true of every set that contains one of which it is true."""
        return self.test.op is not Op.EQ and _has_hole(self.test.args[1]) and not _has_hole(self.test.args[0])

    def of(self, of: Phrase) -> Phrase:
        """The question asked of a set."""
        text = f"size({of.text})"
        asked = _filled(self.test, of.expr)
        a, b = (_text(each, text) for each in self.test.args)
        return Phrase(
            asked, f"{a} {WORDS[self.test.op]} {b}", of.weight + 2, f"{a} {OPPOSITES[self.test.op]} {b}"
        )

    def of_those(self, name: str, slot: int, condition: Phrase, *, positive: bool) -> Phrase:
        """The question asked of the members for which a condition is true, or false."""
        where = condition.expr if positive else negated(condition.expr)
        of = members_where(name, slot, self.sort, where, condition.said(positive=positive))
        asked = self.of(Phrase(of.expr, of.text, of.weight + condition.weight))
        return replace(asked, is_rising=True)


HOLE = -1  # the slot of the set whose size is asked for


def quorums(model: ir.Model) -> tuple[SizeQuestion, ...]:
    """The questions about sizes in a model's guards and properties, none twice."""
    found: dict[SizeQuestion, None] = {}
    for expr in _conditions(model):
        for each in walk(expr):
            for one in _question(each):
                found[one] = None
    return tuple(found)


def _conditions(model: ir.Model) -> Iterator[ir.Expr]:
    """The guards and invariants."""
    for action in model.actions:
        for guard in action.guards:
            yield guard.test
    for prop in model.properties:
        if prop.expr is not None:
            yield prop.expr


def _question(expr: ir.Expr) -> Iterator[SizeQuestion]:
    """The question of a comparison, if it is of a set's size with a number that no state changes."""
    if not isinstance(expr, ir.Apply) or expr.op not in (Op.LT, Op.LE, Op.EQ):
        return
    sets = dict.fromkeys(
        part.args[0]
        for part in walk(expr)
        if isinstance(part, ir.Apply) and part.op is Op.SIZE and not isinstance(part.args[0], ir.Members)
    )
    if len(sets) != 1:
        return
    (of,) = sets
    if not isinstance(of.type, t.Set) or not isinstance(of.type.of, t.Sort):
        return
    hole = ir.Local(HOLE, type=of.type, span=expr.span)

    def opened(part: ir.Expr) -> ir.Expr:
        return hole if part == of else with_parts(part, opened)

    test = with_parts(expr, opened)
    assert isinstance(test, ir.Apply)
    if all(_is_fixed(arg) for arg in test.args):
        yield SizeQuestion(of.type.of, test)
        if expr.op is Op.EQ:
            a, b = test.args if _has_hole(test.args[1]) else test.args[::-1]
            yield SizeQuestion(of.type.of, ir.Apply(Op.LE, (a, b), type=t.BOOL, span=expr.span))


def _has_hole(expr: ir.Expr) -> bool:
    """Whether the set is in an expression."""
    return any(isinstance(part, ir.Local) and part.slot == HOLE for part in walk(expr))


def _is_fixed(expr: ir.Expr) -> bool:
    """Whether an expression depends on nothing but the size of the set, the scope and the configuration."""
    match expr:
        case ir.Const() | ir.Config() | ir.Apply(op=Op.SIZE, args=(ir.Members(),)):
            return True
        case ir.Apply(op=Op.SIZE, args=(ir.Local(slot=slot),)):
            return slot == HOLE
        case ir.Apply(op=op, args=args) if op in WORDS:
            return all(map(_is_fixed, args))
        case _:
            return False


def _filled(expr: ir.Expr, of: ir.Expr) -> ir.Expr:
    """The question with a set in the place of the hole."""
    if isinstance(expr, ir.Local) and expr.slot == HOLE:
        return of
    return with_parts(expr, lambda part: _filled(part, of))


def _text(expr: ir.Expr, size: str) -> str:
    """The text of one side of the question."""
    match expr:
        case ir.Const(value=value):
            return str(value)
        case ir.Config(name=name):
            return name
        case ir.Apply(op=Op.SIZE, args=(ir.Members(of=sort),)):
            return f"size({sort})"
        case ir.Apply(op=Op.SIZE):
            return size
        case ir.Apply(op=op, args=(a, b)):
            return f"{_text(a, size)} {WORDS[op]} {_text(b, size)}"
        case _:
            raise AssertionError(f"no size is made of {type(expr).__name__}")
