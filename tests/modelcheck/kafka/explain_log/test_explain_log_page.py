"""What the page of `explain-log` shows is so: its example, and the table of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files.messages.templates import TEMPLATES, Says, Template
from modelcheck.kafka.incident.explain_log.line_observations import MEANINGS, Meaning

ROOT = Path(__file__).parent.parent.parent.parent.parent
PAGE = ROOT / "docs/how-to/explain-a-loss.md"
LINES = ROOT / "docs/reference/log-lines.md"
NOTHING = "nothing"
OF_OTHERS = {Says.OFFLINE: "a shutdown after it is not clean for the partition"}
RunExample = Callable[[str], tuple[str, int, str]]


@pytest.fixture
def run_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunExample:
    """Runs the command of an example of the page: what the page shows, the exit code, what it says."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)

    def run(name: str) -> tuple[str, int, str]:
        words, shown = example(name)
        return shown, main(words.split()), capsys.readouterr().out

    return run


def test_the_example_is_what_the_command_says(
    run_example: RunExample, in_document: Callable[[Path, str, str], None]
) -> None:
    shown, code, out = run_example("logs")
    cut = out.index("\n  13    broker1 follows broker2")
    losses, basis = out[: out.index("\n\n") + 1], out[out.index("• Of ") : out.index("• Looked at")]
    told = out[cut + 1 : out.index("\n  14 ", cut)]

    in_document(PAGE, shown, f"```\n{losses}…\n{told}\n…\n{basis}```")
    assert code == Exit.VIOLATED
    assert "  26    " in out


def test_the_example_of_settings_is_what_the_command_says(
    run_example: RunExample, in_document: Callable[[Path, str, str], None]
) -> None:
    shown, code, out = run_example("settings")
    parts = [
        re.search(rf"^  {number} .*?(?=^  {number + 1} )", out, re.MULTILINE | re.DOTALL)
        for number in (12, 17)
    ]
    told = [out[: out.index("\n\n") + 1], *(each[0] for each in parts if each is not None)]
    refused = out[out.index("What would have refused") : out.index("\n• Of ")]

    text = "…\n".join([*told, refused])
    in_document(PAGE, shown, f"```\n{text}```")
    assert code == Exit.VIOLATED


def test_the_example_of_the_newest_part_is_what_the_command_says(
    run_example: RunExample, in_document: Callable[[Path, str, str], None]
) -> None:
    shown, code, out = run_example("newest")
    answer, basis = out[: out.index("\n\n") + 1], out[out.index("• Explained from") :]
    basis = basis[: basis.index("\n• ") + 1] if "\n• " in basis else basis

    in_document(PAGE, shown, f"```\n{answer}…\n{basis}```")
    assert code == Exit.EXPECTED


def example(name: str) -> tuple[str, str]:
    """The command of an example of the page, and what is shown of its output."""
    page = PAGE.read_text(encoding="utf-8")
    (words,) = re.findall(rf"^<!-- explain {name} -->\n```sh\nmodelcheck (.*)\n```$", page, re.MULTILINE)
    pattern = rf"^<!-- from explain {name} -->\n(```\n.*?^```)$"
    (shown,) = re.findall(pattern, page, re.MULTILINE | re.DOTALL)
    return words, shown


def test_the_table_has_every_template(in_document: Callable[[Path, str, str], None]) -> None:
    page = LINES.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- templates -->\n((?:\|.*\n)+)", page, re.MULTILINE | re.DOTALL)
    rows = [
        "| line | releases | level | what it says in the model |",
        "| --- | --- | --- | --- |",
        *sorted({row(each) for each in TEMPLATES}),
    ]

    in_document(LINES, shown, "".join(f"{each}\n" for each in rows))


def row(template: Template) -> str:
    releases = f"{template.since} to {template.until}" if template.until else f"from {template.since}"
    meaning = MEANINGS.get(template.says)
    said = (
        OF_OTHERS.get(template.says, NOTHING)
        if meaning is None
        else ", ".join(words(meaning)) or "the step next to which it is shown"
    )
    return f"| `{template.literal.strip()}` | {releases} | {template.level} | {said} |"


def words(meaning: Meaning) -> Iterator[str]:
    """What a kind of line says of a state."""
    if meaning.length:
        yield "the log ends there"
    if meaning.state:
        yield "epochs and high watermark in it were reached"
    if meaning.up is not None:
        yield "the broker is up" if meaning.up else "the broker is down"
    if meaning.stopped is not None:
        yield "it was shut down cleanly" if meaning.stopped else "it was not shut down cleanly"
    if meaning.session is not None:
        yield "it has a session" if meaning.session else "it has no session"
