"""Reading and writing the files that people name, with a clear word when that does not work."""

from __future__ import annotations

import os
import sys
import tempfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from errno import EISDIR
from pathlib import Path
from typing import NoReturn

from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.source import Source

LARGEST = 5_000_000  # bytes of a model file; more is some other file
LARGEST_TRACE = 200_000_000


def read_text(name: str, *, largest: int = LARGEST) -> str:
    """The text of a file; `-` is the standard input. Raises SpecError when it cannot be read as text."""
    try:
        data = sys.stdin.buffer.read(largest + 1) if name == "-" else _bytes(Path(name), largest)
    except OSError as error:
        _refuse("R0904", name, f"cannot be read: {(error.strerror or str(error)).lower()}", _near(name))
    if len(data) > largest:
        _refuse("R0906", name, f"the file is too large, more than {largest // 1_000_000} MB")
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        _refuse("R0905", name, "this is a text in UTF-16", "save it in UTF-8; PowerShell's `>` writes UTF-16")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse("R0905", name, f"this is no text in UTF-8: byte {error.start:,} does not belong in one")
    if "\0" in text:
        _refuse("R0905", name, "this is a binary file: it has zero bytes in it")
    return text


def refuse_unwritable(path: Path) -> None:
    """Raise now the SpecError that `save` would raise after long work; leaves nothing behind."""
    try:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as error:
        _unwritten(path, error)


def save_text(path: Path, text: str) -> None:
    """Put a text into a file, as a whole or not at all. Raises SpecError when that does not work."""
    save(path, text.encode())


def save(path: Path, data: bytes) -> None:
    """Put bytes into a file, as a whole or not at all. Raises SpecError when that does not work."""
    try:
        mode = path.stat().st_mode if path.exists() else None
        handle, name = tempfile.mkstemp(dir=path.resolve().parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644 if mode is None else mode & 0o7777)
        Path(name).replace(path.resolve())
    except OSError as error:
        _unwritten(path, error)


def _unwritten(path: Path, error: OSError) -> NoReturn:
    _refuse("R0904", str(path), f"cannot be written: {(error.strerror or str(error)).lower()}")


def _bytes(path: Path, largest: int) -> bytes:
    with path.open("rb") as file:
        return file.read(largest + 1)


def _near(name: str) -> str:
    """A file beside the one that is missing, with nearly its name."""
    path = Path(name)
    try:
        found = suggest(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return ""
    return found


def _refuse(code: str, name: str, message: str, help_: str = "") -> NoReturn:
    raise SpecError([Diagnostic(code, Source(name, ""), None, message, help=help_)]) from None
