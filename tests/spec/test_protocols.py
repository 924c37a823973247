"""Every model in spec/protocols says what its checks must find; they are held to it, and so is their page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.commands.protocol_table import FILE, of_check, read, rows
from modelcheck.contract.result import End, Unknown
from spec.ir import Check, Model
from spec.load import load

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"


def _checks() -> Iterator[tuple[str, Model, Check]]:
    for path in sorted(PROTOCOLS.rglob("*.rsm")):
        for model in load(path):
            for each in model.checks:
                yield f"{path.stem}.{each.name}", model, each


CHECKS = tuple(_checks())
PAGE = read(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("model", "question"),
    [pytest.param(model, each, id=name) for name, model, each in CHECKS],
)
def test_a_check_finds_what_it_expects(model: Model, question: Check) -> None:
    outcome = check(model, question)

    assert outcome.findings.error is None
    assert outcome.findings.end in {End.COMPLETE, End.DECIDED}
    assert not [result for result in outcome.findings.results if isinstance(result.verdict, Unknown)]
    assert not outcome.mismatches  # which tells of a violation that the check does not expect, too
    written = of_check(PAGE[Path(model.source.name).stem], question.name)
    assert [row.timeless for row in written] == [row.timeless for row in rows(outcome)]


def test_checks_have_names_of_their_own() -> None:
    names = Counter(name for name, _, _ in CHECKS)

    assert [name for name, times in names.items() if times > 1] == []
