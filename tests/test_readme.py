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
from tests.consoles import marked, part_of

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
InDocument = Callable[[Path, str, str], None]
NAMES = ("main job", "tests")
TUTORIAL = ROOT / "docs" / "tutorials" / "first-verdict.md"
GUIDES = ROOT / "docs" / "how-to"
LONGEST = 200  # lines


def command(name: str) -> str:
    blocks = marked(ROOT / "README.md", f"command: {name}", "sh")
    assert len(blocks) == 1, f"{len(blocks)} blocks are marked `{name}`"
    return blocks[0].strip()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= LONGEST


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
    _, review = command("main job").split(" && ")
    code = main([*shlex.split(review)[1:], "--max-time", "300"])
    out = capsys.readouterr().out
    pages = (ROOT / "README.md", TUTORIAL)
    parts = [(page, part) for page in pages for part in marked(page, "from the main job")]

    for path, shown in parts:
        in_document(path, shown, part_of(out, shown))
    assert len(parts) == 3
    assert f"modelcheck {' '.join(shlex.split(review)[1:])}" in TUTORIAL.read_text(encoding="utf-8")
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
    page = GUIDES / "compare-configurations.md"
    (words,) = marked(page, "frontier", "sh")
    (shown,) = marked(page, "from the frontier")
    code = main([*shlex.split(words)[1:], "--draw", str(tmp_path / "kafka.svg")])
    out = capsys.readouterr().out

    in_document(page, shown, out[out.index("Faults that") : out.index("\ndurable: ")])
    golden("frontier/kafka.svg", (tmp_path / "kafka.svg").read_text(encoding="utf-8"))
    assert code == Exit.EXPECTED


def test_the_table_of_layers_is_what_the_engine_counts() -> None:
    page = (ROOT / "docs/explanation/fewest-faults.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) crash\w* \| ([\d,]+) \| ([\d,]+) \|$", page, re.MULTILINE)
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
    page = (GUIDES / "use-the-library.md").read_text(encoding="utf-8")
    (words,) = re.findall(r"^```sh\nmodelcheck (check \w+ --check \w+)\n```$", page, re.MULTILINE)

    assert main(shlex.split(words)) == Exit.EXPECTED


def test_the_speed_is_that_of_the_benchmarks() -> None:
    """The three rows are rows of the table of all checkers, which was measured once."""
    page = (ROOT / "docs/explanation/benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| ([\d,]+) \| ([\d.]+) \|$", README, re.MULTILINE)
    measured = [(line.split()[-4], line.split()[-1]) for line in page.splitlines() if "3,125,462  " in line]

    assert len(rows) == 3
    assert [row for row in rows if row not in measured] == []


def test_the_pictures_are_what_their_command_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    guide = GUIDES / "look-at-a-run.md"
    texts = guide.read_text(encoding="utf-8") + README
    drawn = marked(guide, "pictures", "sh")
    drawn += re.findall(r"^<!-- drawn by: (modelcheck .*) -->$", README, re.MULTILINE)
    drawn += marked(ROOT / "README.md", "check: mirror", "sh")
    shown = [re.sub(r"^(\.\./)+", "", path) for path in re.findall(r"!\[.*?\]\((.*?)\)", texts)]

    made: dict[str, bytes] = {}
    for index, (*words, folder) in enumerate(map(shlex.split, drawn)):
        out = tmp_path / str(index)
        assert main([*words[1:], str(out)]) in {Exit.EXPECTED, Exit.VIOLATED}
        made |= {f"{folder}/{path.name}": path.read_bytes() for path in out.iterdir()}
    if request.config.getoption("--update-golden"):
        for name, content in made.items():
            (ROOT / name).write_bytes(content)
    there = [*(ROOT / "counterexamples/gallery").iterdir(), *(ROOT / "examples").glob("*.svg")]

    assert len(drawn) == 3
    assert made == {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in there}
    assert set(shown) <= made.keys()
