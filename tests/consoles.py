"""The examples of a command line in a document."""

from __future__ import annotations

import re
from pathlib import Path


def console_example(page: Path, command: str) -> tuple[list[str], str]:
    """The words after `modelcheck` in the first example whose command line matches, and what it shows."""
    text = page.read_text(encoding="utf-8")
    line, shown = re.findall(rf"^\$ modelcheck ({command})\n((?:.*\n)*?)```$", text, re.MULTILINE)[0]
    return line.split(), shown


def part_of(told: str, shown: str) -> str:
    """The lines of an output that a document shows: as many as it shows, from the first of them on."""
    first, *others = shown.splitlines(keepends=True)
    start = told.find(first)
    return "".join(told[start:].splitlines(keepends=True)[: 1 + len(others)]) if start >= 0 else told
