"""What the page of `explain-log` shows is so: its example, and the table of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker_files.log_templates import TEMPLATES, Template
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.review.explain_log.from_lines import MEANINGS, Meaning

ROOT = Path(__file__).parent.parent.parent.parent.parent
PAGE = ROOT / "modelcheck" / "review" / "explain_log" / "README.md"
NOTHING = "nothing"


def test_the_example_is_what_the_command_says(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    page = PAGE.read_text(encoding="utf-8")
    (words,) = re.findall(r"^<!-- explain logs -->\n```sh\nmodelcheck (.*)\n```$", page, re.MULTILINE)
    (shown,) = re.findall(r"^<!-- from explain logs -->\n(```\n.*?^```)$", page, re.MULTILINE | re.DOTALL)
    code = main(words.split())
    out = capsys.readouterr().out
    cut = out.index("\n  10    broker1 follows broker2")
    losses, basis = out[: out.index("\n\n") + 1], out[out.index("• Of ") : out.index("• Looked at")]
    told = out[cut + 1 : out.index("\n  11 ", cut)]

    in_document(PAGE, shown, f"```\n{losses}…\n{told}\n…\n{basis}```")
    assert code == Exit.VIOLATED
    assert "  26    " in out


def test_the_table_has_every_template(in_document: Callable[[Path, str, str], None]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- templates -->\n(.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    rows = [
        "| line | releases | level | what it says in the model |",
        "| --- | --- | --- | --- |",
        *sorted({row(each) for each in TEMPLATES}),
    ]

    in_document(PAGE, shown, "\n".join(rows))


def row(template: Template) -> str:
    releases = f"{template.since} to {template.until}" if template.until else f"from {template.since}"
    meaning = MEANINGS.get(template.says)
    said = NOTHING if meaning is None else ", ".join(words(meaning)) or "beside which step it is shown"
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
