"""`symmetry` in a check: counts up to renaming, and what is told where it would help or cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterexamples.lines import plain
from modelcheck import cli
from modelcheck.answers.card import card
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import Outcome
from spec.load import loads

BALLOTS = """
protocol ballots
sort Voter
process Voter { durable voted: bool = false }
action vote(v: Voter) { require fresh: not v.voted  v.voted := true }
reachable all_voted: forall v: Voter. v.voted
check by_name { scope Voter = 5  expect all_voted holds, states 32 }
check by_number { scope Voter = 5  symmetry  expect all_voted holds, states 6 }
"""
CLERK = """
protocol clerk
sort Voter, Clerk
nat Length
config chief: Clerk? = none
state { first: Clerk? = none }
process Voter { durable voted: bool = false, cached log: seq[bool; Length] = [] }
action vote(v: Voter) { require fresh: not v.voted  v.voted := true }
action clear { for v: Voter { STATEMENT } }
invariant fine: true
check it { scope Voter = 3, Clerk = 2, Length = 1 CLAUSE }
"""


def outcome(text: str, number: int = 0, *, engine: str = "explicit", **options: object) -> Outcome:
    (model,) = loads(text)
    return check(model, model.checks[number], engine=engine, threads=1, **options)  # type: ignore[arg-type]


def notes(found: Outcome) -> str:
    """What the card tells of symmetry, as one text."""
    _, _, told = plain(card(found, width=10_000)).partition("    symmetry")
    return told


@pytest.mark.parametrize("engine", ["explicit", "reference"])
def test_a_check_with_symmetry_counts_up_to_names_and_its_counts_are_met(engine: str) -> None:
    by_name, by_number = outcome(BALLOTS, 0, engine=engine), outcome(BALLOTS, 1, engine=engine)

    assert (by_name.findings.stats.states, by_number.findings.stats.states) == (32, 6)
    assert (by_name.findings.symmetry, by_number.findings.symmetry) == ((), ("Voter",))
    assert not by_name.mismatches
    assert not by_number.mismatches


def test_the_command_line_takes_the_place_of_the_clause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ballots.rsm").write_text(BALLOTS)
    counts = []
    for option in ("--symmetry", "--no-symmetry"):
        for name in ("by_name", "by_number"):
            assert cli.main(["check", str(tmp_path / "ballots.rsm"), "--check", name, option]) == 0
            told = capsys.readouterr().out
            counts.append(("6 states" in told, "32 states" in told, "not compared" in told))

    assert counts == [(True, False, True), (True, False, False), (False, True, False), (False, True, True)]


@pytest.mark.parametrize("engine", ["bmc", "induction", "ic3", "prove"])
def test_an_engine_that_lists_no_states_refuses_the_clause(engine: str) -> None:
    text = BALLOTS.replace("reachable all_voted:", "invariant fine: true or").replace("all_voted holds, ", "")

    with pytest.raises(Unsupported, match="symmetry"):
        outcome(text, 1, engine=engine)
    outcome(text, 1, engine=engine, symmetry=False)


def test_properties_of_fair_runs_are_refused_with_it() -> None:
    with pytest.raises(Unsupported, match="eventually always all_voted up to symmetry"):
        outcome(BALLOTS.replace("reachable", "eventually always"), 1)


def test_a_search_that_a_limit_ends_says_what_symmetry_would_spare() -> None:
    said = "the members of Voter are interchangeable: with `symmetry` in the check, or --symmetry"

    assert said in notes(outcome(BALLOTS, limits=Limits(states=10)))
    assert "up to 120 times fewer" in notes(outcome(BALLOTS, limits=Limits(states=10)))
    assert not notes(outcome(BALLOTS))
    assert not notes(outcome(BALLOTS, 1, limits=Limits(states=3)))
    of_runs = BALLOTS.replace("reachable", "always eventually")
    assert not notes(outcome(of_runs, limits=Limits(states=10)))


def test_so_many_members_that_no_engine_takes_their_names_get_no_advice() -> None:
    many = BALLOTS.replace("Voter = 5", "Voter = 8")
    related = many.replace(
        "voted: bool = false", "voted: bool = false  durable after: set[Voter] = {}"
    ).replace("require fresh:", "require last: v not in v.after  require fresh:")

    assert "up to 40,320 times fewer" in notes(outcome(many, limits=Limits(states=10)))
    assert not notes(outcome(related, limits=Limits(states=10)))


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("if v.voted { v.voted := false }", "a `for` over them has an `if`"),
        ("v.log := []", "a `for` over them changes the cached field `log`"),
        ("first := none", "a `for` over them changes what is not its member's own"),
        ("v.voted := exists w: Voter. w.voted", "a `for` over them reads the `voted` that its other rounds"),
    ],
)
def test_what_keeps_members_apart_is_named_with_its_line(statement: str, why: str) -> None:
    text = CLERK.replace("STATEMENT", statement)
    cut = notes(outcome(text.replace("CLAUSE", ""), limits=Limits(states=2)))

    assert f"symmetry leaves the members of Voter apart: {why}" in cut
    assert "(line 9)" in cut
    assert "the members of Clerk apart: the config `chief` names one of them (line 5)" in cut


def test_members_that_stay_apart_are_named_beside_those_that_do_not() -> None:
    found = outcome(CLERK.replace("STATEMENT", "v.voted := false").replace("CLAUSE", "symmetry"))

    assert found.findings.symmetry == ("Voter",)
    assert "the members of Clerk apart" in notes(found)
    assert "Voter" not in notes(found)


@pytest.mark.parametrize("way", [("--simulate", "10"), ("--engine", "bmc"), ("--engine", "ic3")])
def test_a_way_of_searching_that_has_no_use_of_the_clause_says_what_to_write(
    way: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ballots.rsm").write_text(BALLOTS)
    given = ["check", str(tmp_path / "ballots.rsm"), "--check", "by_number", *way]
    cli.main(given)
    said = "".join(capsys.readouterr())

    assert "--no-symmetry asks without it" in said
    cli.main([*given, "--no-symmetry"])
    assert "cannot do" not in "".join(capsys.readouterr())
