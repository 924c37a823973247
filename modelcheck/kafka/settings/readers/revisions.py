"""Files as they are in a revision of git."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NoReturn

from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source

_SECONDS = 60  # until git is given up, for instance where it asks for a password


def in_revision(revision: str, name: str) -> tuple[str, bytes]:
    """The name to show, and the bytes, of a file in a revision. Raises SpecError (R0701, R0702).

    Runs git in the file's folder; it changes nothing there.
    """
    path = Path(name)
    shown = f"{revision}:{name}"
    if revision.startswith("-"):
        _refuse("R0702", shown, f"`{revision}` is no revision", "give a branch, a tag or a commit")
    try:
        run = subprocess.run(  # noqa: S603 - no shell, and what is given is no option
            ["git", "-C", str(path.parent), "show", f"{revision}:./{path.name}"],  # noqa: S607 - the user's own git
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError:
        _refuse("R0702", shown, "git is not installed, or there is no such folder", "give --against FILE")
    except (OSError, subprocess.TimeoutExpired) as error:
        _refuse("R0702", shown, f"git does not answer: {error}", "give --against FILE")
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[0].removeprefix("fatal: ") if said else f"exit code {run.returncode}"
        _refuse("R0701", shown, f"git: {why}", "`git log -- FILE` lists the revisions that have it")
    return shown, run.stdout


def _refuse(code: str, shown: str, message: str, help_: str) -> NoReturn:
    """Raise SpecError for a whole file."""
    raise SpecError([Diagnostic(code, Source(shown, ""), None, message, help=help_)])
