"""Compiled kernels on disk, shared by all runs of one user; losing it costs only time."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

MOST_FILES = 200  # the oldest go first


class Cache:
    """Bytes by key, each with its checksum.

    Files appear whole or not at all, so runs may share a folder; a folder that
    cannot be written, a full disk or a damaged file is as if nothing were kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or _folder()

    def get(self, key: str) -> bytes | None:
        """What is kept under a key, if it is there and undamaged."""
        try:
            data = (self.folder / key).read_bytes()
        except OSError:
            return None
        return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key, if that is possible."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(data).digest() + data)
                Path(name).replace(self.folder / key)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            self._trim()

    def _trim(self) -> None:
        files = (path for path in self.folder.iterdir() if path.is_file())
        newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest[MOST_FILES:]:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    given = os.environ.get("MODELCHECK_CACHE")
    if given:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "modelcheck"
