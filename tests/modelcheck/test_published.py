"""Public TLA+ specifications written in the language: as many states as TLC finds in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.contract.result import End, Unknown
from spec.load import load
from spec.model.ir import Check, Model

FOLDER = Path(__file__).parent / "published"


def _checks() -> Iterator[tuple[str, Model, Check]]:
    for path in sorted(FOLDER.glob("*.rsm")):
        for model in load(path):
            for each in model.checks:
                yield f"{path.stem}.{each.name}", model, each


@pytest.mark.parametrize(
    ("model", "question"), [pytest.param(model, each, id=name) for name, model, each in _checks()]
)
def test_a_check_finds_what_tlc_finds(model: Model, question: Check) -> None:
    outcome = check(model, question)

    assert outcome.findings.end in {End.COMPLETE, End.DECIDED}
    assert not [result for result in outcome.findings.results if isinstance(result.verdict, Unknown)]
    assert not outcome.mismatches
