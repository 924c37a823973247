"""Whether answers stay with each bound one larger, against each larger scope searched by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from modelcheck.api import Unmet, check
from modelcheck.asking.models import pick_checks
from modelcheck.asking.next_scope.answers import LargerAnswer, compared
from modelcheck.asking.next_scope.larger import larger, limits
from modelcheck.asking.next_scope.search import NextScopeRow, NextScopeSearch
from modelcheck.asking.next_scope.text import exit_of
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Unknown
from modelcheck.processes.workers import Workers
from spec.load import loads
from spec.model.ir import Model
from spec.model.values import ModelError
from tests.consoles import console_example
from tests.fuzz.of_sweeps import Here
from tests.model_texts import model_texts

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent.parent
FEW = Limits(states=20_000)
STAIRS = """
protocol stairs

sort Foot
nat  Height, Width

state { up: Height = 0, along: Width = 0, tired: bool = false }

process Foot { durable sore: bool = false }

action climb { up := up + 1 }
action walk { require slow: along < 1; along := along + 1 }
fault stumble(f: Foot) { require well: not f.sore; f.sore := true; tired := forall g: Foot. g.sore }

invariant low: up <= 3
invariant rested: not tired
reachable top: up == 2

"""


SUMS = """
protocol sums

nat A, B

state { a: A = 0, b: B = 0 }

action go { a := a + 1 }
action come { b := b + 1 }

invariant apart: a < 99 or b < 99
reachable both: a == 1 and b == 1

"""


@pytest.fixture(autouse=True, scope="module")
def here() -> Iterator[None]:
    """To start another process takes longer than these searches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modelcheck.asking.next_scope.search.Workers", Here)
        yield


def rows_of(text: str, limits: Limits = FEW) -> list[NextScopeRow]:
    found = dict(NextScopeSearch(pick_checks(loads(text), [])).rows(limits))
    return [found[number] for number in sorted(found)]


def row_of(clauses: str, text: str = STAIRS, limits: Limits = FEW) -> NextScopeRow:
    (row,) = rows_of(f"{text}check it {{ {clauses} }}", limits)
    return row


def changes(row: NextScopeRow) -> dict[tuple[str, ...], list[tuple[str, str, str]]]:
    """What changes at each larger scope."""
    return {
        each.names: [(change.property, change.was, change.now) for change in each.changes]
        for each in row.answers
        if each.changes
    }


# ------------------------------------------------------------------------ what changes


def test_a_verdict_that_a_larger_scope_takes_back_is_told_with_its_run() -> None:
    row = row_of("scope Foot = 1, Height = 3, Width = 2  faults none  only low  expect low holds")
    (_, changed, *_) = row.answers
    (change,) = changed.changes

    assert changed.names == ("Height",)
    assert (change.property, change.was) == ("low", "holds without faults")
    assert change.now == "is violated (0 faults, 4 steps)"
    assert change.run is not None
    assert change.run.scope.nats == {"Height": 4, "Width": 2}
    assert exit_of(row) is Exit.VIOLATED


def test_a_fewest_number_of_faults_that_a_larger_scope_changes_is_told() -> None:
    row = row_of(
        "scope Foot = 1, Height = 1, Width = 2  faults <= 2  only rested  expect rested violated with 1 fault"
    )

    assert changes(row) == {
        ("Foot",): [("rested", "is violated (1 fault, 1 step)", "is violated (2 faults, 2 steps)")],
        ("Foot", "Height", "Width"): [
            ("rested", "is violated (1 fault, 1 step)", "is violated (2 faults, 2 steps)")
        ],
    }


def test_a_reachable_that_a_larger_scope_reaches_is_told() -> None:
    row = row_of("scope Foot = 1, Height = 1, Width = 2  faults none  only top  expect top violated")

    assert changes(row)["Height",] == [("top", "is never reached", "is reached (0 faults, 2 steps)")]


def test_an_error_of_the_model_at_a_larger_scope_is_told() -> None:
    text = "protocol small\nnat N\nstate { n: N = 0, m: 0..2 = 0 }\naction go { n := n + 1  m := m + 1 }\n"
    row = row_of("scope N = 2", text)

    assert changes(row) == {("N",): [("", "no error", "the model makes an error, R0601")]}


def test_what_is_expected_for_any_number_of_faults_has_to_stay_so() -> None:
    text = """
    protocol worn
    nat N
    state { n: N = 0, far: bool = false }
    fault wear { n := n + 1 }
    invariant near: not far
    check it { scope N = 1  faults <= 1  expect near holds for any faults }
    """
    (row,) = rows_of(text)

    assert changes(row) == {
        ("N",): [("near", "holds for any number of faults", "holds with at most 1 fault")]
    }


def test_that_the_steps_alone_differ_is_no_change() -> None:
    text = """
    protocol ways
    nat N
    state { n: N = 0, slow: 0..3 = 0, there: bool = false }
    action hop { n := n + 2  there := true }
    action crawl { slow := min(3, slow + 1)  there := slow == 3 or there }
    invariant never: not there
    check it { scope N = 1  expect never violated in 3 steps }
    """
    (row,) = rows_of(text)
    (answer,) = row.answers

    assert [(each.was, each.now) for each in answer.lengths] == [
        ("is violated (0 faults, 3 steps)", "is violated (0 faults, 1 step)")
    ]
    assert answer.is_same
    assert exit_of(row) is Exit.EXPECTED


# ------------------------------------------------------------------------ what is declared


def test_an_exact_bound_is_part_of_the_question_and_what_it_changes_is_still_told() -> None:
    row = row_of(
        "scope Foot = exactly 1, Height = 1, Width = 2  faults <= 2  only rested  expect rested violated"
    )

    assert row.changed == ()
    assert list(changes(row)) == [("Foot",)]
    assert [each.names for each in row.confirmed] == [("Height",), ("Width",), ("Height", "Width")]
    assert exit_of(row, strict=True) is Exit.EXPECTED


def test_an_exact_bound_without_which_nothing_changes_is_minded_where_one_is_strict() -> None:
    row = row_of("scope Foot = 1, Height = exactly 1, Width = 2  faults none  only rested")

    assert row.idle == ("Height",)
    assert exit_of(row) is Exit.EXPECTED
    assert exit_of(row, strict=True) is Exit.VIOLATED


def test_an_exact_bound_may_change_answers_only_together_with_others() -> None:
    text = """
    protocol both
    nat A, B
    state { a: A = 0, b: B = 0 }
    action go { a := a + 1 }
    action come { b := b + 1 }
    invariant apart: a < 2 or b < 2
    check it { scope A = exactly 1, B = 1 }
    """
    (row,) = rows_of(text)

    assert list(changes(row)) == [("A", "B")]
    assert row.idle == ()
    assert exit_of(row, strict=True) is Exit.EXPECTED


def test_what_is_typed_in_place_of_an_exact_bound_is_not_exact(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "stairs.rsm"
    file.write_text(
        STAIRS + "check it { scope Foot = exactly 1, Height = 1, Width = 1  faults <= 3  only rested }"
    )
    typed = ["check", str(file), "--next-scope", "--json", "--scope"]
    _, other, _ = run(*typed, "Foot=2")
    _, same, _ = run(*typed, "Foot=1")

    assert [json.loads(out)["checks"][0]["exact"] for out in (other, same)] == [[], ["Foot"]]


# ------------------------------------------------------------------------ what is not known


def test_what_is_not_finished_never_counts_as_the_same() -> None:
    row = row_of("scope A = 10, B = 10", SUMS, Limits(states=140))

    assert {each.names: each.unfinished for each in row.unfinished} == {
        ("A", "B"): "the limit of states is reached"
    }
    assert exit_of(row) is Exit.UNKNOWN


def test_a_check_that_does_not_end_is_not_asked_at_larger_scopes() -> None:
    row = row_of(
        "scope Foot = 1, Height = 900, Width = 1  faults none  only rested", limits=Limits(states=300)
    )

    assert (row.why, row.answers) == ("the limit of states is reached", ())
    assert exit_of(row) is Exit.UNKNOWN


def test_a_check_that_is_not_as_expected_is_so_at_the_next_scope_too() -> None:
    row = row_of("scope Foot = 1, Height = 1, Width = 1  faults none  only low  expect low violated")

    assert row.changed == ()
    assert exit_of(row) is Exit.VIOLATED


def test_a_scope_against_an_assumption_is_none() -> None:
    text = f"{STAIRS}assume one_foot: size(Foot) == 1\n"
    row = row_of("scope Foot = 1, Height = 1, Width = 1  faults none  only rested", text)

    assert row.answers[0].problem == "against the assumption one_foot"
    assert ("Height", "Width") in {each.names for each in row.confirmed}
    assert exit_of(row) is Exit.EXPECTED


def test_the_language_has_no_larger_sort() -> None:
    row = row_of("scope Foot = 64, Height = 1, Width = 1  faults none  only low")

    assert row.answers[0].problem == "the language has no larger one"


def test_a_check_without_bounds_has_no_larger_scope() -> None:
    (row,) = rows_of("protocol still\nstate { on: bool = true }\ninvariant lit: on\ncheck it { }")

    assert row.answers == ()
    assert exit_of(row) is Exit.EXPECTED


# ------------------------------------------------------------------------ what need not be searched


def ways(row: NextScopeRow) -> dict[tuple[str, ...], str]:
    return {each.names: each.because for each in row.answers}


def test_where_no_step_is_cut_a_larger_bound_is_not_searched() -> None:
    row = row_of("scope Foot = 1, Height = 1, Width = 1  faults none  only rested")

    assert ways(row) == {
        ("Foot",): "",
        ("Height",): "the same with all of them larger",
        ("Width",): "no step is cut there",
        ("Foot", "Height", "Width"): "",
    }


def test_what_all_larger_bounds_leave_as_it_is_each_of_them_does() -> None:
    row = row_of("scope A = 2, B = 2", SUMS)

    assert ways(row) == {
        ("A",): "the same with all of them larger",
        ("B",): "the same with all of them larger",
        ("A", "B"): "",
    }


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ("state { n: N = 0 }", {"N"}),
        ("state { s: seq[bool; N] = [] }", {"N"}),
        ("state { s: set[N] = {} }  action add(x in N) { s.add(x) }", set()),
        ("state { m: map[N, bool] = [x: N -> false] }", set()),
        ("state { n: N = 0 }  invariant least: exists x: N. x == n", set()),
        ("state { n: N = 0 }  assume some: size(N) > 1", set()),
        ("state { n: N = 0 }  init { choose x in N  n := x }", set()),
        ("sort S  state { n: N = 0 }  network net[S]: bag of N", {"N", "net"}),
        ("state { b: bool = false }  network net[N]: bag of bool", {"net"}),
        ("record R { of: map[N, bool] }  state { r: R? = none }", set()),
    ],
)
def test_a_nat_is_a_mere_limit_where_nothing_lists_its_values(declared: str, found: set[str]) -> None:
    (model,) = loads(f"protocol some\nnat N\n{declared}\n")

    assert limits(model) == found


def searched(model: Model, row: NextScopeRow, answer: LargerAnswer) -> LargerAnswer | None:
    """What a search of a larger scope says, by the reference engine; None where it does not end."""
    own = check(model, larger(row.check, ()), engine="reference", limits=FEW)
    try:
        found = check(model, larger(row.check, answer.names), engine="reference", limits=FEW)
    except (Unmet, ModelError):
        return None
    if any(isinstance(result.verdict, Unknown) for each in (own, found) for result in each.findings.results):
        return None
    return compared(answer.names, own, found)


@settings(max_examples=60, deadline=None)
@given(model_texts())
def test_what_is_not_searched_is_what_a_search_finds(text: str) -> None:
    (*_, model) = loads(text)
    for row in rows_of(text, Limits(states=2_000)):
        for answer in row.answers:
            found = searched(model, row, answer) if answer.because or answer.changes else None
            if found is not None:
                assert found.is_same is answer.is_same, (answer.names, answer.because)
                assert [each.now for each in found.changes] == [each.now for each in answer.changes]


# ------------------------------------------------------------------------ the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stairs.rsm"
    path.write_text(
        STAIRS
        + "check small { scope Foot = 1, Height = 3, Width = 1  faults none  only low  expect low holds }\n"
        + "check one_foot { scope Foot = exactly 1, Height = 1, Width = 1  faults <= 2  only rested"
        + "  expect rested violated with 1 fault }\n"
        + "check enough { scope Foot = 2, Height = 5, Width = 1  faults none  only low"
        + "  expect low violated }\n"
    )
    return path


def test_the_command_tells_what_changes_and_what_stays(
    run: Run, file: Path, golden: Callable[[str, str], None]
) -> None:
    code, out, _ = run("check", file.name, "--next-scope")

    golden("next_scope/stairs.txt", out)
    assert code == Exit.VIOLATED


def test_a_check_without_expectations_is_told_with_its_own_answer(run: Run, file: Path) -> None:
    check = "check plain { scope Foot = 1, Height = 4, Width = 1  faults none  only low }"
    file.write_text(f"{STAIRS}{check}\n")
    code, out, _ = run("check", file.name, "--next-scope")

    assert code == Exit.VIOLATED
    assert "stairs · plain: violated: low; the same with each bound one larger, alone and together" in out
    assert "1 check: 1 violated or not as expected at its own scope" in out


def test_the_command_says_how_each_answer_is_known_and_tells_the_runs(
    run: Run, file: Path, golden: Callable[[str, str], None]
) -> None:
    _, out, _ = run("check", file.name, "--next-scope", "-v", "--check", "small", "--check", "one_foot")

    golden("next_scope/stairs_in_full.txt", out)


def test_a_quiet_command_tells_only_what_does_not_stay(run: Run, file: Path) -> None:
    _, out, _ = run("check", str(file), "--next-scope", "-q")

    assert re.findall("stairs · (.*?):", out) == ["small"]


def test_programs_are_told_the_same(run: Run, file: Path) -> None:
    code, out, _ = run("check", str(file), "--next-scope", "--json", "--check", "small")
    found: dict[str, Any] = json.loads(out)
    (told,) = found["checks"]

    assert (code, told["exit"], found["unanswered"]) == (1, 1, 0)
    assert [(each["scope"], each["answer"]) for each in told["larger"]] == [
        ({"Foot": 2}, "same"),
        ({"Height": 4}, "changed"),
        ({"Width": 2}, "same"),
        ({"Foot": 2, "Height": 4, "Width": 2}, "changed"),
    ]
    (change,) = told["larger"][1]["changes"]
    assert (change["property"], change["was"]) == ("low", "holds without faults")
    assert len(change["trace"]["states"]) == 5


def test_runs_that_change_an_answer_are_drawn(run: Run, file: Path, tmp_path: Path) -> None:
    run("check", str(file), "--next-scope", "--check", "one_foot", "--draw", "mermaid", "--out", "runs")

    assert [path.suffix for path in (tmp_path / "runs").iterdir()] == [".mmd"]


def test_what_is_unfinished_is_unknown(run: Run, file: Path) -> None:
    code, out, _ = run("check", str(file), "--next-scope", "--check", "enough", "--max-states", "2")

    assert code == Exit.UNKNOWN
    assert "? stairs · enough: not asked at a larger scope: the limit of states is reached" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--why"], "--next-scope goes without --why"),
        (["--symmetry", "--html", "a.html"], "--next-scope goes without --html, --symmetry"),
        (["--engine", "bmc"], "not allowed with argument"),
        (["--check", "smal"], "did you mean `small`?"),
        (["--out", "somewhere"], "--out is where --draw FORMAT writes"),
    ],
)
def test_what_would_change_nothing_is_refused(
    run: Run, file: Path, words: Sequence[str], message: str
) -> None:
    code, _, told = run("check", str(file), "--next-scope", *words)

    assert code == Exit.WRONG
    assert message in told


def interrupted_after(searches: int) -> type[Here]:
    """Workers of which Ctrl-C ends the work after some searches."""

    class Interrupted(Here):
        left = searches

        def some(self, numbers: Iterable[int], _: object = None) -> Iterator[tuple[int, Any]]:
            for number, result in super().some(numbers):
                if not self.left:
                    return
                self.left -= 1
                yield number, result

    return Interrupted


def test_what_was_found_before_an_interruption_is_told(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.asking.next_scope.search.Workers", interrupted_after(8))
    code, out, _ = run("check", str(file), "--next-scope", "--json")
    told = json.loads(out)

    assert code == Exit.VIOLATED  # by what was found
    assert [each["check"] for each in told["checks"]] == ["small", "one_foot", "enough"]
    assert "unfinished" in {each["answer"] for each in told["checks"][2]["larger"]}


def test_an_interrupted_command_says_that_it_is_partial(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.asking.next_scope.search.Workers", interrupted_after(2))
    code, out, _ = run("check", str(file), "--next-scope")

    assert code == Exit.UNKNOWN
    assert "PARTIAL: 2 of 3 checks: 2 not finished" in out


def test_workers_answer_the_numbers_they_are_given(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.asking.next_scope.search.Workers", Workers)
    found = dict(NextScopeSearch(pick_checks(loads(file.read_text()), ["one_foot", "small"])).rows(FEW))

    assert [exit_of(found[number]) for number in (0, 1)] == [Exit.VIOLATED, Exit.EXPECTED]


def test_the_readme_shows_what_next_scopes_come_to(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / "docs/how-to/trust-a-model.md"
    words, shown = console_example(page, ".* --next-scope.*")
    main(words)

    in_document(page, shown, capsys.readouterr().out)
