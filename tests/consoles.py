"""The command line as a process of its own, and examples in documents."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent


def console_example(page: Path, command: str) -> tuple[list[str], str]:
    """The words after `modelcheck` in the first example whose command line matches, and what it shows."""
    text = page.read_text(encoding="utf-8")
    line, shown = re.findall(rf"^\$ modelcheck ({command})\n((?:.*\n)*?)```$", text, re.MULTILINE)[0]
    return line.split(), shown


def marked(page: Path, mark: str, language: str = "") -> list[str]:
    """The blocks of a document that a comment with this mark is above."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^<!-- {mark} -->\n```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def without_progress(errors: str) -> str:
    """What a command wrote to stderr without its lines of progress, which depend on how fast a machine is."""
    return re.sub(r"^after [0-9].*\n", "", errors, flags=re.MULTILINE)


def part_of(told: str, shown: str) -> str:
    """The lines of an output that a document shows: as many as it shows, from the first of them on."""
    first, *others = shown.splitlines(keepends=True)
    start = told.find(first)
    return "".join(told[start:].splitlines(keepends=True)[: 1 + len(others)]) if start >= 0 else told


def run(
    *args: str, stdin: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, in the folder of the repository, without colour."""
    plain = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    return subprocess.run(
        [sys.executable, "-m", "modelcheck", *args],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=plain | {"PYTHONUTF8": "1"} | dict(environment or {}),
    )
