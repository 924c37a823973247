"""What is said to have a value in every state has one, wherever random models get to."""

from __future__ import annotations

from random import Random

import pytest

import spec.model.ir as ir
from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.evaluate import FrameLayout, compiled
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.totality import Totality
from spec.model.values import ModelError
from tests.model_texts import model_text

MODELS = 150
STATES = 40  # of each


def states_of(machine: Machine) -> list[State]:
    """Some states of a model, in the order in which they are found."""
    found = dict.fromkeys(machine.initial())
    for state in (waiting := list(found)):
        try:
            after = [step.state for step in machine.steps(state) if not isinstance(step, CutOff)]
        except ModelError:
            continue
        waiting += [each for each in dict.fromkeys(after) if each not in found]
        found.update(dict.fromkeys(after))
        if len(found) > STATES:
            break
    return list(found)


def claims(model: ir.Model) -> list[tuple[ir.Expr, int]]:
    """What properties of states say, and how many slots each needs."""
    return [
        (prop.expr, prop.slots)
        for prop in model.properties
        if prop.expr is not None and prop.kind is not ir.PropertyKind.STEP
    ]


@pytest.mark.parametrize("part", range(2))
def test_what_is_total_makes_no_error(part: int) -> None:
    asked = 0
    for seed in range(part * MODELS, (part + 1) * MODELS):
        try:
            (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
            machine = Machine(model, model.checks[0].scope)
            states = states_of(machine)
        except (SpecError, ModelError):
            continue
        totality = Totality()
        totality.of_model(model)
        layout = FrameLayout(machine.scope, len(model.variables))
        for expr, slots in claims(model):
            if totality.of(expr):
                value = compiled(expr, layout)
                for state in states:
                    value([*state, *[None] * slots])
                    asked += 1

    assert asked > 1000


def total(text: str) -> bool:
    """Whether the one property of a model is total."""
    (model,) = loads(f"protocol p nat E sort S state {{ e: E = 0 m: map[E, E] = [x: E -> 0] }}\n{text}")
    totality = Totality()
    totality.of_model(model)
    (expr,) = [prop.expr for prop in model.properties]
    assert expr is not None
    return totality.of(expr)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("m[e] == 0", True),
        ("m[m[e]] == 0", True),
        ("m[e + 1] == 0", False),
        ("let n = e + 1. m[n] == 0", False),
        ("let n = m[e]. m[n] == 0", True),
        ("forall x: E. m[x] == 0", True),
        ("forall x in 0..e. m[x] == 0", False),
        ("forall x in {y + 1 for y: E}. m[x] == 0", False),
        ("forall x in {y: E where y > e}. m[x] == 0", True),
        ("m[if e > 1 then e else m[e]] == 0", True),
        ("m[(argmax x: E. 0 - x)] == 0", False),  # there may be no member
        ("e / 2 == 0", True),
        ("2 / e == 0", False),
        ("(max x: E. x) == 0", False),
    ],
)
def test_what_is_stored_keeps_to_its_type_and_what_is_made_need_not(claim: str, *, expected: bool) -> None:
    assert total(f"invariant i: {claim}") == expected
