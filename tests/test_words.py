"""Phrases that a reader has to translate are in no help, message, docstring, comment or page."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INSTEAD = {  # a phrase, and what to write in its place
    r"(?:is|are|be|was|were) told": "shows, prints or reports, with the one who does it",
    r"(?:is|are|be|was|were) said": "states or gives, with the one who does it",
    r"says of": "reports for",
    r"whom": "another clause",
    r"so (?:many|much)": "this many, or the number itself",
    r"st(?:ands?|ood|anding)": "is, appears, represents",
    r"go(?:es)? on": "continues, extends",
    r"by (?:itself|themselves)": "automatically, alone",
    r"nobody": "no broker, no process, no one",
    r"for nothing": "without effect",
    r"need not": "does not have to",
    r"beside": "next to, besides, in addition to",
    r"without end": "forever",
    r"a Java": "a Java runtime",
}
BANNED = re.compile(rf"(?<![\w.`/-])(?:{'|'.join(INSTEAD)})(?![\w`(=/-])", re.IGNORECASE)
ALLOWED = re.compile(
    r"""stand-?alone|standing\ for|last\ replica\ standing
    |a\ Java\ (?:runtime|virtual\ machine|process|program)
    |"(?:beside|standing|nobody\ leads)"|class="[^"]*"|\{[^{}]*\}""",  # keys, and expressions in a text
    re.VERBOSE | re.IGNORECASE,
)
TEXT_OF_CODE = re.compile(r"//.*|\"[^\"]*\"|`[^`]*`")
FOLDERS = ("counterexamples", "docs", "editors", "modelcheck", "spark_explore", "spec", "tools")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of text of a file: of code only docstrings, other strings and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in {tokenize.COMMENT, tokenize.STRING}:
                yield from enumerate(token.string.splitlines(), token.start[0])
    elif path.suffix in {".js", ".rsm"}:
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((number, found) for found in TEXT_OF_CODE.findall(line))
    else:
        yield from enumerate(text.splitlines(), 1)


def unplain(area: str) -> list[str]:
    """The banned phrases in a file or folder: their places."""
    place = ROOT / area
    files = [place] if place.is_file() else sorted(place.rglob("*"))
    return [
        f"{path.relative_to(ROOT)}:{number}: {found[0]}"
        for path in files
        if path.suffix in {".py", ".md", ".toml", ".rsm", ".jinja", ".js"}
        for number, line in texts(path)
        for found in BANNED.finditer(ALLOWED.sub("", line))
    ]


@pytest.mark.parametrize("area", ["README.md", "CONTRIBUTING.md", *FOLDERS])
def test_a_text_needs_no_translation(area: str) -> None:
    assert unplain(area) == []


@pytest.mark.parametrize(
    "line",
    [
        "what stands there goes on",
        "Nobody is told.",
        "it is said by itself",
        "whom to start, beside it",
        "a Java is found for nothing, so many, and need not be",
    ],
)
def test_a_banned_phrase_is_found(line: str) -> None:
    assert BANNED.search(line)


@pytest.mark.parametrize("line", ["`goes on`", "a_beside", "standstill", "go on_it", "a Javanese"])
def test_part_of_a_name_is_no_phrase(line: str) -> None:
    assert not BANNED.search(line)
