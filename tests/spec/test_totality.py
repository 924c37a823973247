"""What is said to have a value in every state has one, wherever random models get to."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest

import spec.model.ir as ir
from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.evaluate import FrameLayout, compiled
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.kinds import INVARIANTS
from spec.model.totality import Totality, makes_no_error
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


def test_a_model_that_makes_no_error_by_its_text_makes_none() -> None:
    asked = 0
    for seed in range(4 * MODELS):
        try:
            (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        except SpecError:
            continue
        if makes_no_error(model):
            asked += 1
            machine = Machine(model, model.checks[0].scope)
            for state in states_of(machine):
                deque(machine.steps(state), maxlen=0)  # raises where a step is an error
                for prop in model.properties:
                    if prop.kind in INVARIANTS:
                        machine.holds(prop, state)

    assert asked > 10


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("a(x: E) { m[x] := x }", True),
        ("a(x: E) { m[x] := x + 1 }", True),  # beyond the scope it is a cut
        ("a(x: E) { m[x + 1] := x }", False),
        ("a(x: E) { e := m[x] }", True),
        ("a(x: E) { e := x - 1 }", False),
        ("a { o := e }", True),
        ("a { e := the(o) }", False),
        ("a { q.append(e) }", True),
        ("a { e := q[0] }", False),
        ("a { choose x in s  e := x }", True),
        ("a { for x in s { m[x] := 0 } }", True),
        ("a { let x = e + 1  m[x] := 0 }", False),
    ],
)
def test_what_may_be_an_error_in_a_step(action: str, *, expected: bool) -> None:
    state = "e: E = 0 m: map[E, E] = [x: E -> 0] o: E? = none q: seq[E; E] = [] s: set[E] = {}"
    (model,) = loads(f"protocol p nat E state {{ {state} }}\naction {action}\ninvariant i: e == e\n")

    assert makes_no_error(model) is expected


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
