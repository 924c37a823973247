"""The folder of a search on disk: its runs by number, a description of the search, a lock, a limit."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from modelcheck.contract.engine import CannotResume
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.disk.runs import (
    Helpers,
    Piece,
    RunFile,
    SortedRun,
    StateArrays,
    StoredRun,
    TaggedPiece,
)
from modelcheck.explicit.disk.writing import RunWriter
from modelcheck.explicit.search.checkpoint import SEARCH, Json, read_sealed, write_sealed
from spec.reading import bytes_of, opened, reason_of

MARK, MARKED = "modelcheck-disk", b"written by modelcheck\n"  # in each of our folders; locked while in use
NEW = "new-" + SEARCH
OUTDATED = 8  # of what is on disk may be there for the last description alone
_NAME = re.compile(r"run-(\d{8})", re.ASCII)


def is_of_disk(folder: Path) -> bool:
    """Whether a folder is one of a search on disk."""
    try:
        return bytes_of(folder / MARK, len(MARKED) + 1) == MARKED
    except OSError:
        return False


def is_free(folder: Path) -> bool:
    """Whether no search uses a folder. Raises OSError."""
    with opened(folder / MARK, to_change=True) as lock:
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def has_search(folder: Path) -> bool:
    """Whether a folder has a search on disk to be resumed, or nothing else that could be."""
    return is_of_disk(folder) and ((folder / SEARCH).exists() or not any(folder.glob("state-*")))


class StateFolder:
    """A folder that one search uses, for which it is locked. Raises CannotResume where it cannot be.

    Only files with our names are read or removed.  What cannot be written, or would
    be more than `most` bytes, raises Stopped.
    """

    def __init__(
        self, path: Path, arrays: StateArrays, helpers: Helpers, *, most: int | None, resume: bool
    ) -> None:
        self.path, self.arrays, self.helpers, self.most = path, arrays, helpers, most
        self.described: Collection[int] = ()  # the runs that the checkpoint has
        self._unsafe: list[Path] = []  # runs that a loss of power may take
        self._outdated = 0  # bytes of runs that only the checkpoint needs
        if resume and not is_of_disk(path):
            raise CannotResume(f"there is no search on disk in {path}")
        try:
            path.mkdir(parents=True, exist_ok=True)
            with (path / MARK).open("a", encoding="utf-8"):
                pass
            self._lock = opened(path / MARK, to_change=True)
        except OSError as error:
            raise CannotResume(f"{path} cannot be used: {reason_of(error)}") from None
        try:
            self._begin(resume=resume)
        except BaseException:
            self._lock.close()
            raise

    def _begin(self, *, resume: bool) -> None:
        """Lock the folder, and see whether there is a search."""
        try:
            fcntl.flock(self._lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CannotResume(
                f"another search uses {self.path}: wait for its end, or give another folder"
            ) from None
        os.pwrite(self._lock.fileno(), MARKED, 0)
        is_there = (self.path / SEARCH).exists()
        if is_there and not resume:
            raise CannotResume(
                f"there is a search in {self.path}: continue it by --resume {self.path}, or remove the folder"
            )
        if resume and not is_there:
            raise CannotResume(
                f"the search in {self.path} has no checkpoint yet: remove the folder, and search again"
            )
        self._last = max((number for number, _ in self._files()), default=0)
        self._used = sum(path.stat().st_size for _, path in self._files())

    def _files(self) -> Iterator[tuple[int, Path]]:
        """The files of runs, with their numbers."""
        for path in self.path.iterdir():
            if found := _NAME.fullmatch(path.name):
                yield int(found[1]), path

    # --------------------------------------------------------------------- runs

    def write(self, pieces: Iterable[Piece] | Iterable[TaggedPiece]) -> SortedRun | None:
        """The run of sorted states; None if there is none. Raises Stopped."""
        self._last += 1
        path, index = self._path_of(self._last), None
        with self.writing(), path.open("xb") as file:

            def write(data: bytes) -> None:
                self._grow(len(data))
                file.write(data)

            try:
                with closing(RunWriter(write, self.arrays, self.helpers)) as writer:
                    for piece in pieces:
                        writer.add(*piece)
                    index = writer.finish()
            finally:
                if index is None:
                    path.unlink(missing_ok=True)
        if index is None:
            return None
        self._unsafe.append(path)
        return SortedRun(RunFile(path), self.arrays, index, self._last)

    def opened(self, stored: StoredRun) -> SortedRun:
        """A run that was written before. Raises CannotResume."""
        file = RunFile(self._path_of(stored.number))
        return SortedRun(file, self.arrays, file.index(self.arrays.width, stored), stored.number)

    def _path_of(self, number: int) -> Path:
        """The file of a run."""
        return self.path / f"run-{number:08}"

    def _grow(self, size: int) -> None:
        """Count bytes that will be written. Raises Stopped."""
        self._used += size
        if self.most is not None and self._used > self.most:
            raise Stopped(End.DISK)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A context in which what cannot be written raises Stopped."""
        try:
            yield
        except OSError:
            raise Stopped(End.DISK) from None

    # ------------------------------------------------------------------- search

    def read(self) -> Json:
        """The last description of the search. Raises CannotResume, and ValueError."""
        try:
            return read_sealed(self.path / SEARCH)
        except OSError as error:
            raise CannotResume(f"the checkpoint cannot be read: {reason_of(error)}") from None

    def describe(self, data: Json, runs: Collection[int]) -> None:
        """Store a description of the search, and keep these runs alone. Raises OSError."""
        for path in self._unsafe:
            if path.exists():
                with opened(path) as file:
                    os.fsync(file.fileno())
        self._unsafe = []
        write_sealed(self.path / NEW, data)
        (self.path / NEW).replace(self.path / SEARCH)
        self.described, self._outdated = runs, 0
        self.sweep(runs)

    def drop(self, runs: Iterable[SortedRun]) -> None:
        """Remove runs, but not those of the last description, which stay until the next; ignores errors."""
        with suppress(OSError):
            for run in runs:
                if run.stored.number in self.described:
                    self._outdated += run.stored.size
                else:
                    self._path_of(run.stored.number).unlink()
                    self._used -= run.stored.size

    @property
    def is_outdated(self) -> bool:
        """Whether the last description keeps much on disk that nothing else needs."""
        return self._outdated > self._used // OUTDATED

    def sweep(self, runs: Collection[int]) -> None:
        """Remove all runs but these; ignores errors."""
        with suppress(OSError):
            for number, path in list(self._files()):
                if number not in runs:
                    size = path.stat().st_size
                    path.unlink()
                    self._used -= size

    def remove(self) -> None:
        """Remove all that is ours; ignores errors."""
        self.sweep(())
        with suppress(OSError):
            for name in (SEARCH, NEW, MARK):
                (self.path / name).unlink(missing_ok=True)
            self.path.rmdir()

    def close(self) -> None:
        """Let others use the folder; without a checkpoint nothing is left of it."""
        if not (self.path / SEARCH).exists():
            self.remove()
        self._lock.close()
