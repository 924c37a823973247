"""Expressions with their text: what a candidate lemma is made of, for engines and for people at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import spec.model.ir as ir
import spec.model.types as t
from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.source import Span

NOWHERE = Span(0, 0)
OPPOSITES = {Op.EQ: "!=", Op.LT: ">=", Op.LE: ">", Op.IN: "not in"}


@frozen
class Phrase:
    """An expression, its text, and how large it is to a reader; `opposite` is the text of its negation.

    A condition `is_rising` if it says that there are many of something; lemmas never say the opposite.
    """

    expr: ir.Expr
    text: str
    weight: int = 1
    opposite: str = ""
    is_rising: bool = False

    @property
    def type(self) -> t.Type:
        """The type of the expression."""
        return self.expr.type

    def said(self, *, positive: bool) -> str:
        """The text of a condition or of its negation."""
        return self.text if positive else self.opposite or f"not {self.text}"


def constant(value: ir.Value, of: t.Type, text: str) -> Phrase:
    """A constant of a type."""
    return Phrase(ir.Const(value, type=of, span=NOWHERE), text, 0)


def variable(index: int, of: t.Type, text: str) -> Phrase:
    """A state variable."""
    return Phrase(ir.Var(index, type=of, span=NOWHERE), text)


def local(slot: int, of: t.Type, text: str) -> Phrase:
    """A bound name."""
    return Phrase(ir.Local(slot, type=of, span=NOWHERE), text, 0)


def part(of: Phrase, index: int, field: t.Field, case: int | None = None) -> Phrase:
    """A field of a record, or of a union known to be of a case."""
    return Phrase(
        ir.Part(of.expr, index, case, type=field.type, span=NOWHERE), f"{of.text}.{field.name}", of.weight + 1
    )


def entry(of: Phrase, key: Phrase, text: str) -> Phrase:
    """An entry of a map; `text` is how it is written."""
    assert isinstance(of.type, t.Map)
    return Phrase(applied(Op.LOOKUP, of.type.value, of, key), text, of.weight + key.weight)


def made(parts: Sequence[Phrase], union: t.Union, case: int) -> Phrase:
    """A value of a case of a union."""
    one = union.cases[case]
    named = [
        f"{field.name} = {each.text}" if isinstance(field.type, t.Bool) else each.text
        for field, each in zip(one.fields, parts, strict=True)
    ]
    expr = ir.Make(tuple(each.expr for each in parts), case, type=union, span=NOWHERE)
    text = f"{one.name}({', '.join(named)})" if named else one.name
    return Phrase(expr, text, 1 + sum(each.weight for each in parts))


def size(of: Phrase) -> Phrase:
    """The size of a collection."""
    limit = of.type.limit if isinstance(of.type, t.Seq) else None
    counted: t.Type = t.Nat(limit.of) if limit is not None and isinstance(limit.of, str) else t.INT
    return Phrase(applied(Op.SIZE, counted, of), f"size({of.text})", of.weight + 1)


def compared(op: Op, a: Phrase, b: Phrase) -> Phrase:
    """The condition that two values are in a relation."""
    weight = max(1, a.weight + b.weight)
    if op in OPPOSITES:
        opposite = f"{a.text} {OPPOSITES[op]} {b.text}"
        return Phrase(applied(op, t.BOOL, a, b), f"{a.text} {op.value} {b.text}", weight, opposite)
    if op is Op.STARTS:
        return Phrase(applied(op, t.BOOL, a, b), f"starts_with({a.text}, {b.text})", weight)
    assert op is Op.SUBSET
    return Phrase(applied(op, t.BOOL, a, b), f"({a.text} subset {b.text})", weight)


def applied(op: Op, of: t.Type, *args: Phrase) -> ir.Expr:
    """The expression of an operator with a result of type `of`."""
    return ir.Apply(op, tuple(each.expr for each in args), type=of, span=NOWHERE)


def negated(expr: ir.Expr) -> ir.Expr:
    """The expression that another one is false."""
    return ir.Apply(Op.NOT, (expr,), type=t.BOOL, span=NOWHERE)


def any_of(parts: Sequence[ir.Expr]) -> ir.Expr:
    """The expression that one of the parts is true."""
    return parts[0] if len(parts) == 1 else ir.Or(tuple(parts), type=t.BOOL, span=NOWHERE)


def members_where(name: str, slot: int, sort: t.Sort, where: ir.Expr, text: str) -> Phrase:
    """The set of the members of a sort that satisfy a condition."""
    of = t.Set(sort)
    expr = ir.Bind(
        Quantifier.SET,
        slot,
        name,
        ir.Members(sort, type=of, span=NOWHERE),
        where,
        ir.Local(slot, type=sort, span=NOWHERE),
        type=of,
        span=NOWHERE,
    )
    return Phrase(expr, f"{{{name} in {sort.name} where {text}}}", 2)


def for_all(name: str, slot: int, domain: ir.Expr, body: ir.Expr, case: int | None = None) -> ir.Expr:
    """The expression that the body is true for each member of a domain."""
    return ir.Bind(Quantifier.FORALL, slot, name, domain, None, body, case, type=t.BOOL, span=NOWHERE)


def of_type(phrases: Iterable[Phrase], of: t.Type) -> list[Phrase]:
    """The phrases of a type."""
    return [each for each in phrases if each.type == of]
