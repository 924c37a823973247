"""What the command says of the distinct ways to violate a property."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.modelcheck.test_distinct import ROOT, TWO


@pytest.fixture
def lamp(tmp_path: Path) -> str:
    path = tmp_path / "lamp.rsm"
    path.write_text(TWO, encoding="utf-8")
    return str(path)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "100")

    def cli(*words: str) -> tuple[int, str, str]:
        code = main(["check", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return cli


def test_the_list_has_the_steps_of_each_way_and_how_far_it_goes(lamp: str, run: Run) -> None:
    code, out, _ = run(lamp, "--all")
    told = out[out.index("lit: ") :]

    assert code == Exit.VIOLATED
    assert (
        told
        == """\
lit: 2 distinct ways to violate it

  1  1 fault (rot), 1 step
     1 ⚡ rot
     This breaks `lit`: rotten is true.

  2  1 fault (crash), 2 steps
     1    cut
     2 ⚡ crash
     This breaks `lit`: crashed is true and is_cut is true.

  Looked at 5 violating runs with up to 2 faults, in 7 states: each contains one of these.
"""
    )


def test_with_v_each_has_its_story(lamp: str, run: Run) -> None:
    _, out, _ = run(lamp, "--all", "-v")

    assert out.count("lit is violated in") == 2
    assert out.index("lit, way 1 of 2\nlit is violated in 1 step") < out.index("lit, way 2 of 2\nlit is")


def test_json_has_a_list(lamp: str, run: Run) -> None:
    _, out, _ = run(lamp, "--all", "--json", "--why")
    told = json.loads(out)[0]["properties"][0]["distinct"]

    assert [(each["faults"], each["steps"]) for each in told["runs"]] == [(1, 1), (1, 2)]
    assert [each["explanation"]["core"]["of"] for each in told["runs"]] == [1, 2]
    assert [len(each["trace"]["states"]) for each in told["runs"]] == [2, 3]
    assert (told["most_faults"], told["unfinished"]) == (2, None)


def test_without_it_json_is_as_it_was(lamp: str, run: Run) -> None:
    _, out, _ = run(lamp, "--json")

    assert "distinct" not in json.loads(out)[0]["properties"][0]


def test_files_have_every_way_with_a_number(lamp: str, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    page = tmp_path / "page.html"
    run(lamp, "--all", "--draw", "mermaid,itf", "--out", str(folder), "--html", str(page))

    assert {path.name for path in folder.iterdir()} == {
        f"lamp{number}.all.lit{suffix}" for number in ("", "-2") for suffix in (".mmd", ".itf.json")
    }
    text = page.read_text(encoding="utf-8")
    assert "way 1 of 2" in text
    assert "way 2 of 2" in text
    assert "each contains one of these" in text


def test_what_is_about_whole_runs_is_said_to_have_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lamp.rsm"
    path.write_text(TWO.replace("invariant lit:", "recoverable lit:"), encoding="utf-8")
    _, out, _ = run(str(path), "--all", "--engine", "reference")

    assert "lit: no further way was looked for, since `recoverable` is about whole runs" in out
    assert "distinct way" not in out
    assert "lit is violated in" in out, "its story is told as ever"


def test_an_interrupted_list_is_told_and_the_exit_code_says_so(
    lamp: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.diagnosis.distinct.search._Ways._look_into", interrupted)
    code, out, _ = run(lamp, "--all")

    assert code == Exit.VIOLATED, "the worst of what is known"
    assert "lit: 1 distinct way to violate it" in out
    assert "There may be more from 0 faults and 0 steps on: interrupted." in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--all", "0"], "`0` is not a number from 1 to 1,000"),
        (["--all", "-1"], "argument"),
        (["--all", "1001"], "`1001` is not a number from 1 to 1,000"),
        (["--all", "lamp.rsm"], "write a file before --all"),
        (["--all", "--simulate", "5"], "give --all without --simulate"),
        (["--all", "--estimate"], "leave out --all"),
        (["--all", "-q"], "--all tells more and --quiet tells less"),
        (["--all", "--engine", "bmc"], "leave out --engine bmc"),
        (["--all", "--engine", "prove"], "leave out --engine prove"),
        (["--all", "--engine", "spark"], "leave out --engine spark"),
    ],
)
def test_bad_arguments_are_refused(lamp: str, run: Run, words: list[str], message: str) -> None:
    code, out, err = run(lamp, *words)

    assert (code, out) == (Exit.WRONG, "")
    assert message in err


def test_the_readme_shows_what_the_command_says(
    run: Run, monkeypatch: pytest.MonkeyPatch, in_document: Callable[[Path, str, str], None]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / "docs/how-to/understand-a-violation.md"
    pattern = r"^modelcheck check (.* --all)\n```\n\n```text\n((?:.*\n)*?)```$"
    ((words, shown),) = re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE)
    _, out, _ = run(*words.split())

    in_document(page, shown, out[out.index("committed_on_leader: ") :])
