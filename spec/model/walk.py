"""Ways through expressions and statements: what is directly in one, all that is in one, one with other parts.

Those through types are in `spec/model/types.py`: `parts` and `walk_type`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from spec.model.ir import (
    Action,
    And,
    Apply,
    Assert,
    Assign,
    At,
    Bind,
    Bound,
    Branch,
    Choose,
    Config,
    Const,
    Did,
    Each,
    Expr,
    Fit,
    If,
    Implies,
    Is,
    Key,
    Let,
    Local,
    Make,
    MapOf,
    Members,
    Old,
    Or,
    Part,
    Stmt,
    Var,
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions in order of evaluation."""
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
    """The expression and all subexpressions, outer ones first."""
    yield expr
    for part in children(expr):
        yield from walk(part)


def variables_in(expr: Expr) -> frozenset[int]:
    """The state variables that an expression reads, by their indexes in the model."""
    return frozenset(part.index for part in walk(expr) if isinstance(part, Var))


def with_parts(expr: Expr, other: Callable[[Expr], Expr]) -> Expr:
    """The expression with each direct subexpression mapped by `other`."""
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


# ------------------------------------------------------------------- statements


def blocks(statement: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The blocks of statements directly in a statement."""
    match statement:
        case Branch(then=then, other=other):
            return (then, other)
        case Each(body=body):
            return (body,)
        case Assign() | Bound() | Choose() | Assert():
            return ()
        case _:
            assert_never(statement)


def walk_statements(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    """The statements and all nested ones, in textual order."""
    for statement in statements:
        yield statement
        for block in blocks(statement):
            yield from walk_statements(block)


def free_slots(expr: Expr) -> set[int]:
    """The slots that an expression reads and does not bind."""
    own = {each.slot for each in walk(expr) if isinstance(each, Bind | Let | MapOf)}
    return {each.slot for each in walk(expr) if isinstance(each, Local)} - own


def chooses(statement: Stmt) -> bool:
    """Whether a statement contains a `choose`, so that it has several outcomes."""
    return any(isinstance(each, Choose) for each in walk_statements((statement,)))


def expressions(statement: Stmt) -> tuple[Expr, ...]:
    """The expressions directly in a statement; for an assignment the keys first."""
    match statement:
        case Assign(path=path, value=value):
            return (*(step.key for step in path if isinstance(step, Key)), value)
        case Bound(value=value):
            return (value,)
        case Branch(test=test) | Assert(test=test):
            return (test,)
        case Each(domain=domain):
            return (domain,)
        case Choose(domain=domain, where=where):
            return (domain,) if where is None else (domain, where)
        case _:
            assert_never(statement)


def expressions_before(action: Action) -> tuple[Expr, ...]:
    """The expressions before an action's body: the domains of its parameters, then those of its head."""
    head = (part.value if isinstance(part, Bound) else part.test for part in action.head)
    return (*(param.domain for param in action.params), *head)


def expressions_of(action: Action) -> tuple[Expr, ...]:
    """The expressions of an action: those before its body, then those in it."""
    body = (expr for statement in walk_statements(action.body) for expr in expressions(statement))
    return (*expressions_before(action), *body)


def with_expressions(statement: Stmt, other: Callable[[Expr], Expr]) -> Stmt:
    """The statement with each expression in it, or in a nested statement, mapped by `other`."""

    def step(old: Key | At) -> Key | At:
        return replace(old, key=other(old.key)) if isinstance(old, Key) else old

    def block(old: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(with_expressions(each, other) for each in old)

    match statement:
        case Assign(path=path, value=value):
            return replace(statement, path=tuple(map(step, path)), value=other(value))
        case Bound(value=value):
            return replace(statement, value=other(value))
        case Branch(test=test, then=then, other=otherwise):
            return replace(statement, test=other(test), then=block(then), other=block(otherwise))
        case Each(domain=domain, body=body):
            return replace(statement, domain=other(domain), body=block(body))
        case Choose(domain=domain, where=where):
            return replace(statement, domain=other(domain), where=None if where is None else other(where))
        case Assert(test=test):
            return replace(statement, test=other(test))
        case _:
            assert_never(statement)
