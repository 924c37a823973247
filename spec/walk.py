"""Ways through expressions: what is directly in one, all that is in one, and one with other parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
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


def with_parts(expr: Expr, other: Callable[[Expr], Expr]) -> Expr:
    """The expression with another in place of each that is directly in it; itself where none differs."""
    old = children(expr)
    new = tuple(map(other, old))
    if all(one is two for one, two in zip(old, new, strict=True)):
        return expr
    match expr:
        case Apply() | Did():
            return replace(expr, args=new)
        case And() | Or() | Make():
            return replace(expr, parts=new)
        case Implies():
            return replace(expr, left=new[0], right=new[1])
        case If():
            return replace(expr, test=new[0], then=new[1], other=new[2])
        case Let():
            return replace(expr, value=new[0], body=new[1])
        case Bind():
            return replace(expr, domain=new[0], where=None if expr.where is None else new[1], body=new[-1])
        case MapOf():
            return replace(expr, body=new[0])
        case Part() | Is() | Fit() | Old():
            return replace(expr, of=new[0])
        case Const() | Config() | Var() | Local() | Members():
            raise AssertionError(expr)  # it has no parts that could differ
        case _:
            assert_never(expr)
