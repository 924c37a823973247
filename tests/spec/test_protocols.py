"""Every model in spec/protocols says what its checks must find; here they are held to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.result import End, Unknown
from spec.ir import Check, Model
from spec.load import load

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"

SLOW = frozenset(
    """
    figure8.with_the_rule
    kisr.s
    kafka.eligible_replicas
    kafka_log.kip320_three_longer
    quorum.n5_w2_r3 quorum.n5_w3_r2 quorum.n5_w3_r3 quorum.n5_w4_r2
    raft.elections raft.elections_on_a_bad_network raft.elections_two_terms raft.log_lost
    raft.replication_any_faults raft.replication_two_values
    two_phase_commit.six_managers
    """.split()
)
# More than about a minute for the reference engine; so are those whose names end in `_large`.
LARGE = frozenset("kisr.any_crashes kisr.m".split())


def _checks() -> Iterator[tuple[str, Model, Check]]:
    for path in sorted(PROTOCOLS.rglob("*.rsm")):
        for model in load(path):
            for each in model.checks:
                yield f"{path.stem}.{each.name}", model, each


CHECKS = tuple(_checks())
NAMES = Counter(name for name, _, _ in CHECKS)


def _marks(name: str) -> list[pytest.MarkDecorator]:
    if name in LARGE or name.endswith("_large"):
        return [pytest.mark.skip(reason="needs the native engine")]
    return [pytest.mark.slow] if name in SLOW else []


@pytest.mark.parametrize(
    ("model", "question"),
    [pytest.param(model, each, id=name, marks=_marks(name)) for name, model, each in CHECKS],
)
def test_a_check_finds_what_it_expects(model: Model, question: Check) -> None:
    outcome = check(model, question)

    assert outcome.findings.error is None
    assert outcome.findings.end in {End.COMPLETE, End.DECIDED}
    assert not [result for result in outcome.findings.results if isinstance(result.verdict, Unknown)]
    assert not outcome.mismatches  # which tells of a violation that the check does not expect, too


def test_checks_have_names_of_their_own_and_marks_have_checks() -> None:
    assert [name for name, times in NAMES.items() if times > 1] == []
    assert set(NAMES) >= SLOW | LARGE
