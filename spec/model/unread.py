"""State variables that nothing reads: no guard, no property, no other variable's new value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from spec.frozen import This
from spec.model.ir import Assign, Expr, Model, Stmt, Variable
from spec.model.walk import expressions, expressions_before, variables_in, walk_statements


def unread(model: Model) -> tuple[Variable, ...]:
    """The variables without influence; what a picture shows and messages are left out.

    A variable that is read for its own new value alone, as a counter is, has none.  Linear in the model,
    the first time.
    """
    return _unread(This(model))


@lru_cache(maxsize=64)
def _unread(asked: This[Model]) -> tuple[Variable, ...]:
    """What `unread` returns, kept: each search of a series asks it of the same model."""
    model = asked.value
    read = {number for expr in _looked_at(model) for number in variables_in(expr)}
    for statement in _statements(model):
        own = statement.var if isinstance(statement, Assign) else None
        read |= {number for expr in expressions(statement) for number in variables_in(expr)} - {own}
    read |= {shown.variable for shown in model.display if shown.variable is not None}
    return tuple(
        variable
        for number, variable in enumerate(model.variables)
        if number not in read and variable.network is None
    )


def _looked_at(model: Model) -> Iterator[Expr]:
    """The expressions that are no part of a statement."""
    for action in model.actions:
        yield from expressions_before(action)
        yield from (part for part in action.says or () if isinstance(part, Expr))
    for prop in model.properties:
        yield from (expr for expr in (prop.expr, prop.goal) if expr is not None)


def _statements(model: Model) -> Iterator[Stmt]:
    """All statements, nested ones included."""
    yield from walk_statements(model.init)
    for action in model.actions:
        yield from walk_statements(action.body)
