from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from counterexamples.lines import plain
from modelcheck.answers import card as card_module
from modelcheck.answers.card import brief, card
from modelcheck.answers.outcome_json import as_json
from modelcheck.api import check
from modelcheck.contract.assessment import assess
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Mismatch, Outcome
from modelcheck.contract.wording import memory_words, seconds_words
from spec.load import loads
from spec.model.ir import Budget, ExpectCount

TINY = Path(__file__).parent / "tiny.rsm"


def outcome(name: str, *, states: int | None = None, budget: Budget | None = None) -> Outcome:
    """What a check of the tiny model comes to, with a time and a memory that are always the same."""
    model = loads(TINY.read_text(encoding="utf-8"), TINY.name)[0]
    asked = next(each for each in model.checks if each.name == name)
    if budget is not None:
        asked = replace(asked, budget=budget)
    found = check(model, asked, engine="reference", limits=Limits(states=states))
    stats = replace(found.findings.stats, seconds=1.25, memory=64_000_000)
    return replace(found, findings=replace(found.findings, stats=stats))


@pytest.fixture(autouse=True)
def _one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_module, "VERSION", "1.2.3")


def told(found: Outcome, *, strict: bool = False, width: int = 100) -> str:
    return plain(card(found, width=width, strict=strict))


def test_a_card_of_a_check_that_is_as_expected(golden: Callable[[str, str], None]) -> None:
    golden("cards/as_expected.txt", told(outcome("as_expected")))


def test_a_card_of_a_check_that_is_not(golden: Callable[[str, str], None]) -> None:
    golden("cards/surprise.txt", told(outcome("surprise")))


def test_a_card_of_a_search_that_was_cut_short(golden: Callable[[str, str], None]) -> None:
    found = told(outcome("large", states=300))

    assert "PARTIAL" in found
    assert "holds" not in found
    golden("cards/partial.txt", found)


def test_what_differs_in_the_same_way_stands_on_one_line() -> None:
    why = "the search did not come to an end"
    surprise = outcome("surprise")
    span = surprise.check.span
    wishes = (ExpectCount("states", 17, span=span), ExpectCount("levels", 4, span=span))
    both = tuple(Mismatch(wish, why) for wish in wishes)
    found = told(replace(surprise, mismatches=both))

    assert f"expected: states 17, levels 4; found: {why}" in " ".join(found.split())


def test_a_narrow_card_keeps_to_its_width(golden: Callable[[str, str], None]) -> None:
    found = told(outcome("surprise"), width=60)

    assert max(map(len, found.splitlines())) <= 62
    golden("cards/narrow.txt", found)


def test_every_card_says_for_what() -> None:
    for name in ("as_expected", "surprise"):
        found = told(outcome(name))
        for word in ("Replica = 2", "Offset = 1", "unclean = true", "faults", "states", "text ", "1.2.3"):
            assert word in found


@pytest.mark.parametrize(
    ("name", "states", "strict", "code"),
    [
        ("as_expected", None, False, Exit.EXPECTED),
        ("as_expected", None, True, Exit.VIOLATED),  # a guard never says no
        ("surprise", None, False, Exit.VIOLATED),
        ("large", 300, False, Exit.UNKNOWN),
    ],
)
def test_the_exit_code_is_the_worst_there_is(
    name: str,
    states: int | None,
    strict: bool,  # noqa: FBT001 - a column of the table
    code: Exit,
) -> None:
    assert assess(outcome(name, states=states), strict=strict).exit == code


def test_the_brief_card_is_its_first_line() -> None:
    assert plain([brief(outcome("as_expected"))]) == "tiny · as_expected: as expected\n"
    assert plain([brief(outcome("surprise"))]).startswith("tiny · surprise: violated: safe")


def test_the_brief_card_says_what_is_not_as_expected() -> None:
    expected = outcome("as_expected")
    wish = ExpectCount("states", 17, span=expected.check.span)
    found = replace(expected, mismatches=(Mismatch(wish, "states 112"),))

    assert plain([brief(found)]) == "tiny · as_expected: not as expected: states 17; found: states 112\n"


def test_json_has_what_the_card_has() -> None:
    data = as_json(outcome("as_expected"))
    properties = {each["name"]: each for each in data["properties"]}

    assert data["exit"] == 0
    assert data["faults"] == {"total": None, "kinds": None}
    assert data["stats"]["states"] == 112
    assert [layer["states"] for layer in data["stats"]["layers"]] == [9, 63, 111, 112]
    assert properties["safe"]["verdict"] == "violated"
    assert properties["safe"]["expected"] is True
    assert (properties["safe"]["faults"], properties["safe"]["steps"]) == (1, 6)
    assert properties["safe"]["trace"]["#meta"]["format"] == "ITF"
    assert properties["low"]["extent"] == {"faults": {"total": None, "kinds": None}}
    assert properties["low"]["by_faults"][0] is True
    assert properties["full"]["trace"]["#meta"]["modelcheck"]["ending"] == {"kind": "example"}
    assert data["mismatches"] == []


def test_json_tells_a_partial_result_from_a_whole_one() -> None:
    data = as_json(outcome("large", states=300))

    assert (data["partial"], data["end"], data["exit"]) == (True, "states", 3)
    assert data["properties"][0]["verdict"] == "unknown"
    assert data["properties"][0]["reason"]


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (Budget(0), "holds without faults"),
        (Budget(1), "holds with at most 1 fault\n"),
        (Budget(None, {"crash": 1}), "holds with crash ≤ 1"),
        (Budget(None), "holds for any number of faults"),
    ],
)
def test_a_verdict_says_for_how_many_faults(faults: Budget, words: str) -> None:
    found = told(outcome("as_expected", budget=faults)).replace("  (as expected)", "")

    assert words in found


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.0 s"), (9.96, "10.0 s"), (59.6, "1 min 0 s"), (185, "3 min 5 s"), (7800, "2 h 10 min")],
)
def test_durations_are_said_as_people_do(seconds: float, words: str) -> None:
    assert seconds_words(seconds) == words


def test_memory_is_said_as_people_do() -> None:
    assert memory_words(310_000_000) == "310 MB"
    assert memory_words(1_240_000_000) == "1.2 GB"
