"""Ways through expressions: what is directly in one, and all that is in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from spec.ir import (
    And,
    Apply,
    Bind,
    Config,
    Const,
    Did,
    Expr,
    Fit,
    If,
    Implies,
    Is,
    Let,
    Local,
    Make,
    MapOf,
    Members,
    Old,
    Or,
    Part,
    Var,
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that one is made of, in the order of their evaluation."""
    match expr:
        case Const() | Config() | Var() | Local() | Members():
            return ()
        case Apply(args=parts) | And(parts=parts) | Or(parts=parts) | Make(parts=parts) | Did(args=parts):
            return parts
        case Implies(left=left, right=right):
            return (left, right)
        case If(test=test, then=then, other=other):
            return (test, then, other)
        case Let(value=value, body=body):
            return (value, body)
        case Bind(domain=domain, where=where, body=body):
            return (domain, body) if where is None else (domain, where, body)
        case MapOf(body=body):
            return (body,)
        case Part(of=of) | Is(of=of) | Fit(of=of) | Old(of=of):
            return (of,)
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all that is in it, the whole before its parts."""
    yield expr
    for part in children(expr):
        yield from walk(part)
