"""Every mistake that a model file can have, with the whole text that a person gets to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from spec import codes
from spec.diagnostics import SpecError
from spec.load import loads, read
from tests.conftest import GOLDEN

ROOT = Path(__file__).parent.parent.parent
FOLDER = GOLDEN / "diagnostics"
CASES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.rsm"))
OF_FILES = {"R0103"}  # about a file as a whole: tests/spec/test_front_end_robust.py


def rendered(case: str) -> str:
    """What is said about a case; its text as it stands, line ends and all."""
    with pytest.raises(SpecError) as found:
        loads(read(FOLDER / f"{case}.rsm"), f"{case.rpartition('/')[2]}.rsm")
    return f"{found.value}\n"


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_told_as_expected(case: str, golden: Callable[[str, str], None]) -> None:
    golden(f"diagnostics/{case}.expect", rendered(case))


def test_there_are_many_mistakes() -> None:
    assert len(CASES) >= 100


def test_no_expectation_is_left_without_its_model() -> None:
    expected = sorted(
        path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.expect")
    )

    assert expected == CASES


def test_every_code_of_the_language_has_a_case() -> None:
    told = set(re.findall(r"error\[(R\d{4})\]", "".join(map(rendered, CASES))))
    registered = {code for code in codes.codes() if code < "R06"} - OF_FILES

    assert told == registered


def test_a_code_is_registered_once() -> None:
    headings = re.findall(r"^## (\S+):", (ROOT / "spec/codes.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert headings == sorted(codes.codes())
    assert Counter(headings).most_common(1)[0][1] == 1


@pytest.mark.parametrize("code", sorted(codes.codes()))
def test_an_explanation_says_more_than_the_title(code: str) -> None:
    entry = codes.codes()[code]

    assert len(entry.text) > len(entry.title)
    assert entry.text.endswith((".", "}", "]", ")")) or "\n    " in f"\n{entry.text}"


def test_every_code_in_the_sources_is_registered() -> None:
    sources = [
        path for folder in ("spec", "counterexamples", "modelcheck") for path in (ROOT / folder).rglob("*.py")
    ]
    used = {code for path in sources for code in re.findall(r'"(R0\d{3})"', path.read_text(encoding="utf-8"))}

    assert used - set(codes.codes()) == set()


def test_all_mistakes_of_a_file_are_told_in_the_order_of_the_text() -> None:
    places = [
        int(line) for line in re.findall(r"^\S+:(\d+):\d+: error", rendered("thirty_errors"), re.MULTILINE)
    ]

    assert places == sorted(places)
    assert len(places) >= 30


@pytest.mark.parametrize("case", [case for case in CASES if "/" not in case])
def test_a_message_never_shows_a_type_that_is_unknown(case: str) -> None:
    said = re.findall(r"^\S+: error\S+ (.*)$", rendered(case), re.MULTILINE)

    assert [line for line in said if "??" in line or "[?]" in line or " a ?" in line] == []
