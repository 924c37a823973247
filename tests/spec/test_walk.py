"""An expression with other parts is itself, or what it would be with these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spec.ir import Const, Expr, Model
from spec.load import load
from spec.walk import children, walk, with_parts

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
