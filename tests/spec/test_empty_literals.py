"""An empty literal has members of no type at all, and that must not trouble anybody."""

from __future__ import annotations

import pytest

from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.semantics import Machine

MODEL = """
protocol empty
state { x: (0..2, 0..2) = (0, 0) }
invariant claim: CLAIM
check all { }
"""


@pytest.mark.parametrize(
    "claim",
    [
        "forall a in {}. forall b in a. b",
        "not exists a in {}, b in a, c in b. true",
    ],
)
def test_members_of_nothing_may_be_gone_through(claim: str) -> None:
    (model,) = loads(MODEL.replace("CLAIM", claim))
    machine = Machine(model, model.checks[0].scope)
    (start,) = machine.initial()

    assert machine.holds(model.property("claim"), start)


@pytest.mark.parametrize(
    ("claim", "codes"),
    [("x > (nobody, 1)", ["R0208"]), ("forall a in {}. x > (a, 1)", [])],
)
def test_a_part_of_no_type_is_reported_once_or_not_at_all(claim: str, codes: list[str]) -> None:
    found: list[str] = []
    try:
        loads(MODEL.replace("CLAIM", claim))
    except SpecError as error:
        found = [diagnostic.code for diagnostic in error.diagnostics]

    assert found == codes
