"""Every model in spec/protocols says what its checks must find; they are held to it, and so is their page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.contract.coverage import not_tested
from modelcheck.contract.engine import Family
from modelcheck.contract.families import families
from modelcheck.contract.result import End, Holds, Unknown, Violated
from spec.load import load
from spec.model.ir import Budget, Check, Model
from tools.protocol_table import FILE, of_check, read, rows

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"


NAMES = [  # as they are written: to load all models would take every process some seconds
    f"{path.stem}.{name}"
    for path in sorted(PROTOCOLS.rglob("*.rsm"))
    for name in re.findall(r"^check +(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]
PAGE = read(FILE.read_text(encoding="utf-8"))


models = cache(load)


@cache
def asked_of(file: str) -> dict[str, tuple[Model, Check, Family | None]]:
    """The checks of a file as `modelcheck check` asks them: those that differ by switches share a kernel."""
    asked = [(model, each) for model in models(PROTOCOLS / f"{file}.rsm") for each in model.checks]
    shared = families(asked, with_witnesses=True)
    return {each.name: (model, each, of) for (model, each), of in zip(asked, shared, strict=True)}


def of_name(name: str) -> tuple[Model, Check]:
    file, _, wanted = name.partition(".")
    model, question, _ = asked_of(file)[wanted]
    return model, question


@pytest.mark.parametrize("name", NAMES)
def test_a_check_finds_what_it_expects(name: str) -> None:
    file, _, wanted = name.partition(".")
    model, question, family = asked_of(file)[wanted]
    outcome = check(model, question, family=family, with_witnesses=True)

    assert outcome.findings.error is None
    assert not_tested(outcome) == ()  # but for what the file declares, with the reason
    assert outcome.findings.end in {End.COMPLETE, End.DECIDED}
    assert not [result for result in outcome.findings.results if isinstance(result.verdict, Unknown)]
    assert not outcome.mismatches  # which tells of a violation that the check does not expect, too
    written = of_check(PAGE[Path(model.source.name).stem], question.name)
    assert [row.timeless for row in written] == [row.timeless for row in rows(outcome)]


def test_a_follower_that_answers_first_takes_as_many_steps_as_in_raft_fsync() -> None:
    """With room for two messages: two steps fewer to ask the voters, one more for the restart.

    Up to renaming of servers, which is a third of the work.
    """
    model, question = of_name("raft.follower_answers_first")
    scope = replace(question.scope, networks={"net": 2})
    found = check(model, replace(question, scope=scope, expect=()), engine="explicit", symmetry=True)
    verdict = found.verdict("leader_completeness")

    assert isinstance(verdict, Violated)
    assert isinstance(verdict.trace, Trace)
    assert (verdict.trace.faults, len(verdict.trace.steps)) == (1, 19 - 2 + 1)


@pytest.mark.parametrize(("name", "states"), [("two_adds", 159_174), ("one_add_one_remove", 133_885)])
def test_a_leader_with_an_entry_of_its_term_may_change_the_membership(name: str, states: int) -> None:
    """What `hasty` breaks with six and five servers, with the rule and up to renaming of servers."""
    _, hasty = of_name(f"raft_membership.{name}")
    model, _ = of_name("raft_membership.removes")
    scope = replace(hasty.scope, nats={**hasty.scope.nats, "Index": 3})
    asked = replace(hasty, scope=scope, budget=Budget(0), expect=())
    found = check(model, asked, engine="explicit", symmetry=True)

    assert isinstance(found.verdict("election_safety"), Holds)
    assert found.findings.stats.states == states


def test_checks_have_names_of_their_own() -> None:
    names = Counter(NAMES)

    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("path", sorted(PROTOCOLS.rglob("*.rsm")), ids=lambda path: path.stem)
def test_every_check_of_a_file_is_asked(path: Path) -> None:
    found = [f"{path.stem}.{each.name}" for model in models(path) for each in model.checks]

    assert sorted(found) == sorted(name for name in NAMES if name.startswith(f"{path.stem}."))
