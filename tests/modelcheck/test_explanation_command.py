"""What the commands say of why a run goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcheck import cli
from tests.modelcheck.test_explanation import TANK


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = cli.main(["check", *args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def tank(tmp_path: Path) -> str:
    path = tmp_path / "tank.rsm"
    path.write_text(TANK.replace("FAULTS", "1"))
    return str(path)


def test_check_says_why_behind_the_story_of_a_violation(
    tank: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, tank)

    assert code == 1
    assert (
        out.index("wet is false in this state") < out.index("\nwhy\n") < out.index("  no return  From step 3")
    )
    assert "without it" not in out


def test_check_explain_says_what_becomes_of_it_without_each_step(
    tank: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, tank, "--why")

    assert "1  crack  without it, step 2 is not possible: `leak and level > 0` is false" in out


def test_check_explain_json_has_the_explanation(tank: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, tank, "--json", "--why")
    told = json.loads(out)[0]["properties"][0]["explanation"]

    assert told["core"]["sentence"] == "All 3 steps are needed."
    assert told["no_return"]["state"] == 3
    assert told["no_return"]["sentences"][0].startswith("From step 3 on")
    assert [fact["text"] for part in told["parts"] for fact in part["facts"]] == ["level"]


def test_json_has_no_explanation_unless_asked(tank: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, tank, "--json")

    assert "explanation" not in json.loads(out)[0]["properties"][0]


def test_show_explains_a_trace_from_a_file(
    tank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(tmp_path / "tank.itf.json")
    run(capsys, tank, "--itf", kept)
    code = cli.main(["trace", "show", kept, tank, "--why"])
    out = capsys.readouterr().out

    assert code == 0
    assert "\nwhy\n" in out
    assert "3  drop   without it, nothing is wrong at the end" in out


def test_explain_and_quiet_do_not_go_together(tank: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, tank, "--why", "--quiet")

    assert code == 2
    assert "--why tells more and --quiet tells less" in err
