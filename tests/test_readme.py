"""The README's two commands: there, well formed, and the ones that continuous integration runs."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spec.load import load

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
InDocument = Callable[[Path, str, str], None]
NAMES = ("main job", "tests")


def command(name: str) -> str:
    blocks = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"{len(blocks)} blocks are marked `{name}`"
    return str(blocks[0]).strip()


def test_no_other_command_is_marked() -> None:
    assert tuple(re.findall(r"<!-- command: (.*?) -->", README)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_command_is_one_line(name: str) -> None:
    assert len(command(name).splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_continuous_integration_runs_what_the_readme_says(name: str) -> None:
    run = subprocess.run(
        ["bash", ".ci/run", "--show", name],  # noqa: S607 - whichever bash a contributor has
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.strip() == command(name)


def test_the_tests_command_installs_and_tests() -> None:
    assert command("tests") == "python -m pip install -e '.[dev]' && python -m pytest"


def test_the_main_job_installs_and_reviews_a_file_that_is_there() -> None:
    install, review = command("main job").split(" && ")
    program, *words = shlex.split(review)
    file = words[words.index("review") + 1]

    assert install == "python -m pip install -e ."
    assert program == "modelcheck"
    assert (ROOT / file).is_file()


def test_the_readme_shows_what_the_main_job_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, in_document: InDocument
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    shown = re.findall(r"^<!-- from the main job -->\n```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    _, review = command("main job").split(" && ")
    code = main([*shlex.split(review)[1:], "--max-time", "300"])

    out = capsys.readouterr().out
    first, *others = shown[0].splitlines(keepends=True)
    lines = out[out.index(first) :].splitlines(keepends=True)

    assert len(shown) == 1
    in_document(ROOT / "README.md", shown[0], "".join(lines[: 1 + len(others)]))
    assert code == Exit.EXPECTED


def test_the_readme_shows_what_the_frontier_says(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    in_document: InDocument,
    golden: Callable[[str, str], None],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    (words,) = re.findall(r"^<!-- frontier -->\n```sh\nmodelcheck (.*)\n```$", README, re.MULTILINE)
    (shown,) = re.findall(r"^<!-- from the frontier -->\n```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    code = main([*shlex.split(words), "--draw", str(tmp_path / "kafka.svg")])
    out = capsys.readouterr().out

    in_document(ROOT / "README.md", shown, out[out.index("Faults that") : out.index("\ndurable: ")])
    golden("frontier/kafka.svg", (tmp_path / "kafka.svg").read_text(encoding="utf-8"))
    assert code == Exit.EXPECTED


def test_the_table_of_layers_is_what_the_engine_counts() -> None:
    rows = re.findall(r"^\| (\d) crash\w* \| ([\d,]+) \| ([\d,]+) \|$", README, re.MULTILINE)
    checks = {c.name: (m, c) for m in load(ROOT / "spec/protocols/kisr.rsm") for c in m.checks}
    layered = check(*checks["any_crashes"]).findings.stats.layers
    model, counted = checks["s"]
    counts = []
    for layer in layered:
        scope = replace(counted.scope, nats={**counted.scope.nats, "Crashes": layer.faults})
        counts.append(check(model, replace(counted, scope=scope, expect=())).findings.stats.states)

    assert rows == [(str(a.faults), f"{a.states:,}", f"{n:,}") for a, n in zip(layered, counts, strict=True)]


def test_the_check_of_a_protocol_by_its_name_is_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (words,) = re.findall(r"^```sh\nmodelcheck (check \w+ --check \w+)\n```$", README, re.MULTILINE)

    assert main(shlex.split(words)) == Exit.EXPECTED


def test_linked_files_are_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)

    assert [link for link in links if not (ROOT / link).exists()] == []
    assert links


def test_the_pictures_are_what_their_command_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    drawn = re.findall(r"^<!-- pictures -->\n```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"!\[.*?\]\((.*?)\)", README)
    (*words, folder) = shlex.split(drawn[0])

    assert len(drawn) == 1
    assert main([*words[1:], str(tmp_path)]) == Exit.EXPECTED
    assert {Path(path).parent.as_posix() for path in shown} == {folder}
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    if request.config.getoption("--update-golden"):
        for name, content in made.items():
            (ROOT / folder / name).write_bytes(content)
    assert made == {path.name: path.read_bytes() for path in (ROOT / folder).iterdir()}
    assert {Path(path).name for path in shown} <= made.keys()
