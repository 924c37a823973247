"""What was worked out before, on disk, shared by all runs of one user; losing it costs only time.

Compiled kernels are kept there, which are run as code, and answers, which are believed; a
checksum shows only that they are whole.  So it has to be the user's own: a folder that others
can write to is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from modelcheck.contract.engine import CannotStart
from spec.frozen import frozen
from spec.reading import bytes_of, opened, reason_of


@frozen
class CacheKind:
    """A kind of cached files: their header, suffix and greatest number.

    Where a hundredth more than that may be there, the oldest go first.
    """

    mark: bytes
    names: str
    most: int


KERNELS = CacheKind(b"modelcheck kernel\n", r"[0-9a-f]{64}(-blocks|-runs)?(-quick|-middle|-full|-web)?", 200)
ANSWERS = CacheKind(b"modelcheck answer\n", r"[0-9a-f]{64}-answer", 5_000)
OURS = {0, os.geteuid()}  # whose files are trusted: the user's, and those of who may do anything anyhow
_NEW = r"new-\w{8}"


class Cache:
    """A cache of bytes by key in files, each with a checksum.

    Files appear whole or not at all, so runs may share a folder; a folder that
    cannot be written, a full disk or a damaged file is as if nothing were kept.
    `problem` is why the latest was not kept, if it was not.
    """

    problem = ""

    def __init__(self, folder: Path | None = None, kept: CacheKind = KERNELS) -> None:
        self.folder = folder or _folder()
        self._kept = kept
        self._written = 0

    def insist(self) -> None:
        """Check that no other user can write to the folder. Raises CannotStart."""
        with contextlib.suppress(OSError):  # then nothing is kept
            about = self.folder.stat()
            if stat.S_ISDIR(about.st_mode) and (wrong := _distrust(about)):
                what = f"{wrong} the cache {self.folder}, and what is in it is run"
                raise CannotStart(f"{what}: make it yours alone, or name another with MODELCHECK_CACHE")

    def make(self) -> None:
        """Create the folder, for this user alone. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get(self, key: str) -> bytes | None:
        """The cached bytes of a key, if they are intact and this user's own."""
        try:
            with opened(self.folder / key, follow=False, trusted=True) as file:
                data = b"" if _distrust(os.fstat(file.fileno())) else file.read()
        except OSError:
            return None
        mark = self._kept.mark
        digest, kept = data[len(mark) :][:32], data[len(mark) + 32 :]
        return kept if data.startswith(mark) and hashlib.sha256(kept).digest() == digest else None

    def put(self, key: str, data: bytes) -> None:
        """Store bytes under a key, ignoring errors."""
        try:
            self.make()
            handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self._kept.mark + hashlib.sha256(data).digest() + data)
                Path(name).replace(self.folder / key)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            if self._written % max(1, self._kept.most // 100) == 0:  # to list thousands takes long
                self._trim()
            self._written += 1
        except OSError as error:
            self.problem = reason_of(error)

    def _trim(self) -> None:
        """Remove the oldest files of this kind."""
        named = re.compile(f"{self._kept.names}|{_NEW}")
        found = [name for name in os.listdir(self.folder) if named.fullmatch(name)]  # noqa: PTH208 - thousands
        if len(found) > self._kept.most:
            ours = [path for name in found if self._is_marked(path := self.folder / name)]
            newest = sorted(ours, key=lambda path: path.stat().st_mtime, reverse=True)
            for path in newest[self._kept.most :]:
                path.unlink(missing_ok=True)

    def _is_marked(self, path: Path) -> bool:
        """Whether a file has this kind's header."""
        try:
            return bytes_of(path, len(self._kept.mark), trusted=True) == self._kept.mark
        except OSError:
            return False


def sources(*packages: str) -> str:
    """A digest of the source of packages, on which kernels and answers depend."""
    return hashlib.sha256("".join(map(_of_package, packages)).encode()).hexdigest()


@cache
def _of_package(package: str) -> str:
    """The digest of one package, computed once."""
    return hashlib.sha256(b"\0".join(_texts(files(package)))).hexdigest()


def _texts(folder: Traversable) -> Iterator[bytes]:
    """The source files of a package."""
    for one in sorted(folder.iterdir(), key=str):
        if one.is_dir():
            yield from _texts(one)
        elif one.name.endswith(".py"):
            yield one.read_bytes()


def _distrust(about: os.stat_result) -> str:
    """Why a file or folder may not be this user's alone; empty if it is."""
    if about.st_uid not in OURS:
        return "another user owns"
    return "others can write to" if stat.S_IMODE(about.st_mode) & 0o022 else ""


def _folder() -> Path:
    """The cache folder."""
    given = os.environ.get("MODELCHECK_CACHE")
    if given:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "modelcheck"
    except RuntimeError:  # the user has no home
        return Path(tempfile.gettempdir()) / f"modelcheck-{os.geteuid()}"
