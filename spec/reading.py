"""The bytes of files that people name: of files alone, no more than a limit, never an endless wait.

NOTE(reading): whatever is read of others is read through here.  A file may be a named pipe into which is
never written, a device without an end, or a small one that unpacks to a large one; the file at its place
may change between a look and the reading.  Links are followed, since configurations are mounted by links, and
what they lead to is looked at.  Where an agent says which files, only some folders are read: `only_below`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES, EFBIG, EINVAL, EISDIR
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Protocol

OPEN_ALREADY = re.compile(r"/dev/stdin|/(dev|proc/self)/fd/\d+")  # what the shell has opened for us
ITSELF = "/proc/self/fd"  # where Linux lists what a process has open
GZIP = b"\x1f\x8b"
ROOM, RATIO = 1 << 30, 100  # bytes that any packed file may unpack to, and further ones for each of its own


def reason_of(error: OSError) -> str:
    """What went wrong, as the system says it, to be put in a sentence."""
    return (error.strerror or str(error)).lower()


class OutOfTime(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if the time limit for reading has passed."""


class Patience:
    """A time limit for reading, in seconds from now; None is unlimited.

    `clock` tells the time: `process_time` for CPU time.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._until = None if seconds is None else clock() + seconds

    @property
    def left(self) -> float | None:
        """The seconds left; None without a limit."""
        return None if self._until is None else max(0.0, self._until - self._clock())

    def look(self) -> None:
        """Raise OutOfTime if the limit has passed."""
        if self.left == 0:
            raise OutOfTime


class Bytes(Protocol):
    """A source of bytes."""

    def read1(self, size: int, /) -> bytes:
        """Up to `size` bytes, as soon as some are available; empty at the end."""
        ...


_FOLDERS: ContextVar[tuple[str, ...] | None] = ContextVar("folders", default=None)


@contextmanager
def only_below(folders: Iterable[Path]) -> Iterator[None]:
    """A context in which only files below `folders`, after resolving links, are read; or trusted ones."""
    token = _FOLDERS.set(tuple(os.path.realpath(folder) for folder in folders))
    try:
        yield
    finally:
        _FOLDERS.reset(token)


def refuse_elsewhere(path: Path | str) -> None:
    """Raise OSError for a path outside the allowed folders, before revealing anything about it."""
    if "\0" in str(path):
        raise OSError(EINVAL, "no file can have this name")
    folders, real = _FOLDERS.get(), os.path.realpath(path)
    if folders is not None and not any(os.path.commonpath((folder, real)) == folder for folder in folders):
        raise OSError(EACCES, "it is not below a folder that may be read here")


def opened(path: Path, *, to_change: bool = False, follow: bool = True, trusted: bool = False) -> BinaryIO:
    """A file opened for reading, or (`to_change`) for locking and writing. Raises OSError.

    That is also raised for a device, for a named pipe, and for a link unless it is to `follow` that.
    A `trusted` name is ours, or the system's, and no user's.
    """
    if not trusted:
        refuse_elsewhere(path)
    if OPEN_ALREADY.fullmatch(str(path.absolute())):
        return path.open("rb")
    _refuse_other_kinds(path.stat(follow_symlinks=follow))  # by its name: to open a device may do something
    flags = (os.O_RDWR if to_change else os.O_RDONLY) | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _refuse_other_kinds(os.fstat(handle))  # as it is: another may be in its place by now
        if not trusted and os.path.exists(ITSELF):  # noqa: PTH110 - as below
            refuse_elsewhere(f"{ITSELF}/{handle}")
        os.set_blocking(handle, True)
        return os.fdopen(handle, "r+b" if to_change else "rb")
    except BaseException:
        os.close(handle)
        raise


def _refuse_other_kinds(about: os.stat_result) -> None:
    """Raise OSError for anything but a regular file."""
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not stat.S_ISREG(about.st_mode):
        kind = "a named pipe" if stat.S_ISFIFO(about.st_mode) else "a device"
        raise OSError(EINVAL, f"it is {kind}, and no file")


def is_file(path: Path) -> bool:
    """Whether a file exists; false for an impossible name."""
    try:
        return path.is_file()
    except OSError:
        return False


def bytes_of(path: Path, most: int, *, trusted: bool = False) -> bytes:
    """The first `most` bytes of a file. Raises OSError as `opened` does."""
    with opened(path, trusted=trusted) as file:
        return file.read(most)


def text_of(path: Path, most: int, *, trusted: bool = False) -> str:
    """The text of a file of at most `most` bytes. Raises OSError and UnicodeDecodeError."""
    data = bytes_of(path, most + 1, trusted=trusted)
    if len(data) > most:
        raise OSError(EFBIG, f"it has more than {most:,} bytes")
    return data.decode()


def resource(package: str, *names: str) -> str:
    """The text of a file in one of our packages."""
    from importlib import resources  # noqa: PLC0415 - it takes longer to load than all of this

    return resources.files(package).joinpath(*names).read_text(encoding="utf-8")


# ------------------------------------------------------------------ what is packed


@contextmanager
def unpacked(file: BinaryIO) -> Iterator[Bytes]:
    """A context with the bytes of a file, decompressed if it is in gzip's format.

    What reads them raises OSError where they are too many for a file of that size, and EOFError or
    OSError where the file breaks off.
    """
    magic = file.read(len(GZIP))
    file.seek(0)
    if magic != GZIP:
        yield file  # type: ignore[misc] # a buffered reader has `read1`
        return
    import gzip  # noqa: PLC0415 - few files are packed

    with gzip.open(file) as inside:
        yield no_bomb(inside, file)


def no_bomb(inside: Bytes, packed: BinaryIO) -> Bytes:
    """The decompressed bytes, limited to a plausible multiple of the file's size."""
    return _BoundedBytes(inside, ROOM + RATIO * os.fstat(packed.fileno()).st_size)


class _BoundedBytes:
    """A source of bytes that raises OSError beyond a limit."""

    def __init__(self, inside: Bytes, most: int) -> None:
        self._inside, self._most, self._left = inside, most, most

    def read1(self, size: int, /) -> bytes:
        data = self._inside.read1(size)
        self._left -= len(data)
        if self._left < 0:
            raise OSError(EFBIG, f"it unpacks to more than {self._most:,} bytes")
        return data
