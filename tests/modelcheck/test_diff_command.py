"""`modelcheck trace diff`: what it takes and what it refuses; what it says has golden files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterexamples.compare import compare
from counterexamples.itf.write import write
from counterexamples.lines import plain
from counterexamples.side_by_side import side_by_side
from modelcheck.cli import main
from modelcheck.search.first_names import RenamedRun, with_first_names
from tests.counterexamples.runs import TOY, divergence, walk


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "toy.rsm").write_bytes(TOY.read_bytes())
    (tmp_path / "a.itf.json").write_text(write(divergence()), encoding="utf-8")
    (tmp_path / "b.itf.json").write_text(write(walk("elect(a)", "write(a)", "elect(b)")), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_two_traces_are_told_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["trace", "diff", "a.itf.json", "b.itf.json", "toy.rsm"])
    found = compare(divergence(), walk("elect(a)", "write(a)", "elect(b)"))

    assert code == 0
    assert capsys.readouterr().out == plain(side_by_side(found, ("a.itf.json", "b.itf.json"), 100))


def test_runs_that_differ_by_names_alone_are_the_same(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = with_first_names(divergence())
    (files / "c.itf.json").write_text(write(RenamedRun(named.model, "Replica", (1, 0)).trace(named)))
    code = main(["trace", "diff", "a.itf.json", "c.itf.json", "toy.rsm"])
    out, err = capsys.readouterr()

    assert code == 0
    assert "Both take the same 7 steps:" in out
    assert "c.itf.json: members that may be renamed are named by who leads first: a is b, b is a" in err


@pytest.mark.usefixtures("files")
def test_two_states_of_a_trace_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["trace", "diff", "a.itf.json", "toy.rsm", "--steps", "0", "2"])

    assert code == 0
    assert "From the start to the state after step 2:" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("a.itf.json", "toy.rsm"), "two traces, or --steps with two steps of one"),
        (("a.itf.json", "toy.rsm", "--steps", "0", "8"), "a.itf.json has the steps 0 (the start) to 7"),
        (("a.itf.json", "toy.rsm", "--steps", "-1", "2"), "--steps -1"),
        (("a.itf.json", "b.itf.json", "toy.rsm", "--steps", "1", "4"), "b.itf.json has the steps 0"),
        (("a.itf.json", "b.itf.json", "a.itf.json", "toy.rsm"), "more were given"),
        (("a.itf.json", "c.itf.json", "toy.rsm"), "cannot be read"),
        (("a.itf.json", "toy.rsm", "toy.rsm"), "this is not JSON"),
        (("a.itf.json", "b.itf.json", "toy.rsm", "--of", "toi"), "did you mean `toy`?"),
        (("toy.rsm",), "required: "),
    ],
)
def test_a_wrong_use_is_told(args: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["trace", "diff", *args])
    found = capsys.readouterr()

    assert (code, found.out) == (2, "")
    assert said in found.err


def test_states_of_other_members_are_not_compared(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = json.loads((files / "b.itf.json").read_text().replace('"b"', '"c"'))
    (files / "c.itf.json").write_text(json.dumps(renamed))

    assert main(["trace", "diff", "a.itf.json", "c.itf.json", "toy.rsm"]) == 0
    assert "only their steps are compared" in capsys.readouterr().out
    assert main(["trace", "diff", "a.itf.json", "c.itf.json", "toy.rsm", "--steps", "1", "1"]) == 2
    assert "cannot be compared" in capsys.readouterr().err
