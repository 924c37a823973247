"""An expression or statement with other parts is itself, or what it would be with these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spec.load import load
from spec.model.ir import Choose, Const, Expr, Model, Stmt
from spec.model.types import BOOL, Map, Nat, Option, Set, Sort, Tuple, walk_type
from spec.model.walk import (
    blocks,
    children,
    chooses,
    expressions,
    walk,
    walk_statements,
    with_expressions,
    with_parts,
)

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def every() -> list[Expr]:
    """An expression of each class, and more, with all that is in it."""
    (model, *_) = load(ROOT / "tests/spec/everything.rsm")
    return [part for whole in _wholes(model) for part in walk(whole)]


def _wholes(model: Model) -> Iterator[Expr]:
    for prop in model.properties:
        yield from (expr for expr in (prop.expr, prop.goal) if expr is not None)
    for action in model.actions:
        yield from (param.domain for param in action.params)


def test_with_the_same_parts_it_is_itself(every: list[Expr]) -> None:
    assert all(with_parts(expr, lambda part: part) is expr for expr in every)


def test_with_other_parts_it_has_these_in_their_order(every: list[Expr]) -> None:
    for expr in every:
        others = [Const(number, type=part.type, span=part.span) for number, part in enumerate(children(expr))]
        left = iter(others)
        made = with_parts(expr, lambda _, left=left: next(left))  # type: ignore[misc]

        assert list(children(made)) == others
        assert type(made) is type(expr)


def test_with_equal_parts_it_is_equal(every: list[Expr]) -> None:
    assert all(with_parts(expr, replace) == expr for expr in every)


# ------------------------------------------------------------------- statements


@pytest.fixture(scope="module")
def bodies() -> list[tuple[Stmt, ...]]:
    """The bodies of actions, with statements of each class."""
    models = load(ROOT / "tests/spec/everything.rsm")
    return [action.body for model in models for action in model.actions]


def test_statements_are_of_every_class(bodies: list[tuple[Stmt, ...]]) -> None:
    found = {type(each) for body in bodies for each in walk_statements(body)}

    assert found == set(Stmt.__args__)


def test_a_statement_stands_before_those_in_it(bodies: list[tuple[Stmt, ...]]) -> None:
    for body in bodies:
        every = [*walk_statements(body)]
        inner = [each for block in blocks(every[0]) for each in block] if every else []

        assert [id(each) for each in every[1:2]] == [id(each) for each in [*inner, *body[1:]][:1]]


def test_a_statement_chooses_if_one_in_it_does(bodies: list[tuple[Stmt, ...]]) -> None:
    for statement in (each for body in bodies for each in body):
        inside = any(chooses(each) for block in blocks(statement) for each in block)

        assert chooses(statement) == (isinstance(statement, Choose) or inside)


def test_a_statement_with_equal_expressions_is_equal(bodies: list[tuple[Stmt, ...]]) -> None:
    assert all(with_expressions(each, replace) == each for body in bodies for each in body)


def test_a_statement_with_other_expressions_has_these(bodies: list[tuple[Stmt, ...]]) -> None:
    def other(expr: Expr) -> Expr:
        return Const(None, type=expr.type, span=expr.span)

    for body in bodies:
        made = [with_expressions(each, other) for each in body]
        inside = [expr for each in walk_statements(made) for expr in expressions(each)]
        before = [expr for each in walk_statements(body) for expr in expressions(each)]

        assert inside == list(map(other, before))


# ------------------------------------------------------------------------ types


def test_a_type_stands_before_those_in_it_and_keys_are_no_part() -> None:
    pair = Tuple((BOOL, Option(Nat("epoch"))))
    whole = Map(Sort("Server"), Set(pair))

    assert [*walk_type(whole)] == [whole, Set(pair), pair, BOOL, Option(Nat("epoch")), Nat("epoch")]
