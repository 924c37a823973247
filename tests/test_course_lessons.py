"""The lessons of the course: every command that they show is run, and says what they show.

A lesson is followed from above, in a folder of its own.  A block of commands may be followed by
one marked `says`, which is what the last of them says; a block that is marked with a file and a
part of it is written there, as a student would.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.teaching.course.exercises import exercise, written
from spec.load import load
from spec.syntax.tree import CheckDecl
from tests.course import solution
from tests.course_notebooks import BLOCK, commands_of, notebook

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "docs" / "course"
LESSONS = sorted(COURSE.glob("[1-9]*.md"))
InDocument = Callable[[Path, str, str], None]


@dataclass(frozen=True)
class Run:
    """Commands, and what the last of them is shown to say."""

    commands: tuple[str, ...]
    says: str | None


@dataclass(frozen=True)
class Edit:
    """A part of an exercise, written by a student."""

    exercise: str
    part: str
    text: str


def steps(path: Path) -> Iterator[Run | Edit]:
    for found in BLOCK.finditer(path.read_text(encoding="utf-8")):
        if found["file"] is not None:
            yield Edit(found["file"], found["part"], found["text"])
        else:
            yield Run(tuple(commands_of(found)), found["says"])


def plain(out: str) -> str:
    """What does not depend on the machine."""
    return re.sub(r"^    engine .*\n(?: {8,}.*\n)*", "", out, flags=re.MULTILINE)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_says_what_happens(
    lesson: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: InDocument,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for step in steps(lesson):
        match step:
            case Edit(name, part, text):
                Path(f"{name}.rsm").write_text(written(exercise(name), {part: text}), encoding="utf-8")
            case Run(commands, says):
                out = ""
                for command in commands:
                    program, *words = shlex.split(command)
                    code = main(words)
                    out, err = capsys.readouterr()

                    assert program == "modelcheck"
                    assert code in {Exit.EXPECTED, Exit.VIOLATED}, err
                if says is not None:
                    in_document(lesson, says, plain(out))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_notebook_is_the_lesson_in_python(
    lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_document: InDocument
) -> None:
    """Every cell is run, and says what it shows."""
    monkeypatch.chdir(tmp_path)
    path = lesson.with_suffix(".ipynb")
    shown = path.read_text(encoding="utf-8") if path.exists() else ""

    in_document(path, shown, notebook(lesson))


def test_there_are_four_lessons_with_their_exercises() -> None:
    text = (COURSE / "README.md").read_text(encoding="utf-8")

    assert len(LESSONS) == 4
    for lesson in LESSONS:
        begun = re.findall(r"--exercise (\w+) --begin", lesson.read_text(encoding="utf-8"))

        assert len(begun) == 2
        assert f"({lesson.name})" in text
        assert f"`{begun[0]}`, `{begun[1]}` |" in text


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_does_not_tell_the_solutions(lesson: Path) -> None:
    text = lesson.read_text(encoding="utf-8")
    for name in re.findall(r"--exercise (\w+) --begin", text):
        assert [each for each in solution(exercise(name)).values() if each in text] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_takes_ninety_minutes(lesson: Path) -> None:
    minutes = re.findall(r"\((\d+) minutes\)", lesson.read_text(encoding="utf-8"))

    assert sum(map(int, minutes)) == 90


@pytest.mark.parametrize("path", [COURSE / "README.md", *LESSONS], ids=lambda path: path.stem)
def test_links_of_a_lesson_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))

    assert links
    assert [link for link in links if not link.startswith("http") and not (path.parent / link).exists()] == []


def test_checks_that_a_lesson_names_are_there() -> None:
    """Those named in running text, which no test runs, too."""
    known = {
        check.name for name in ("primary_backup", "quorum", "kisr") for m in load(name) for check in m.checks
    }
    for lesson in LESSONS:
        text = lesson.read_text(encoding="utf-8")
        named = set(re.findall(r"--check (\w+)", text)) | set(re.findall(r"`(n\d_\w+)`", text))
        begun = [exercise(name) for name in re.findall(r"--exercise (\w+) --begin", text)]
        own = {item.name.text for each in begun for item in each.tree.items if isinstance(item, CheckDecl)}

        assert sorted(named - known - own) == []
