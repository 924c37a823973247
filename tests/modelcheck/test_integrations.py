"""The GitHub action and the pre-commit hooks: what they would run is run, and the page fits them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelcheck.cli import main
from modelcheck.commands.registry import COMMANDS, renamed
from modelcheck.contract.exits import Exit
from spec.formatting.format import format_text

ROOT = Path(__file__).parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
PAGES = ("run-in-ci.md", "connect-an-agent.md")
PAGE = "".join((ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8") for page in PAGES)
TINY = ROOT / "tests" / "modelcheck" / "tiny.rsm"
STEPS = ACTION["runs"]["steps"]
Json = Any


def shown(mark: str, language: str = "yaml") -> Json:
    (text,) = re.findall(rf"^<!-- {mark} -->\n```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return yaml.safe_load(text)


def step(name: str) -> Json:
    return next(each for each in STEPS if each.get("name") == name)


@pytest.fixture
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a model, and a `python` that is ours."""
    (tmp_path / "tiny.rsm").write_text(format_text(TINY.read_text("utf-8"), "tiny.rsm"), encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The step that runs it, with the inputs as the action hands them on."""
    asked = step("Run modelcheck")
    inputs = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()} | given
    handed = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in asked["env"].items()
    }
    own = {"PYTHONPATH": str(ROOT), "GITHUB_OUTPUT": str(folder / "output")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", asked["run"]],  # noqa: S607 - as GitHub does
        cwd=folder,
        env={**os.environ, **own, **handed, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_action_is_composite_and_its_steps_run_or_use_something() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all(("uses" in each) != ("run" in each) for each in STEPS)
    assert all(each.get("shell") == "bash" for each in STEPS if "run" in each)
    assert {"name", "description", "inputs", "outputs", "runs"} <= ACTION.keys()


def test_no_input_stands_in_a_script_where_it_could_be_more_than_a_word() -> None:
    assert [each["run"] for each in STEPS if "${{" in each.get("run", "")] == []


def test_every_input_is_used_and_every_used_one_is_there() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION)))

    assert used == ACTION["inputs"].keys()


def test_the_action_installs_what_is_here() -> None:
    install = step("Install modelcheck")

    assert install["env"]["HERE"] == "${{ github.action_path }}"
    assert shlex.split(install["run"]) == ["python", "-m", "pip", "install", "--quiet", "$HERE"]
    assert (ROOT / "pyproject.toml").exists()


@pytest.mark.parametrize(("check", "code"), [("as_expected", 0), ("surprise", 1)])
def test_the_action_runs_a_check_and_fails_as_it_does(at_work: Path, check: str, code: int) -> None:
    run = run_action(at_work, files="tiny.rsm\n", options=f"--check {check}")

    assert run.returncode == code
    assert (at_work / "output").read_text("utf-8") == f"exit-code={code}\n"
    assert {"modelcheck.sarif", "modelcheck.xml"} <= {each.name for each in at_work.iterdir()}


def test_the_action_writes_no_file_that_is_not_asked_for(at_work: Path) -> None:
    run = run_action(at_work, files="tiny.rsm", options="--check as_expected", sarif="", junit="")

    assert run.returncode == Exit.EXPECTED
    assert sorted(each.name for each in at_work.iterdir()) == ["bin", "output", "tiny.rsm"]


@pytest.mark.parametrize("command", ["kafka review", "review"])
def test_the_action_reviews_a_configuration(at_work: Path, command: str) -> None:
    (at_work / "c.properties").write_text("min.insync.replicas=2\nacks=all\n", encoding="utf-8")
    options = "--kafka 3.7 --brokers 2 --faults 0"
    run = run_action(at_work, command=command, files="c.properties", options=options)

    assert (run.returncode, "is now" in run.stderr) == (Exit.EXPECTED, False), run.stderr
    assert {"modelcheck.sarif", "modelcheck.xml"} <= {each.name for each in at_work.iterdir()}


def test_the_action_runs_no_other_command_and_no_pattern(at_work: Path) -> None:
    other = run_action(at_work, command="fmt", files="tiny.rsm")
    pattern = run_action(at_work, files="*.rsm; touch made", options="$(touch made)")

    assert (other.returncode, pattern.returncode) == (Exit.WRONG, Exit.WRONG)
    assert not (at_work / "made").exists()


def test_the_workflow_of_the_page_gives_what_the_action_takes() -> None:
    steps = shown("workflow")["jobs"]["models"]["steps"]
    uses = [each for each in steps if "modelcheck@" in each["uses"]]

    assert [each["with"]["command"].split()[-1] for each in uses] == ["check", "review"]
    for each in uses:
        assert each["with"].keys() <= ACTION["inputs"].keys()
        assert all(isinstance(value, str) for value in each["with"].values())
        required = {name for name, about in ACTION["inputs"].items() if about.get("required")}
        assert required <= each["with"].keys()


def test_the_hooks_run_commands_that_there_are_on_model_files() -> None:
    for hook in HOOKS.values():
        program, command, *_ = shlex.split(hook["entry"])
        assert program == "modelcheck"
        assert command in COMMANDS
        assert hook["language"] == "python"
        assert re.search(hook["files"], "models/log.rsm")
        assert not re.search(hook["files"], "models/log.rsm.bak")


def test_the_hooks_pass_and_fail(at_work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, checks = (
        shlex.split(HOOKS[name]["entry"])[1:] for name in ("modelcheck-fmt", "modelcheck-check")
    )
    assert main([*layout, "tiny.rsm"]) == Exit.EXPECTED
    (at_work / "bad.rsm").write_text("protocol   bad\n", encoding="utf-8")
    assert main([*layout, "tiny.rsm", "bad.rsm"]) == Exit.VIOLATED
    assert main([*checks, "tiny.rsm", "--max-states", "100000"]) == Exit.VIOLATED
    assert "bad.rsm: not formatted" in capsys.readouterr().err
    assert (at_work / "bad.rsm").read_text("utf-8") == "protocol   bad\n"


def test_the_hooks_of_the_page_are_there_and_their_arguments_fit(at_work: Path) -> None:
    (repo,) = shown("hooks")["repos"]

    assert {each["id"] for each in repo["hooks"]} == HOOKS.keys()
    for each in repo["hooks"]:
        words = shlex.split(HOOKS[each["id"]]["entry"])[1:]
        own = ["--check", "as_expected"] if words[0] == "check" else []
        assert main([*words, *each.get("args", ()), *own, "tiny.rsm"]) == Exit.EXPECTED


def test_the_settings_of_agents_start_a_command_that_there_is() -> None:
    server = json.loads(json.dumps(shown("mcp", "json")))["mcpServers"]["modelcheck"]

    assert server["command"] == "modelcheck"
    former = renamed(server["args"])
    assert (" ".join(server["args"][:2]) if former is None else former.name) in COMMANDS
