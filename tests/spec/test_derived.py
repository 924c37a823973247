"""What rules say is what operations mean, on random values: the value, or an error in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.load import load
from spec.meaning.evaluate import FrameLayout, compiled
from spec.model.derived import RULES, CoreRewriter
from spec.model.ir import Apply, Expr, Local, Model, Value
from spec.model.op import Op
from spec.model.types import BOOL, INT, Bag, Enum, Limit, Option, Seq, Set, Tuple, Type, is_ordered
from spec.model.values import ModelError
from spec.model.walk import expressions, walk, walk_statements
from spec.source import Span
from tests.spec.typed_values import SCALARS, SCOPE, values

ROOT = Path(__file__).parent.parent.parent
OPS = {rule.op for rule in RULES}
ORDERED: list[Type] = [
    *filter(is_ordered, SCALARS),
    Tuple((BOOL, Enum("Colour", ("red", "green")))),
    INT,
]
ANY: list[Type] = [*SCALARS, *ORDERED, Option(BOOL), Set(SCALARS[0]), Seq(INT, Limit(3)), Tuple((INT, BOOL))]


def applied(op: Op) -> st.SearchStrategy[tuple[Type, tuple[Type, ...]]]:
    """The type of an operation's value, and those of its arguments."""
    ordered, any_ = st.sampled_from(ORDERED), st.sampled_from(ANY)
    match op:
        case Op.NE:
            return any_.map(lambda of: (BOOL, (of, of)))
        case Op.NEG:
            return st.just((INT, (INT,)))
        case Op.MIN2 | Op.MAX2:
            return ordered.map(lambda of: (of, (of, of)))
        case Op.SUBSET:
            return any_.map(Set).map(lambda of: (BOOL, (of, of)))
        case Op.INTERSECT:
            return any_.map(Set).map(lambda of: (of, (of, of)))
        case Op.ELEMENTS:
            collections = [Set, lambda of: Seq(of, None), lambda of: Bag(of, Limit(9)), Option]
            some = any_.filter(lambda of: not isinstance(of, Option))
            return st.builds(lambda of, by: (Set(of), (by(of),)), some, st.sampled_from(collections))
        case Op.LEAST | Op.GREATEST:
            return ordered.map(lambda of: (of, (Set(of),)))
        case _:
            raise AssertionError(op)


@st.composite
def applications(draw: st.DrawFn, op: Op) -> tuple[Apply, list[Value]]:
    """An operation whose arguments are names, or what may be an error; and a frame for it."""
    of, needed = draw(applied(op))
    args: list[Expr] = []
    frame: list[Value] = []
    for slot, each in enumerate(needed):
        place = Span(10 * slot, 10 * slot + 5)
        risky = not isinstance(each, Option) and draw(st.booleans())
        own = Option(each) if risky else each
        name = Local(slot, type=own, span=place)
        args.append(Apply(Op.THE, (name,), type=each, span=place) if risky else name)
        frame.append(draw(values(own)))
    if len(frame) == 2 and needed[0] == needed[1] and draw(st.booleans()):
        frame[1] = frame[0]
    return Apply(op, tuple(args), type=of, span=Span(0, 50)), frame


def outcome(expr: Expr, frame: Sequence[Value]) -> tuple[str, Value]:
    """The value of an expression, or the error and its place."""
    try:
        return "value", compiled(expr, FrameLayout(SCOPE, 0))([*frame, *[None] * 9])
    except ModelError as error:
        return error.code, error.span


@pytest.mark.parametrize("op", [rule.op for rule in RULES])
@given(data=st.data())
def test_a_rule_says_what_the_operation_means(op: Op, data: st.DataObject) -> None:
    expr, frame = data.draw(applications(op))
    core = CoreRewriter().expr(expr, len(frame))

    assert outcome(core, frame) == outcome(expr, frame)


@pytest.mark.parametrize("number", range(len(RULES)))
def test_a_rule_uses_operations_without_rules_or_with_later_ones(number: int) -> None:
    rule = RULES[number]
    earlier = {each.op for each in RULES[: number + 1]}
    of = Seq(INT, None) if rule.op is Op.ELEMENTS else Set(INT)
    args = [Local(n, type=of, span=Span(0, 0)) for n in range(2)]
    whole = Apply(rule.op, tuple(args), type=Set(INT), span=Span(0, 0))
    said = rule.says(whole, args[:1] if rule.op in {Op.NEG, Op.ELEMENTS} else args, lambda: 9)

    assert not {part.op for part in walk(said) if isinstance(part, Apply)} & earlier


def every_expression(model: Model) -> list[Expr]:
    """All expressions of a model."""
    found = [expr for prop in model.properties for expr in (prop.expr, prop.goal) if expr is not None]
    found += [each.test for each in model.assumes] + [each.init for each in model.variables]
    for action in model.actions:
        found += [param.domain for param in action.params]
        found += [getattr(part, "test", None) or part.value for part in action.head]  # type: ignore[union-attr]
    for body in (model.init, *(action.body for action in model.actions)):
        found += [expr for each in walk_statements(body) for expr in expressions(each)]
    return [part for expr in found for part in walk(expr)]


def operations(model: Model) -> set[Op]:
    return {part.op for part in every_expression(model) if isinstance(part, Apply)}


def test_the_core_of_a_model_has_none_of_the_operations_but_those_kept() -> None:
    models = load(ROOT / "tests/spec/everything.rsm")
    kept = {Op.NE, Op.MAX2}

    assert set().union(*map(operations, models)) & OPS
    for model in models:
        assert not operations(CoreRewriter().model(model)) & OPS
        assert operations(CoreRewriter(kept).model(model)) & OPS == operations(model) & kept


def test_the_core_of_the_core_is_the_core() -> None:
    for model in load(ROOT / "tests/spec/everything.rsm"):
        core = CoreRewriter().model(model)

        assert CoreRewriter().model(core) == core
