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
from spec.reading import bytes_of, refuse_elsewhere
from spec.source import Source

LARGEST = 5_000_000  # bytes of a model file; more is some other file
LARGEST_TRACE = 200_000_000
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")  # wherever they lead


def read_text(name: str, *, largest: int = LARGEST) -> str:
    """The text of a file; `-` is the standard input. Raises SpecError when it cannot be read as text."""
    try:
        refuse_elsewhere("/dev/stdin" if name == "-" else name)
    except OSError as error:
        _refuse(
            "R0904", name, f"cannot be read: {error.strerror}"
        )  # and nothing about its neighbours is revealed
    try:
        data = sys.stdin.buffer.read(largest + 1) if name == "-" else bytes_of(Path(name), largest + 1)
    except OSError as error:
        _refuse("R0904", name, f"cannot be read: {(error.strerror or str(error)).lower()}", _nearest(name))
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
    """Have a folder to write to. Raises SpecError when that does not work."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        _unwritten(path, error)


def save_text(path: Path, text: str) -> None:
    """Put a text into a file, as a whole or not at all. Raises SpecError when that does not work."""
    save(path, text.encode())


def save(path: Path, data: bytes) -> None:
    """Put bytes into a file, as a whole or not at all. Raises SpecError when that does not work.

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
    """What kind of file a name is of, and who may do what with it; 0 if there is none. Raises OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0


def is_special(path: Path) -> bool:
    """Whether a name is of a pipe or a device, which must not be replaced by a file. Raises OSError."""
    mode = mode_of(path)
    return str(path.absolute()).startswith(STREAMS) or bool(mode and not stat.S_ISREG(mode))


def _unwritten(path: Path, error: OSError) -> NoReturn:
    _refuse("R0904", str(path), f"cannot be written: {(error.strerror or str(error)).lower()}")


def _nearest(name: str) -> str:
    """`did you mean …?` with the file of the same folder whose name is nearest, or an empty text."""
    path = Path(name)
    try:
        found = suggest(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return ""
    return found


def _refuse(code: str, name: str, message: str, help_: str = "") -> NoReturn:
    raise SpecError([Diagnostic(code, Source(name, ""), None, message, help=help_)]) from None
