"""What the prover answers of a check: the claims among its properties, and the settings as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import spec
from modelcheck.answers.outcome_json import as_json
from modelcheck.api import Unsupported, check
from modelcheck.contract.result import End, Holds, Outcome, Unknown, Violated
from modelcheck.contract.wording import verdict_words
from modelcheck.symbolic.unbounded.engine import Prover
from spec.load import load, loads

PROTOCOLS = Path(spec.__file__).with_name("protocols")
ONE_VALUE = (
    "protocol small\nsort S\nconfig most: 2..2 = 2\nconfig mode: { only } = only\n"
    "state { n: 0..5 = 0, first: S? = none }\n"
    "action lead(s: S) { require open: first == none first := s }\n"
    "action step_up { require few: n < most n := n + 1 }\ninvariant few: n <= 2\n"
    "reachable led: first != none\nreachable back: n == 5\nrecoverable again: first == none\n"
    "check c { scope S = 2 }"
)


def proof() -> Outcome:
    """What the prover finds."""
    (model,) = loads(ONE_VALUE)
    return check(model, model.checks[0], engine=Prover())


def test_a_number_of_one_value_is_that_number() -> None:
    verdicts = {each.property: each.verdict for each in proof().findings.results}

    assert isinstance(verdicts["few"], Holds)


def test_what_is_no_claim_keeps_no_claim_from_being_proved() -> None:
    results = {each.property: each.verdict for each in proof().findings.results}

    assert isinstance(results["led"], Holds)
    assert isinstance(results["back"], Violated)
    assert isinstance(results["again"], Unknown)


def test_a_check_of_whole_runs_alone_is_refused() -> None:
    model = load(PROTOCOLS / "quorum.rsm")[0]
    with pytest.raises(Unsupported, match="reachable committed_once"):
        check(model, replace(model.checks[0], only=("committed_once",)), engine=Prover())


ERRING = """
protocol erring
state { some: 0..3? = none, never: bool = false }
action take { require GUARD  some := none }
invariant nothing: some == none
reachable is_taken: never
check it { }
"""


@pytest.mark.parametrize("asked", [("nothing",), ("nothing", "is_taken")])
def test_an_error_in_the_scope_of_the_check_is_found_first(
    asked: tuple[str, ...],
) -> None:
    (model,) = loads(ERRING.replace("GUARD", "the(some) == 1"))
    found = check(model, replace(model.checks[0], only=asked), engine=Prover()).findings

    assert found.end is End.ERROR
    assert found.error is not None
    assert {type(each.verdict) for each in found.results} == {Unknown}


@pytest.mark.parametrize(
    ("guard", "words"),
    [
        ("not never", "holds in every scope"),
        ("not never or the(some) == 1", "holds in every scope, errors aside"),
    ],
)
def test_a_proof_says_what_it_leaves_out(guard: str, words: str) -> None:
    (model,) = loads(ERRING.replace("GUARD", guard))
    outcome = check(model, replace(model.checks[0], only=("nothing",)), engine=Prover())
    (result,) = outcome.findings.results

    assert verdict_words(model, result) == words
    assert ("but_for_errors" in str(as_json(outcome))) is ("errors" in words)
