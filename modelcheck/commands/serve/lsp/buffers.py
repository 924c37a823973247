"""The texts that are open in an editor, with unsaved changes, and what is known of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from pathlib import Path

import spec.library as library
import spec.load as load
import spec.syntax.tree as s
from spec.diagnostics import SpecError
from spec.editing.positions import Lines, Unit
from spec.editing.symbols import SymbolTable
from spec.editing.understood import Understood, understand
from spec.source import Source
from spec.syntax.parser import parse

MOST_FILES = 200  # of the folders of an editor that are looked at
MOST_FOLDERS = 2_000
Change = tuple[tuple[int, int], tuple[int, int], str]


@dataclass(slots=True, eq=False)
class Buffer:
    """An open document: its URI, its name in diagnostics, and its analysis.

    `before` is what was known of an earlier state of it, for who cannot wait.
    """

    uri: str
    name: str
    text: str
    version: int
    lines: Lines
    known: Understood | None = None
    before: Understood | None = None
    near: int = 0
    _names: tuple[Understood, SymbolTable] | None = None
    _tree: tuple[str, s.Protocol | s.GoesOn | None] | None = None

    def names(self, known: Understood) -> SymbolTable:
        """The symbol table, computed once."""
        if self._names is None or self._names[0] is not known:
            self._names = (known, known.names())
        return self._names[1]

    def tree(self) -> s.Protocol | s.GoesOn | None:
        """The syntax tree of the document alone; without broken parts if it does not parse."""
        if self._tree is None or self._tree[0] is not self.text:
            self._tree = (self.text, self._parsed())
        return self._tree[1]

    def _parsed(self) -> s.Protocol | s.GoesOn | None:
        """The syntax tree, or None."""
        if self.known is not None and self.known.start == 0 and self.known.protocol is not None:
            return self.known.protocol
        try:
            return parse(Source(self.name, self.text))
        except (SpecError, RecursionError):
            return None


class Buffers:
    """All open documents; imports read open files with unsaved changes."""

    def __init__(self, unit: Unit, path_of: Callable[[str], str | None]) -> None:
        self.unit = unit
        self._path_of = path_of
        self._open: dict[str, Buffer] = {}

    def open(self, uri: str, text: str, version: int) -> Buffer:
        """Open a document; analyses with its file's old content are dropped."""
        name = self._path_of(uri) or uri
        found = self._open[uri] = Buffer(uri, name, text, version, Lines(text, self.unit))
        self._forget(found)
        return found

    def change(self, uri: str, version: int, changes: list[Change | str]) -> Buffer | None:
        """Apply changes to a document; None if it is not open."""
        buffer = self._open.get(uri)
        if buffer is None:
            return None
        for change in changes:
            if isinstance(change, str):
                buffer.text, buffer.near = change, 0
            else:
                buffer.near = buffer.lines.offset(*change[0])
                buffer.text = buffer.lines.changed(*change)
            buffer.lines = Lines(buffer.text, self.unit)
        buffer.version = version
        self._forget(buffer)
        return buffer

    def close(self, uri: str) -> Buffer | None:
        """Close a document: from now on its file counts."""
        buffer = self._open.pop(uri, None)
        if buffer is not None:
            self._forget(buffer)
        return buffer

    def get(self, uri: str) -> Buffer | None:
        """An open document."""
        return self._open.get(uri)

    def every(self) -> tuple[Buffer, ...]:
        """All open documents."""
        return tuple(self._open.values())

    def named(self, name: str) -> Buffer | None:
        """The open document of a file or shipped protocol."""
        path = path_of_name(name)
        return next((each for each in self.every() if each.name in {name, path}), None)

    def on(self, buffer: Buffer) -> tuple[Buffer, ...]:
        """The open documents that import one, itself included."""
        found = []
        for each in self.every():
            known = each.known or each.before
            names = known.files if known is not None else ()
            if each is buffer or buffer.name in {*names, *map(path_of_name, names)}:
                found.append(each)
        return tuple(found)

    def read(self, name: str) -> str:
        """The text of a file, or of its open document. Raises SpecError."""
        buffer = self.named(name)
        return load.read(name) if buffer is None else buffer.text

    def stages(self, buffer: Buffer) -> Iterator[Understood]:
        """The analyses of a document, each more complete, kept as they come."""
        for known in understand(Source(buffer.name, buffer.text), self.read, buffer.near):
            if known.judged or known.diagnostics:
                buffer.known = buffer.before = known
            yield known

    def known(self, buffer: Buffer, *, whole: bool = False) -> Understood:
        """The current analysis: with `whole` of all models, else of at least one."""
        if buffer.known is None or (whole and not buffer.known.is_last):
            for known in self.stages(buffer):
                if buffer.known is not None and (known.is_last or not whole):
                    break
        assert buffer.known is not None, "the last stage is known"
        return buffer.known

    def _forget(self, buffer: Buffer) -> None:
        """Drop the analyses that depend on a document."""
        for each in self.on(buffer):
            each.known = None


def path_of_name(name: str) -> str:
    """The path of a file, or of a protocol that comes with the package."""
    if library.is_meant(name):
        return str(resources.files("spec") / "protocols" / f"{name}{library.SUFFIX}")
    return name


def is_shipped(name: str) -> bool:
    """Whether a file belongs to the installed package, and must not be changed."""
    return library.is_meant(name)


def model_files(folders: list[str]) -> tuple[str, ...]:
    """The model files below some folders, a limited number of them; hidden folders are left out."""
    found: list[str] = []
    for folder in folders:
        for at, inside, files in islice(os.walk(folder), MOST_FOLDERS):
            inside[:] = sorted(each for each in inside if not each.startswith(".") and each != "node_modules")
            found += [str(Path(at) / each) for each in sorted(files) if each.endswith(library.SUFFIX)]
            if len(found) >= MOST_FILES:
                return tuple(found[:MOST_FILES])
    return tuple(found)
