"""The registry of diagnostic codes, read from `spec/codes.md`: what `modelcheck explain CODE` shows."""

from __future__ import annotations

import re
from functools import cache

from spec.frozen import frozen

_ENTRY = re.compile(r"^## (R[0-9]{4}): (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)


@frozen
class CodeEntry:
    """A diagnostic code with its title and explanation.

    The explanation is paragraphs with an empty line between them; one that
    begins with four spaces is an example and keeps its lines.
    """

    code: str
    title: str
    text: str


@cache
def codes() -> dict[str, CodeEntry]:
    """All diagnostic codes by name, in the order of the file, which is read on first use."""
    from spec.reading import resource  # noqa: PLC0415 - where there is a mistake

    return _read(resource("spec", "codes.md"))


def _read(text: str) -> dict[str, CodeEntry]:
    """The entries in the text of `codes.md`."""
    entries = [CodeEntry(code, title, _paragraphs(body)) for code, title, body in _ENTRY.findall(text)]
    return {entry.code: entry for entry in entries}


def _paragraphs(body: str) -> str:
    """The text with the lines of each paragraph joined."""
    parts = [part.strip("\n") for part in re.split(r"\n(?:[ ]*\n)+", body) if part.strip()]
    return "\n\n".join(part if part.startswith("    ") else part.replace("\n", " ") for part in parts)


def find(typed: str) -> CodeEntry | None:
    """The entry of a typed code, ignoring case and brackets; None if there is none."""
    return codes().get(typed.upper().strip("[]"))
