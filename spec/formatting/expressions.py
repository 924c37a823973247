"""Expressions and types as documents: the fewest parentheses that keep their meaning."""

from __future__ import annotations

from typing import assert_never

import spec.syntax.expressions as se
from spec.formatting.documents import LINE, SOFT, Doc, Group, Nest, TextPiece, cat, flat, joined

# How tightly each form binds, loosest first; the grammar has a rule for each.
_IMPLIES, _OR, _AND, _NOT, _COMPARE, _RANGE, _SUM, _PRODUCT, _SIGN, _POSTFIX = range(1, 11)
_BINDS = {
    "implies": _IMPLIES,
    "or": _OR,
    "and": _AND,
    "..": _RANGE,
    "+": _SUM,
    "-": _SUM,
    "&": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "%": _PRODUCT,
}


def expression(node: se.Expr) -> Doc:
    """The document of an expression."""
    return _at(node, _IMPLIES, last=True)


def _at(node: se.Expr, least: int, *, last: bool) -> Doc:
    """The document of an expression, in parentheses if it binds less tightly than `least`.

    With `last` nothing follows it up to the next bracket or end, so
    a form which reaches as far right as it can needs no parentheses.
    """
    if isinstance(node, se.Quantified | se.LetIn | se.IfElse):
        return _open(node) if last and least <= _NOT else _bracketed(node)
    return _bracketed(node) if _binding(node) < least else _closed(node, last=last)


def _bracketed(node: se.Expr) -> Doc:
    """The document of an expression in parentheses."""
    return cat("(", Nest(1, expression(node)), ")")


def _binding(node: se.Expr) -> int:
    """How tightly an expression's operator binds."""
    match node:
        case se.Binary(op):
            return _BINDS.get(op, _COMPARE)
        case se.IsCase():
            return _COMPARE
        case se.Unary("not"):
            return _NOT
        case se.Unary():
            return _SIGN
        case _:
            return _POSTFIX


def _closed(node: se.Expr, *, last: bool) -> Doc:  # noqa: C901 - one case a node
    """The document of an expression without outer parentheses."""
    match node:
        case se.IntLit(value):
            return TextPiece(str(value))
        case se.BoolLit(value):
            return TextPiece("true" if value else "false")
        case se.NoneLit():
            return TextPiece("none")
        case se.Name(name):
            return TextPiece(name)
        case se.Call(name, args):
            return cat(name.text, _arguments(args))
        case se.Method(of, name, args):
            return cat(_of(of), ".", name.text, _arguments(args))
        case se.Get(of, name):
            return cat(_of(of), ".", name.text)
        case se.Index(of, index):
            return cat(_of(of), "[", expression(index), "]")
        case se.Upto(of, end):
            return cat(_of(of), "[..", _at(end, _SUM, last=False), "]")
        case se.From(of, start):
            return cat(_of(of), "[", _at(start, _SUM, last=False), "..]")
        case se.Unary("not", of):
            return cat("not ", _at(of, _NOT, last=last))
        case se.Unary(op, of):
            return cat(op, _at(of, _SIGN, last=False))
        case se.Binary():
            return _binary(node, last=last)
        case se.IsCase(of, case):
            return cat(_at(of, _RANGE, last=False), " is ", case.text)
        case se.SetLit(items):
            return _listed("{", [_at(item, _SUM, last=False) for item in items], "}")
        case se.SeqLit(items):
            return _listed("[", [expression(item) for item in items], "]")
        case se.TupleLit(items):
            return _listed("(", [expression(item) for item in items], ")")
        case se.Filter(of, where):
            return Group(cat("{", binder(of), Nest(2, cat(LINE, "where ", expression(where))), "}"))
        case se.Collect(body, binders, where):
            each = joined([", "], map(binder, binders))
            tail = cat("") if where is None else cat(LINE, "where ", expression(where))
            return Group(cat("{", _at(body, _SUM, last=False), Nest(2, cat(LINE, "for ", each, tail)), "}"))
        case se.MapComprehension(name, of, body):
            return cat("[", name.text, ": ", type_(of), " -> ", expression(body), "]")
        case se.Quantified() | se.LetIn() | se.IfElse():
            return _open(node)
        case _:
            assert_never(node)


def _of(node: se.Expr) -> Doc:
    """The document of an expression other than an operator chain."""
    return _at(node, _POSTFIX, last=False)


def _binary(node: se.Binary, *, last: bool) -> Doc:
    """The document of a chain of binary operators."""
    op, binds = node.op, _BINDS.get(node.op, _COMPARE)
    if op == "..":
        return cat(_at(node.left, _SUM, last=False), "..", _at(node.right, _SUM, last=False))
    if binds == _COMPARE:
        left, right = _at(node.left, _RANGE, last=False), _at(node.right, _RANGE, last=False)
        return Group(cat(left, f" {op}", Nest(2, cat(LINE, right))))
    if op == "implies":
        left, right = _at(node.left, _OR, last=False), _at(node.right, _IMPLIES, last=last)
        return Group(cat(left, Nest(2, cat(LINE, "implies ", right))))
    parts = _chain(node, op)
    made = [
        _operand(part, binds + (number > 0), op, last=last and number == len(parts) - 1)
        for number, part in enumerate(parts)
    ]
    first, rest = made[0], [cat(LINE, f"{op} ", part) for part in made[1:]]
    return Group(cat(first, Nest(2 if binds > _AND else 0, cat(*rest))))


def _operand(node: se.Expr, least: int, op: str, *, last: bool) -> Doc:
    """The document of an operand; an `and` in an `or` keeps its parentheses."""
    if op == "or" and isinstance(node, se.Binary) and node.op == "and":
        return _bracketed(node)
    return _at(node, least, last=last)


def _chain(node: se.Binary, op: str) -> list[se.Expr]:
    """The operands of `a op b op c`, which the parser groups to the left."""
    left = _chain(node.left, op) if isinstance(node.left, se.Binary) and node.left.op == op else [node.left]
    return [*left, node.right]


def _open(node: se.Quantified | se.LetIn | se.IfElse) -> Doc:
    """The document of a quantifier, `let` or `if`, which extend to the right."""
    match node:
        case se.Quantified(word, binders, where, body):
            each = joined([", "], map(binder, binders))
            tail = cat("") if where is None else cat(" where ", expression(where))
            return Group(cat(word, " ", each, tail, ".", Nest(2, cat(LINE, expression(body)))))
        case se.LetIn(name, value, body):
            return Group(cat("let ", name.text, " = ", expression(value), ".", LINE, expression(body)))
        case se.IfElse(test, then, other):
            head = cat("if ", expression(test), " then ", expression(then))
            return Group(cat(head, LINE, "else ", expression(other)))


def _arguments(args: tuple[se.Arg, ...]) -> Doc:
    """The document of arguments in parentheses."""
    made = [expression(a.value) if a.name is None else cat(a.name, " = ", expression(a.value)) for a in args]
    return _listed("(", made, ")")


def _listed(opens: str, parts: list[Doc], closes: str) -> Doc:
    """The document of a list in brackets."""
    if not parts:
        return TextPiece(opens + closes)
    return Group(cat(opens, Nest(2, cat(SOFT, joined([",", LINE], parts))), SOFT, closes))


def binder(node: se.Binder) -> Doc:
    """The document of a binder: `x: T`, `x in S`, `x: T in S`."""
    of = "" if node.type is None else f": {flat(type_(node.type))}"
    domain = cat("") if node.domain is None else cat(" in ", _at(node.domain, _RANGE, last=False))
    return cat(node.name.text, of, domain)


def type_(node: se.Type) -> Doc:
    """The document of a type."""
    match node:
        case se.NamedType(name):
            return TextPiece(name)
        case se.RangeType(lo, hi):
            return TextPiece(f"{lo}..{hi}")
        case se.EnumType(members):
            return Group(
                cat(
                    "{",
                    Nest(2, cat(LINE, joined([",", LINE], [TextPiece(m.text) for m in members]))),
                    LINE,
                    "}",
                )
            )
        case se.OptionType(of):
            return cat(type_(of), "?")
        case se.TupleType(items):
            return cat("(", joined([", "], map(type_, items)), ")")
        case se.AppliedType(name, args, limit):
            end = "" if limit is None else f"; {limit if isinstance(limit, int) else limit.text}"
            return cat(name.text, "[", joined([", "], map(type_, args)), end, "]")
        case _:
            assert_never(node)
