"""A sweep answers each point as a check of its own does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.asking.sweep import Axis, Orders, SweepPoint, answer, answers, axis, points
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from spec.diagnostics import SpecError
from spec.load import load
from spec.model.ir import Model
from tests.consoles import console_example

ROOT = Path(__file__).parent.parent.parent
KAFKA = ROOT / "spec/protocols/kafka.rsm"
AXES = ("min_isr=1,2", "faults=0..2")
FEW = """
protocol few
sort Node
nat Count
config eager: bool = false
assume two: size(Node) >= 2
state { many: Count = 0 }
action step() { many := many + 1 }
invariant low: many <= 2 or not eager
check a {
  scope Node = 2, Count = 3
  expect low holds
}
"""


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.rsm"
    path.write_text(FEW)
    return path


@pytest.fixture(scope="module")
def kafka() -> tuple[Model, ...]:
    return load(KAFKA)


def grid(models: tuple[Model, ...], *texts: str, name: str = "jepsen") -> list[SweepPoint]:
    checks = [(model, each) for model in models for each in model.checks if each.name == name]
    return points(models, checks, [axis(text) for text in texts], Overrides())


# ------------------------------------------------------------------------ grids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1", Axis("A", ("1",))),
        (" A = 1 , 2 ", Axis("A", ("1", "2"))),
        ("A=2..4,7", Axis("A", ("2", "3", "4", "7"))),
        ("acks=none,leader", Axis("acks", ("none", "leader"))),
    ],
)
def test_an_axis_is_a_name_and_values(text: str, expected: Axis) -> None:
    assert axis(text) == expected


@pytest.mark.parametrize("text", ["", "A", "A=", "=1", "A=1,,2", "A=1,1", "A=1..2,2", "A=4..2", "A=0..99999"])
def test_what_is_no_axis_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="R0903"):
        axis(text)


def test_the_last_axis_is_the_fastest(kafka: tuple[Model, ...]) -> None:
    made = grid(kafka, *AXES)

    assert [p.values for p in made] == [(a, b) for a in ("1", "2") for b in ("0", "1", "2")]
    assert [p.check.scope.config["min_isr"] for p in made] == [1, 1, 1, 2, 2, 2]
    assert [p.check.budget.total for p in made] == [0, 1, 2, 0, 1, 2]
    assert all(p.check.expect == () for p in made)


def test_without_an_axis_checks_stay_as_they_are(kafka: tuple[Model, ...]) -> None:
    ((_, own),) = [(m, c) for m in kafka for c in m.checks if c.name == "jepsen"]

    assert [p.check for p in grid(kafka)] == [own]
    assert own.expect


def test_a_name_or_a_value_that_the_model_lacks_is_told_before_any_search(kafka: tuple[Model, ...]) -> None:
    with pytest.raises(SpecError, match="R0902"):
        grid(kafka, "Brokr=2")
    with pytest.raises(SpecError, match="R0903"):
        grid(kafka, "acks=none,some")


def test_too_many_points_are_refused(kafka: tuple[Model, ...]) -> None:
    with pytest.raises(SpecError, match="20,000 points are too many"):
        grid(kafka, "min_isr=1,2", "Epoch=1..10000")


# ---------------------------------------------------------------------- answers


def test_each_point_has_the_answer_of_its_check(kafka: tuple[Model, ...]) -> None:
    made = grid(kafka, *AXES)
    given_answers = dict(answers(made, Orders()))

    assert sorted(given_answers) == list(range(6))
    for number, point in enumerate(made):
        values = dict(zip(("min_isr", "faults"), point.values, strict=True))
        given = Overrides((), (f"min_isr={values['min_isr']}",), values["faults"])
        own = next(each for each in point.model.checks if each.name == "jepsen")
        found, expected = given_answers[number].outcome, check(point.model, apply(point.model, own, given))
        assert found is not None
        assert found.findings.results == expected.findings.results
        assert found.findings.stats.layers == expected.findings.stats.layers


def test_a_point_against_an_assumption_has_no_answer(few: Path) -> None:
    against, fitting = grid(load(few), "Node=1,2", name="a")
    found = answer(against, Orders())

    assert (found.outcome, found.problem, found.exit) == (None, "against the assumption two", Exit.EXPECTED)
    assert answer(fitting, Orders()).outcome is not None


def test_a_limit_is_for_each_search(few: Path) -> None:
    answers = [answer(point, Orders(Limits(states=3))) for point in grid(load(few), "Count=1,9", name="a")]

    assert [each.exit for each in answers] == [Exit.EXPECTED, Exit.UNKNOWN]


# ---------------------------------------------------------------------- the command


def table(text: str) -> str:
    """What was printed, with every time as 0.0 s."""
    return re.sub(r"  +\d+\.\d s", "     0.0 s", text)


def test_the_table_has_a_row_for_each_point(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", str(few), "--vary", "eager=false,true", "--vary", "Node=1,2"])

    assert code == Exit.VIOLATED
    assert table(capsys.readouterr().out) == (
        "eager  Node         states      time  found\n"
        "false  1                              – against the assumption two\n"
        "false  2                 4     0.0 s  ✓ holds\n"
        "true   1                              – against the assumption two\n"
        "true   2                 4     0.0 s  ✗ low (0 faults, 3 steps)\n"
        "\n4 points: 1 hold, 1 violated, 2 without an answer\n"
    )


def test_all_checks_of_a_file_are_answered_at_once(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few.write_text(
        FEW.replace(
            "check a {", "check b {\n  scope Node = 2, Count = 5\n  config eager = true\n}\ncheck a {"
        )
    )
    code = main(["sweep", str(few)])

    assert code == Exit.VIOLATED
    assert table(capsys.readouterr().out) == (
        "check           states      time  found\n"
        "few · b              4     0.0 s  ✗ low (0 faults, 3 steps)\n"
        "few · a              4     0.0 s  ✓ as expected\n"
        "\n2 points: 1 hold, 1 violated\n"
    )


def test_json_tells_each_point_with_its_outcome(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", str(few), "--vary", "Node=1,2", "--json"])
    against, fitting = json.loads(capsys.readouterr().out)

    assert code == Exit.EXPECTED
    assert against == {
        "model": "few",
        "check": "a",
        "values": {"Node": "1"},
        "problem": "against the assumption two",
    }
    assert fitting["values"] == {"Node": "2"}
    assert fitting["outcome"]["stats"]["states"] == 4


def test_what_is_of_spark_is_refused_without_it(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["sweep", str(few), "--master", "local[2]"])

    assert code == Exit.WRONG
    assert "--master is for --engine spark" in capsys.readouterr().err


def test_the_readme_shows_what_a_sweep_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    words, shown = console_example(ROOT / "docs/how-to/compare-configurations.md", "sweep .*")
    main(words)

    assert table(capsys.readouterr().out) == table(shown)
