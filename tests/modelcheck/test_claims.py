"""`modelcheck library claims`: searches judge sentences, and contradict the data where it is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import modelcheck.commands.library.claims as command
import spec.library as library
from modelcheck.asking.sweep import Orders
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.teaching.textbook.asked import Bearing, PropertyQuestion
from modelcheck.teaching.textbook.claims import Claim, ClaimCase, ClaimJudgement, claims
from modelcheck.teaching.textbook.search import decided
from spec.load import loads
from tests.one_process import OneProcess

FOR, AGAINST, OPEN = Bearing
CLAIMS = {claim.name: claim for claim in claims()}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.asking.sweep.Processes", OneProcess)


def claim(expected: Sequence[Bearing], condition: str = "") -> Claim:
    case = ClaimCase("when", PropertyQuestion("quorum", "n3_w2_r2", "committed_survives"), FOR)
    cases = tuple(replace(case, expected=each) for each in expected)
    return Claim("X", "both", "A sentence.", "https://example.org", condition, cases)


# -------------------------------------------------------------------- the judgement


@pytest.mark.parametrize(
    ("condition", "expected", "found", "judged"),
    [
        ("", [FOR, FOR], [FOR, FOR], ClaimJudgement.TRUE),
        ("", [FOR, AGAINST], [FOR, AGAINST], ClaimJudgement.FALSE),
        ("some", [FOR, AGAINST], [FOR, AGAINST], ClaimJudgement.CONDITIONAL),
        ("some", [FOR, AGAINST], [FOR, FOR], ClaimJudgement.TRUE),
        ("some", [FOR, AGAINST], [AGAINST, AGAINST], ClaimJudgement.FALSE),
        ("some", [FOR, AGAINST], [AGAINST, FOR], ClaimJudgement.FALSE),
        ("some", [FOR, FOR, AGAINST], [FOR, AGAINST, AGAINST], ClaimJudgement.FALSE),
        ("some", [AGAINST], [AGAINST], ClaimJudgement.FALSE),
        ("some", [FOR, AGAINST], [OPEN, AGAINST], ClaimJudgement.OPEN),
    ],
)
def test_a_sentence_is_judged_by_what_its_cases_come_to(
    condition: str, expected: list[Bearing], found: list[Bearing], judged: ClaimJudgement
) -> None:
    assert claim(expected, condition).judged(found) is judged


def test_every_case_is_a_property_that_its_check_asks_about() -> None:
    cases = [case.asked for each in CLAIMS.values() for case in each.cases]
    for protocol in {case.model for case in cases}:
        models = loads(library.text(protocol), protocol)
        for case in (case for case in cases if case.model == protocol):
            ((model, check),) = [(m, c) for m in models for c in m.checks if c.name == case.check]
            assert case.property in {prop.name for prop in model.properties}
            assert check.only is None or case.property in check.only


def test_every_claim_is_a_sentence_with_a_source() -> None:
    for each in CLAIMS.values():
        assert each.sentence.endswith(".")
        assert each.source.startswith("https://")


def test_a_conditional_claim_has_a_case_on_either_side_of_its_condition() -> None:
    assert list(CLAIMS) == [f"C{number}" for number in range(1, 16)]
    for each in CLAIMS.values():
        sides = {case.expected for case in each.cases}
        assert (sides == {FOR, AGAINST}) >= bool(each.condition)
        assert (each.expected is ClaimJudgement.CONDITIONAL) is bool(each.condition)


def test_every_claim_comes_out_as_the_data_say() -> None:
    found = list(decided(list(CLAIMS.values()), Orders()))

    assert [each.claim.name for each in found if each.surprises] == []
    assert [each.judgement for each in found] == [each.expected for each in CLAIMS.values()]


def test_nothing_is_decided_where_the_search_gives_up() -> None:
    (found,) = decided([CLAIMS["C8"]], Orders(Limits(states=1)))

    assert found.judgement is ClaimJudgement.OPEN
    assert found.surprises == ()


# ---------------------------------------------------------------------- the command


def test_a_claim_as_it_is_read(run: Run, golden: Callable[[str, str], None]) -> None:
    code, told, _ = run("library", "claims", "c4", "C8")

    assert code == Exit.EXPECTED
    golden("claims/c4_c8.txt", told)


def test_a_claim_that_is_named_has_the_stories_of_its_counterexamples(run: Run) -> None:
    code, told, _ = run("library", "claims", "C13")

    assert code == Exit.EXPECTED
    assert "C13, refuted: acks=1: a record is taken by a leader that is alone in the ISR\n" in told
    assert "taken_with_minimum is violated in 2 steps, with 1 fault (isolate)\n" in told


def test_a_sentence_that_nothing_refutes_has_the_runs_that_bear_it_out(run: Run) -> None:
    code, told, _ = run("library", "claims", "C12")

    assert code == Exit.EXPECTED
    assert "C12, borne out: who takes any replica loses what was acknowledged" in told
    assert "refuted" not in told


def test_a_claim_that_comes_out_otherwise_is_loud(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = CLAIMS["C8"]
    wrong = replace(right, cases=tuple(replace(case, expected=FOR) for case in right.cases))
    monkeypatch.setattr(command, "claims", lambda: (wrong,))
    code, told, _ = run("claims")

    assert code == Exit.VIOLATED
    assert "NOT AS EXPECTED: the case “acks=1, Kafka 3.7” refutes it" in told
    assert "NOT AS EXPECTED: the sentence is false, and was true" in told
    assert told.endswith("1 claim: 1 false, 1 NOT AS EXPECTED\n")


def test_a_claim_that_is_not_decided_has_an_exit_code_of_its_own(run: Run) -> None:
    code, told, _ = run("library", "claims", "C8", "--max-states", "1")

    assert code == Exit.UNKNOWN
    assert told.endswith("1 claim: 1 not decided\n")


def test_json_has_each_case_and_its_run(run: Run) -> None:
    code, told, _ = run("library", "claims", "C13", "--json")
    (found,) = json.loads(told)

    assert code == Exit.EXPECTED
    assert found["verdict"] == "true under a condition"
    assert [case["found"] for case in found["cases"]] == ["bears it out", "bears it out", "refutes it"]
    assert found["cases"][2]["outcome"]["properties"][0]["verdict"] == "violated"


def test_counterexamples_are_drawn(run: Run, tmp_path: Path) -> None:
    code, _, _ = run("library", "claims", "C13", "--draw", "svg,itf", "--out", "runs")

    assert code == Exit.EXPECTED
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "minimum.minimum_one.taken_with_minimum.itf.json",
        "minimum.minimum_one.taken_with_minimum.svg",
    ]


def test_the_page_asks_first_and_folds_the_answers(run: Run, tmp_path: Path) -> None:
    code, _, _ = run("library", "claims", "C4", "C13", "--html", "claims.html")
    page = (tmp_path / "claims.html").read_text(encoding="utf-8")
    _, fourth, thirteenth = page.split('<article class="card question"')

    assert code == Exit.EXPECTED
    assert page.count("<details>") == 3  # an answer each, and one run of them
    assert fourth.index("wait for the answers of equally many") < fourth.index("<details>")
    assert fourth.index("<details>") < fourth.index("True if the ISR has no more than f + 1 members")
    assert "<svg" not in fourth
    assert thirteenth.count("<svg") == 2
    assert "<script" not in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("C99",), "no claim is called `C99`"),
        (("--out", "here"), "--out is where --draw FORMAT writes"),
        (("--html", "/nowhere/at/all.html"), "no such"),
    ],
)
def test_what_is_no_claim_is_wrong_input(words: tuple[str, ...], said: str, run: Run) -> None:
    code, told, beside = run("library", "claims", *words)

    assert (code, told) == (Exit.WRONG, "")
    assert said in beside.lower() or said in beside
