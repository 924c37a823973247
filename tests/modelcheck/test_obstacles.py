"""What stands in the way of a proof: drawn everywhere, and taken for a run nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import modelcheck.answers.card as card_module
import modelcheck.answers.outcome_json as outcome_json
from counterexamples.certify import NotReplayable, certify
from counterexamples.itf.write import write
from counterexamples.lines import plain
from counterexamples.text import text
from counterexamples.trace import BadAssert, Trace
from modelcheck import cli
from modelcheck.answers.formats import FORMATS, RunView, as_file
from modelcheck.answers.html_report import outcomes_page
from modelcheck.answers.matrix import MOST_SHOWN, matrix, obstacles, shown_steps
from modelcheck.answers.outcome_json import as_json
from modelcheck.api import check
from modelcheck.contract.proof import ObligationCell, ObligationStatus, Proof
from modelcheck.contract.result import End, Findings, Outcome, Result, Stats, Unknown, Violated
from modelcheck.diagnosis.explain import explain
from spec.load import loads

TINY = Path(__file__).parent / "tiny.rsm"
NOT_INDUCTIVE = """protocol small

nat N

state { x: N = 0 }

action up {
  x := x + 2
}

invariant odd: x != 3

reachable far: x == 4

check c {
  scope N = 9
  only  odd
}

check whole {
  scope N = 9
  only  far
}
"""


@cache
def no_run() -> Trace:
    """The last step of a run, as if nobody knew of the others."""
    model = loads(TINY.read_text(encoding="utf-8"), TINY.name)[0]
    verdict = check(model, model.checks[0]).verdict("safe")
    assert isinstance(verdict, Violated)
    run = verdict.trace
    assert run is not None
    return replace(run, states=run.states[-2:], steps=run.steps[-1:], check=None, is_run=False)


def outcome(*cells: ObligationCell) -> Outcome:
    """What a prover says that could not prove `safe`."""
    model = no_run().model
    kept = (ObligationCell("mono", "elect", ObligationStatus.PROVED, 0.25, decidable=True),)
    proof = Proof(("mono",), kept, cells, "Z3 version 9")
    verdict = Unknown("not inductive: it may be false after restart")
    results = tuple(Result(p.name, p.kind, verdict) for p in model.properties if p.name == "safe")
    stats = Stats(0, 0, 0, (), {}, {}, (), (), 1.25, 64_000_000)
    findings = Findings("prove", End.COMPLETE, results, stats, proof=proof)
    return Outcome(model, model.checks[0], findings, ())


def cell(action: str = "commit", *, shown: bool = True) -> ObligationCell:
    why = "" if shown else "the solver had no time left"
    kept = ObligationStatus.FAILED if shown else ObligationStatus.UNKNOWN
    return ObligationCell("safe", action, kept, 0.5, why, no_run() if shown else None)


@pytest.fixture(autouse=True)
def _one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (card_module, outcome_json):
        monkeypatch.setattr(module, "VERSION", "1.2.3")


def test_the_story_says_first_that_it_is_no_run(golden: Callable[[str, str], None]) -> None:
    told = text(no_run())

    assert told.startswith("not a run: a state that the claims allow, and a step from it after which safe is")
    assert "the start" not in told
    golden("traces/not_a_run.txt", told)


def test_several_steps_are_as_many() -> None:
    two = no_run().steps * 2

    assert "and 2 steps from it after which safe" in replace(no_run(), steps=two).headline()
    assert replace(no_run(), ending=BadAssert()).headline().endswith("a step from it that breaks safe")


@pytest.mark.parametrize("form", [name for name in FORMATS if not FORMATS[name].is_binary and name != "itf"])
def test_every_picture_says_that_it_is_no_run(form: str) -> None:
    drawn = as_file(FORMATS[form].draw(RunView(no_run())))
    assert isinstance(drawn, str)
    in_words = " ".join(drawn.replace("<br/>", " ").split())

    assert "not a run" in in_words
    assert "the start" not in in_words
    assert "before anything has happened" not in in_words
    assert "Not true at the end" not in in_words


def test_nobody_takes_it_for_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotReplayable, match="may not be reachable by any run"):
        certify(no_run())
    assert explain(no_run()) is None
    written = write(no_run())
    assert json.loads(written)["#meta"]["modelcheck"]["run"] is False
    (tmp_path / "t.itf.json").write_text(written, encoding="utf-8")

    assert cli.main(["trace", "show", str(tmp_path / "t.itf.json"), str(TINY)]) == 2
    told = capsys.readouterr().err
    assert "this is not a run of tiny" in told
    assert "it is an obstacle to a proof" in told


def test_the_matrix_and_what_stands_in_the_way(golden: Callable[[str, str], None]) -> None:
    found = outcome(cell(), cell("write", shown=False))

    golden("cards/obstacles.txt", plain([*matrix(found, 100), *obstacles(found, 100)]))


def test_programs_get_the_matrix_too(golden: Callable[[str, str], None]) -> None:
    told = as_json(outcome(cell(), cell("write", shown=False)))

    assert [each["kept"] for each in told["proof"]["obligations"]] == ["proved", "failed", "unknown"]
    golden("cards/proof.json", json.dumps(told, indent=2) + "\n")


def test_more_than_anybody_reads_are_counted() -> None:
    found = outcome(*(cell() for _ in range(MOST_SHOWN + 2)))

    told = plain(obstacles(found, 100))
    assert told.count("is not inductive") == MOST_SHOWN
    assert "2 more of these" in told
    assert len(shown_steps(found)) == MOST_SHOWN + 2


def test_a_page_links_a_verdict_to_the_step_that_stands_in_its_way() -> None:
    page = outcomes_page([outcome(cell())], ["modelcheck check tiny.rsm --engine prove"])

    assert "tiny · as_expected: safe after commit, not a run" in page
    assert "All of it in one picture" in page
    assert "The whole run" not in page


def test_a_proof_that_fails_draws_what_is_in_its_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.rsm").write_text(NOT_INDUCTIVE, encoding="utf-8")
    asked = ["check", str(tmp_path / "m.rsm"), "--check", "c", "--engine", "prove", "--seconds", "5"]
    out = ["--draw", "svg,storyboard", "--out", str(tmp_path), "--html", str(tmp_path / "p.html")]

    assert cli.main([*asked, *out, "--certificate", str(tmp_path / "proof")]) == 3
    told = capsys.readouterr()
    assert "not a run: a state that the claims allow" in told.out
    assert "there is no certificate" in told.err
    for name in ("small.no_run.odd.after_up.svg", "small.no_run.odd.after_up.storyboard.svg"):
        assert "not a run" in " ".join((tmp_path / name).read_text(encoding="utf-8").split())
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "small · c: odd after up, not a run" in page
    assert "--check c --engine prove --seconds 5" in page
    assert not (tmp_path / "proof").exists()


def test_where_nothing_is_answered_there_is_no_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.rsm").write_text(NOT_INDUCTIVE, encoding="utf-8")
    asked = ["check", str(tmp_path / "m.rsm"), "--check", "whole", "--engine", "prove"]

    assert cli.main([*asked, "--certificate", str(tmp_path / "proof")]) == 3
    told = capsys.readouterr().err
    assert "not answered: the engine prove cannot do: reachable far (use explicit)" in told
    assert "there is no certificate" in told


def test_a_lemma_that_is_false_at_the_start_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.rsm").write_text(NOT_INDUCTIVE + "\nlemma wrong: x > 0\n", encoding="utf-8")
    asked = ["check", str(tmp_path / "m.rsm"), "--check", "c", "--property", "wrong"]

    assert cli.main([*asked, "--engine", "prove"]) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert "not proved at the start: the solver knows a start for which it is false" in told
    assert "wrong at the start: it is false there, in the scope of the check too" in told
