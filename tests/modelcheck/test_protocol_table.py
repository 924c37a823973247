"""The page of the protocols says what their files expect; tests/spec/test_protocols.py asks the engine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import spec.library as library
from modelcheck.api import check
from modelcheck.asking.models import pick_checks
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.claims import claims
from spec.load import loads
from spec.model.ir import Check, ExpectCount, ExpectVerdict
from tools import protocol_table
from tools.known_bugs import address, bugs
from tools.protocol_scopes import AskedLarger, asked_larger
from tools.protocol_table import FILE, TableRow, bearing, of_check, page, read, rows

TEXT = FILE.read_text(encoding="utf-8")
TABLES = read(TEXT)
ASKED = asked_larger(TEXT)
TOY = """
protocol toy
sort Node
nat Count
state { many: Count = 0, lost: bool = false }
action step() { many := many + 1 }
fault lose() { lost := true }
invariant low: many <= 2
invariant kept: not lost
invariant small: many <= 9
invariant tiny: many <= 8
reachable two: many == 2
reachable ten: many == 10
check a { scope Node = 2, Count = 3  faults <= 1 }
check b { scope Node = 2, Count = 1  faults any  only low }
variant bare of toy { drop low drop kept drop small drop tiny drop two drop ten }
check c of bare { scope Node = 2, Count = 1  faults none }
"""


def lines(found: Sequence[TableRow]) -> list[tuple[str, ...]]:
    return [row.timeless for row in found]


def of(table: Sequence[TableRow], name: str, prop: str) -> TableRow | None:
    """The row of a property of a check, if it has one of its own."""
    return next((row for row in of_check(table, name) if row.claim == f"`{prop}`"), None)


def test_the_page_is_as_it_is_written() -> None:
    assert page(TABLES, ASKED) == TEXT
    assert tuple(TABLES) == library.names()


@pytest.mark.parametrize("name", library.names())
def test_the_page_says_what_the_file_expects(name: str) -> None:
    table, asked = TABLES[name], library.shipped(name).questions

    assert [(row.check, row.model) for row in table if row.check] == [
        (f"`{q.name}`", f"`{q.of}`") for q in asked
    ]
    for question in asked:
        first, *_ = of_check(table, question.name)
        for each in question.expect:
            match each:
                case ExpectVerdict(prop, holds=False) if each in question.unreached:
                    row = of(table, question.name, prop)
                    assert row is not None
                    assert row.verdict == "never reached"
                case ExpectVerdict(prop, holds=False, faults=faults, steps=steps):
                    row = of(table, question.name, prop)
                    assert row is not None
                    assert row.verdict == "violated"
                    assert row.faults == str(faults if faults is not None else row.faults)
                    assert row.steps == str(steps if steps is not None else row.steps)
                case ExpectVerdict(prop):
                    row = of(table, question.name, prop)
                    assert row is None or re.match("holds|reached", row.verdict)
                case ExpectCount("states", count, faults=None):
                    assert first.states == f"{count:,}"
                case _:
                    pass
        violated = {f"`{each.property}`" for each in question.violations}
        assert {r.claim for r in of_check(table, question.name) if r.verdict == "violated"} == violated


def test_a_row_is_of_what_a_run_decides_or_of_all_that_hold() -> None:
    toy, bare = loads(TOY)

    assert lines(rows(check(toy, toy.checks[0]))) == [
        ("`a`", "`toy`", "`low`", "violated", "0", "3", "8"),
        ("", "", "`kept`", "violated", "1", "1", ""),
        ("", "", "`two`", "reached", "0", "2", ""),
        ("", "", "`ten`", "never reached", "", "", ""),
        ("", "", "2 others", "hold for any number of faults", "", "", ""),
    ]
    assert lines(rows(check(toy, toy.checks[1]))) == [
        ("`b`", "`toy`", "`low`", "holds for any number of faults", "", "", "4")
    ]
    assert lines(rows(check(bare, bare.checks[0]))) == [
        ("`c`", "`bare`", "", "the model makes no error", "", "", "2")
    ]


def test_a_page_is_read_as_it_was_written() -> None:
    tables = {
        "figure8": [
            TableRow("`a`", "`b`", "", "holds", "", "", "3", "< 1"),
            TableRow("", "", "`p`", *[""] * 5),
        ]
    }
    asked = {"figure8": AskedLarger(300_000, "0123456789abcdef")}

    written = page(tables, asked)

    assert read(written) == tables
    assert asked_larger(written) == asked


def test_only_what_is_named_is_answered_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = {name: [*table] for name, table in TABLES.items()}
    old["figure8"] = old["figure8"][:1]
    old["raft"] = old["raft"][:1]
    monkeypatch.setattr(protocol_table, "FILE", tmp_path / "README.md")
    protocol_table.FILE.write_text(page(old, ASKED), encoding="utf-8")
    protocol_table.main(["figure8"])
    new = read(protocol_table.FILE.read_text(encoding="utf-8"))

    assert lines(new["figure8"]) == lines(TABLES["figure8"])
    assert new["raft"] == old["raft"]


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("figure9", 2)])
def test_the_page_stays_as_it_is_where_no_protocol_is_asked_for(
    word: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_table, "FILE", tmp_path / "README.md")

    with pytest.raises(SystemExit) as ended:
        protocol_table.main([word])

    assert ended.value.code == code
    assert not protocol_table.FILE.exists()


def test_every_known_bug_is_a_check_that_is_violated() -> None:
    for bug in bugs():
        row = of(TABLES[bug.model], bug.check, bug.property)
        assert row is not None, bug.name
        assert row.verdict == "violated"
        assert address(bug.source).startswith("https://")
        assert bug.what


def bounds(check: Check) -> dict[str, int]:
    """The scope of a check, without the networks where they are large enough to cut nothing."""
    sorts = {name: len(members) for name, members in check.scope.sorts.items()}
    cuts_nothing = any(isinstance(e, ExpectCount) and (e.what, e.count) == ("cut", 0) for e in check.expect)
    return {**sorts, **check.scope.nats, **({} if cuts_nothing else check.scope.networks)}


def test_the_control_of_a_known_bug_asks_for_the_same_in_as_large_a_scope_and_is_not_violated() -> None:
    models = {name: loads(library.text(name), name) for name in {bug.model for bug in bugs()}}
    for bug in bugs():
        if not bug.control:
            continue
        ((_, shows),) = pick_checks(models[bug.model], [bug.check])
        ((model, control),) = pick_checks(models[bug.model], [bug.control])
        assert bug.property in (control.only or [each.name for each in model.properties]), bug.name
        least = bounds(shows)
        assert all(least.get(name, 0) <= most for name, most in bounds(control).items()), bug.name
        assert all(row.verdict != "violated" for row in of_check(TABLES[bug.model], bug.control))


def test_every_claim_is_judged_on_the_page_as_it_is_foretold() -> None:
    for claim in claims():
        bearings = [bearing(TABLES, case.asked) for case in claim.cases]
        assert bearings == [case.expected for case in claim.cases], claim.name
        assert f"| [{claim.name}]({claim.source}) | {claim.sentence} | " in TEXT


def test_a_claim_is_not_decided_where_the_page_has_no_answer() -> None:
    case = claims()[0].cases[0]

    assert bearing({}, case.asked) is Bearing.OPEN


def test_every_check_that_is_named_after_a_bug_is_in_the_table_of_bugs() -> None:
    told = {
        part.replace("-", "").lower()
        for bug in bugs()
        for part in re.findall(r"KAFKA-[0-9]+|KIP-[0-9]+", f"{bug.name} {bug.also}")
    }
    named = {
        found[0]
        for name in library.names()
        if name != "kafka_log" and name.startswith("kafka")
        for question in library.shipped(name).questions
        if question.violations and (found := re.match("(kafka|kip)[0-9]+", question.name))
    }

    assert named <= told
    assert len(told) > 20
