"""Compiled kernels on disk, shared by all runs of one user; losing it costs only time.

What is kept there is run as code, and its checksum says only that it is whole.  So it has to
be the user's own: a folder that others can write to is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

from modelcheck.engine import CannotStart

MOST_FILES = 200  # the oldest go first
MARK = b"modelcheck kernel\n"
OURS = {0, os.geteuid()}  # whose files are trusted: the user's, and those of who may do anything anyhow
_NAME = re.compile(r"[0-9a-f]{64}(-blocks)?(-quick|-full)?|new-\w{8}")


class Cache:
    """Bytes by key, each with its checksum.

    Files appear whole or not at all, so runs may share a folder; a folder that
    cannot be written, a full disk or a damaged file is as if nothing were kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _folder()

    def insist(self) -> None:
        """See that nobody else can have put something there. Raises CannotStart."""
        with contextlib.suppress(OSError):  # then nothing is kept
            about = self.folder.stat()
            if stat.S_ISDIR(about.st_mode) and (wrong := _wrong(about)):
                what = f"{wrong} the cache {self.folder}, and what is in it is run"
                raise CannotStart(f"{what}: make it yours alone, or name another with MODELCHECK_CACHE")

    def make(self) -> None:
        """Have the folder, for nobody else. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get(self, key: str) -> bytes | None:
        """What is kept under a key, if it is there, undamaged and nobody else's."""
        try:
            handle = os.open(self.folder / key, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(handle, "rb") as file:
                data = b"" if _wrong(os.fstat(handle)) else file.read()
        except OSError:
            return None
        digest, kept = data[len(MARK) :][:32], data[len(MARK) + 32 :]
        return kept if data.startswith(MARK) and hashlib.sha256(kept).digest() == digest else None

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, if that is possible."""
        with contextlib.suppress(OSError):
            self.make()
            handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(MARK + hashlib.sha256(data).digest() + data)
                Path(name).replace(self.folder / key)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._trim()

    def _trim(self) -> None:
        """Remove the oldest kernels, and nothing else that may be in the folder."""
        kernels = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name) and _is_kernel(path)]
        newest = sorted(kernels, key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest[MOST_FILES:]:
            path.unlink(missing_ok=True)


def _wrong(about: os.stat_result) -> str:
    """Why a file or folder may not be the user's own, if so."""
    if about.st_uid not in OURS:
        return "somebody else owns"
    return "others can write to" if stat.S_IMODE(about.st_mode) & 0o022 else ""


def _is_kernel(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def _folder() -> Path:
    given = os.environ.get("MODELCHECK_CACHE")
    if given:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "modelcheck"
    except RuntimeError:  # the user has no home
        return Path(tempfile.gettempdir()) / f"modelcheck-{os.geteuid()}"
