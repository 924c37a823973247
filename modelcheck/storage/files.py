"""Reading and writing the files that people name, with a clear word when that does not work."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from errno import EACCES, EISDIR
from pathlib import Path
from typing import NoReturn

from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.reading import bytes_of, reason_of, refuse_elsewhere
from spec.source import Source

LARGEST = 5_000_000  # bytes of a model file; more is some other file
LARGEST_TRACE = 200_000_000
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")  # wherever they lead


def read_text(name: str, *, largest: int = LARGEST) -> str:
    """The text of a file; `-` is the standard input. Raises SpecError."""
    try:
        refuse_elsewhere("/dev/stdin" if name == "-" else name)
    except OSError as error:
        _refuse(
            "R0904", name, f"cannot be read: {error.strerror}"
        )  # and nothing about its neighbours is revealed
    try:
        data = sys.stdin.buffer.read(largest + 1) if name == "-" else bytes_of(Path(name), largest + 1)
    except OSError as error:
        _refuse("R0904", name, f"cannot be read: {reason_of(error)}", _nearest(name))
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
    """Raise early the SpecError that `save` would raise; leaves nothing behind."""
    try:
        mode = mode_of(path)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if stat.S_ISBLK(mode) or (mode and not os.access(path, os.W_OK)):
            raise PermissionError(EACCES, os.strerror(EACCES))
        if not is_special(path):
            with tempfile.TemporaryFile(dir=_real(path).parent):
                pass
    except OSError as error:
        _unwritten(path, error)


def have_folder(path: Path) -> None:
    """Create a folder if it is missing. Raises SpecError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        _unwritten(path, error)


def save_text(path: Path, text: str) -> None:
    """Write a text file atomically. Raises SpecError."""
    save(path, text.encode())


def save(path: Path, data: bytes) -> None:
    """Write a file atomically. Raises SpecError.

    Replaces whatever is there: see `written`.  A pipe or a device is written to.
    """
    try:
        if is_special(path):
            with path.open("ab") as file:
                file.write(data)
        else:
            _replace(_real(path), data)
    except OSError as error:
        _unwritten(path, error)


def _replace(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it."""
    new = path.with_name(f".modelcheck-{os.urandom(6).hex()}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # a full disk may be an error only now
        if mode := mode_of(path):
            new.chmod(stat.S_IMODE(mode))
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _real(path: Path) -> Path:
    """The real path of a file, with links resolved."""
    return Path(os.path.realpath(path))


def mode_of(path: Path) -> int:
    """The type and permissions of a file; 0 if there is none. Raises OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0


def is_special(path: Path) -> bool:
    """Whether a path is a pipe or device, which must not be replaced. Raises OSError."""
    mode = mode_of(path)
    return str(path.absolute()).startswith(STREAMS) or bool(mode and not stat.S_ISREG(mode))


def _unwritten(path: Path, error: OSError) -> NoReturn:
    """Raise the SpecError that a file cannot be written."""
    _refuse("R0904", str(path), f"cannot be written: {reason_of(error)}")


def _nearest(name: str) -> str:
    """The advice `did you mean …?` with a similar file name in the folder; empty if there is none."""
    path = Path(name)
    try:
        found = suggest(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return ""
    return found


def _refuse(code: str, name: str, message: str, help_: str = "") -> NoReturn:
    """Raise SpecError about a file."""
    raise SpecError([Diagnostic(code, Source(name, ""), None, message, help=help_)]) from None
