"""A file that goes on from another one means what the two texts mean together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modelcheck import cli
from modelcheck.api import check
from spec.diagnostics import SpecError
from spec.formatting.format import format_text
from spec.load import load, loads

BASE = """\
// A lamp.
protocol lamp
nat Times
state { lit: bool = false  times: Times = 0 }
action press { require once: times < 3  lit := not lit  times := times + 1 }
fault rot { lit := false }
invariant few: times < 9
check own { scope Times = 2  faults none }
"""
MINE = """\
// What if it could stay lit?
import "lamp.rsm"
variant stuck of lamp {
  replace fault rot { require lit: lit
    times := 9 }
}
check of_it { scope Times = 3  faults none }
check of_stuck of stuck { scope Times = 9  faults <= 1  expect few violated with 1 fault }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lamp.rsm").write_text(BASE, encoding="utf-8")
    (tmp_path / "mine.rsm").write_text(MINE, encoding="utf-8")
    return tmp_path


def mistake(path: Path) -> str:
    with pytest.raises(SpecError) as found:
        load(path)
    return str(found.value)


def test_it_is_as_if_the_other_text_stood_before_it(folder: Path) -> None:
    models = load(folder / "mine.rsm")
    base, mine = BASE.replace("check own { scope Times = 2  faults none }\n", ""), MINE.split("\n", 2)[2]
    together = loads(base + mine)

    assert [model.name for model in models] == ["lamp", "stuck"]
    assert [[each.name for each in model.checks] for model in models] == [["of_it"], ["of_stuck"]]
    for one, other in zip(models, together, strict=True):
        assert (one.variables, one.actions, one.properties) == (
            other.variables,
            other.actions,
            other.properties,
        )
        for asked in one.checks:
            found = check(one, asked, engine="reference")
            assert found.mismatches == ()
            assert found.findings.stats.states > 1


def test_its_whole_text_is_a_model_file_by_itself(folder: Path) -> None:
    models = load(folder / "mine.rsm")
    again = loads(models[0].source.text)

    assert [m.name for m in again] == [m.name for m in models]
    assert [m.checks for m in again] == [m.checks for m in models]


def test_a_protocol_of_the_library_is_imported_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.rsm"
    path.write_text(
        "import figure8\ncheck again { scope Server = 3, Term = 3, Index = 1 }\n", encoding="utf-8"
    )
    own, library = load(path), load("figure8")

    assert own[0].actions == library[0].actions
    assert [each.name for model in own for each in model.checks] == ["again"]


def test_an_import_by_name_is_of_the_library_whatever_stands_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "figure8").mkdir()
    (tmp_path / "raft.rsm").write_text(BASE, encoding="utf-8")
    (tmp_path / "zab").write_text(BASE, encoding="utf-8")

    for name in ("figure8", "raft", "zab"):
        assert loads(f"import {name}\n")[0].name == name


def test_an_import_by_a_name_of_no_protocol_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "lamp").write_text(BASE, encoding="utf-8")
    (folder / "mine.rsm").write_text("import lamp\n", encoding="utf-8")
    told = mistake(folder / "mine.rsm")

    assert "mine.rsm:1:8: error[R0103]: no protocol that comes with modelcheck is called `lamp`" in told
    assert 'help: a file is imported by its path: `import "lamp.rsm"`' in told


def test_the_manual_shows_one_that_finds_what_it_says() -> None:
    manual = (Path(__file__).parents[2] / "spec/language.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(import kisr\n(?:.*\n)*?)```", manual)
    (lost,) = [(model, each) for model in loads(shown) for each in model.checks]

    assert check(*lost).mismatches == ()


def test_imports_may_follow_each_other(folder: Path) -> None:
    (folder / "deeper").mkdir()
    path = folder / "deeper" / "more.rsm"
    path.write_text(
        'import "../mine.rsm"\ncheck more of stuck { scope Times = 3  faults none }\n', encoding="utf-8"
    )

    assert [(m.name, [c.name for c in m.checks]) for m in load(path)] == [("lamp", []), ("stuck", ["more"])]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("times := 9 }", "tims := 9 }", "mine.rsm:5:5"),
        ("check of_it { scope Times = 3", "check of_it { scope Time = 3", "mine.rsm:7:7"),
    ],
)
def test_a_mistake_is_told_where_it_stands(folder: Path, old: str, new: str, place: str) -> None:
    (folder / "mine.rsm").write_text(MINE.replace(old, new), encoding="utf-8")

    assert mistake(folder / "mine.rsm").startswith(f"{folder}/{place}: error[")


def test_a_mistake_in_the_imported_file_is_told_there(folder: Path) -> None:
    (folder / "lamp.rsm").write_text(BASE.replace("lit := not lit", "lit := not lid"), encoding="utf-8")
    told = mistake(folder / "mine.rsm")

    assert told.startswith(f"{folder}/lamp.rsm:5:52: error[")
    assert "    5 | action press { require once: times < 3  lit := not lid  times := times + 1 }" in told


def test_a_file_that_is_not_there_is_told_at_the_import(folder: Path) -> None:
    (folder / "lamp.rsm").unlink()

    told = mistake(folder / "mine.rsm")

    assert told.startswith(f"{folder}/mine.rsm:2:8: error[R0103]: there is no such file")


def test_a_circle_is_told_with_all_of_it(folder: Path) -> None:
    (folder / "lamp.rsm").write_text('import "mine.rsm"\n', encoding="utf-8")
    told = mistake(folder / "mine.rsm")

    assert "error[R0105]" in told
    assert f"{folder}/mine.rsm → {folder}/lamp.rsm → {folder}/mine.rsm" in told


def test_the_canonical_layout_keeps_the_import() -> None:
    text = format_text(MINE)

    assert text.startswith('// What if it could stay lit?\nimport "lamp.rsm"\n')
    assert format_text(text) == text


def test_a_run_through_both_files_can_be_shown_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, itf = str(folder / "mine.rsm"), str(folder / "run.itf.json")
    assert cli.main(["check", mine, "--check", "of_stuck", "--itf", itf, "-v"]) == 0
    told = capsys.readouterr().out
    assert cli.main(["trace", "show", itf, mine]) == 0

    assert f"{folder}/lamp.rsm:7:" in told
    assert "few is violated" in capsys.readouterr().out
