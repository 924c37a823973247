"""The files that a command writes: not over what it reads, nor over what others wrote, unless asked to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from modelcheck.contract.exits import Exit, worst
from modelcheck.storage.files import is_special, refuse_unwritable, save
from modelcheck.storage.ours import SUFFIXES, is_known, is_ours, marked
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.reading import bytes_of
from spec.source import Source

LARGEST = 1 << 30  # bytes of a file of ours; more is some other file


def add_force(parser: argparse._ActionsContainer) -> None:
    """Add the option `--force` to overwrite any file."""
    parser.add_argument("--force", action="store_true", help="overwrite files that modelcheck did not write")


class Files:
    """Writes the files of one command, and protects those it did not write, unless `force`.

    What cannot be written is reported, and does not keep the others from being written.  A name that
    the same command has written already gets a number.
    """

    def __init__(self, output: Output, inputs: Iterable[str | Path], *, force: bool = False) -> None:
        self._output = output
        self._inputs = [Path(name) for name in inputs]
        self._force = force
        self._put = set[str]()
        self._failed = False

    def refuse(self, kind: str, *paths: Path | str | None) -> None:
        """Raise early the SpecError that `put` would raise; leaves nothing behind.

        None is not reported.
        """
        for path in (Path(each) for each in paths if each is not None):
            refuse_unwritable(path)
            if not (self._force or is_special(path)):
                if any(_is_same(path, other) for other in self._inputs):
                    _refuse(path, "this command reads it")
                refuse_others(path)
            _refuse_misnamed(path, kind)

    def put(self, path: Path, kind: str, content: str | bytes) -> None:
        """Write a file of a kind (see `ours`) atomically, and report it."""
        path = self._unused(path)
        try:
            self.refuse(kind, path)
            save(path, marked(kind, content))
        except SpecError as error:
            self._output.mistakes(error)
            self._failed = True
        else:
            self._put.add(os.path.realpath(path))
            self._output.tell(f"modelcheck: wrote {path}")

    def fail(self, path: Path, why: object) -> None:
        """Report that a file is not written, and why."""
        self._output.tell(f"modelcheck: {path} is not written: {why}")
        self._failed = True

    def exit(self, *codes: Exit) -> Exit:
        """The worst of the exit codes, and of a missing output file."""
        return worst([*codes, Exit.WRONG if self._failed else Exit.EXPECTED])

    def _unused(self, path: Path) -> Path:
        """The path, or one with a number if this command has written it already."""
        name, dot, suffixes = path.name.partition(".")
        number, found = 1, path
        while os.path.realpath(found) in self._put:
            number += 1
            found = path.with_name(f"{name}-{number}{dot}{suffixes}")
        return found


def _refuse_misnamed(path: Path, kind: str) -> None:
    """Raise SpecError for a file with the suffix of another kind."""
    suffix, own = path.suffix.lower(), SUFFIXES[kind]
    if suffix in own or not is_known(suffix):
        return
    message = f"this would be a file of {kind}, and its name says `{suffix}`"
    help_ = f"name it with {' or '.join(own)}"
    raise SpecError([Diagnostic("R0926", Source(str(path), ""), None, message, help=help_)])


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths are the same file."""
    try:
        return path.samefile(other)
    except OSError:  # it is not there
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, or, if nothing is there, has no suffix."""
    return path.is_dir() or not (path.suffix or path.exists())


def refuse_others(path: Path) -> None:
    """Raise SpecError for a non-empty file that modelcheck has not written."""
    try:
        data = bytes_of(path, LARGEST)
    except FileNotFoundError:
        return
    except OSError:  # it is not known to be ours
        data = b"?"
    if data and not is_ours(data):
        _refuse(path, "modelcheck has not written it, or it was changed since")


def _refuse(path: Path, why: str) -> NoReturn:
    """Raise SpecError about a path."""
    message, help_ = f"this would be written over, and {why}", "name another file, or give --force"
    raise SpecError([Diagnostic("R0913", Source(str(path), ""), None, message, help=help_)])
