"""Where a run's files are: a local folder, or any place that Arrow reaches by its URI."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from spec.reading import opened


class Store(Protocol):
    """A store of files by name, each written once. Every method raises OSError."""

    def put(self, name: str, parts: Sequence[bytes]) -> None:
        """Write a file; it appears whole or not at all."""
        ...

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """A file's bytes from `start` on, at most `size`; fewer at the end of the file."""
        ...

    def names(self, folder: str = "") -> list[str]:
        """The sorted names of the files in a folder; none if there is no folder."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with its content."""
        ...

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        ...


class LocalStore:
    """A store in a folder of this machine, or on a file system that all machines share."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, name: str, parts: Sequence[bytes]) -> None:
        """Write a file under a temporary name, then rename it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, new = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    file.write(part)
            Path(new).replace(path)
        except OSError:
            Path(new).unlink(missing_ok=True)
            raise

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """A file's bytes from `start` on, at most `size`."""
        with opened(self.root / name) as file:
            file.seek(start)
            return file.read() if size is None else file.read(size)

    def names(self, folder: str = "") -> list[str]:
        """The names of the files in a folder."""
        try:
            found = sorted(path.name for path in (self.root / folder).iterdir())
        except FileNotFoundError:
            return []
        return [name for name in found if not name.startswith(".")]

    def remove(self, name: str) -> None:
        """Remove a file or a folder."""
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).replace(self.root / to)


ARROWS = {"s3a": "s3", "s3n": "s3"}  # as Hadoop calls them
HADOOP = (
    "HDFS needs the library libhdfs.so of a Hadoop installation, and a Java runtime, on every machine: set "
    "HADOOP_HOME, JAVA_HOME, and CLASSPATH to what `hadoop classpath --glob` says"
)


class ArrowStore:
    """A store that `pyarrow.fs` can access: HDFS, S3, GCS, Azure. Raises OSError otherwise."""

    def __init__(self, uri: str) -> None:
        arrow: Any = import_module("pyarrow")
        self._fs: Any = import_module("pyarrow.fs")
        scheme, _, rest = uri.partition("://")
        try:
            self._files, self._root = self._fs.FileSystem.from_uri(f"{ARROWS.get(scheme, scheme)}://{rest}")
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
            raise OSError(str(error)) from None
        except OSError as error:
            is_hadoop_missing = any(library in str(error) for library in ("libhdfs", "libjvm"))
            raise OSError(HADOOP if is_hadoop_missing else str(error)) from None

    def _path(self, name: str) -> str:
        """The path of a file in its file system."""
        return f"{self._root}/{name}" if name else str(self._root)

    def put(self, name: str, parts: Sequence[bytes]) -> None:
        """Write a file."""
        path = self._path(name)
        self._files.create_dir(path.rpartition("/")[0], recursive=True)
        with self._files.open_output_stream(path + ".new") as file:
            for part in parts:
                file.write(part)
        self._files.move(path + ".new", path)

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """A file's bytes from `start` on, at most `size`."""
        with self._files.open_input_file(self._path(name)) as file:
            every = file.size()
            return bytes(file.read_at(every - start if size is None else size, start))

    def names(self, folder: str = "") -> list[str]:
        """The names of the files in a folder."""
        found = self._files.get_file_info(self._fs.FileSelector(self._path(folder), allow_not_found=True))
        return sorted(info.base_name for info in found if not info.base_name.endswith(".new"))

    def remove(self, name: str) -> None:
        """Remove a file or a folder."""
        path = self._path(name)
        if self._files.get_file_info(path).is_file:
            self._files.delete_file(path)
        else:
            self._files.delete_dir(path)

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        path = self._path(to)
        self._files.create_dir(path.rpartition("/")[0], recursive=True)
        self._files.move(self._path(name), path)


class Around:
    """A store that forwards all calls to another, as a base class."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, name: str, parts: Sequence[bytes]) -> None:
        """Write a file."""
        self._store.put(name, parts)

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """A file's bytes from `start` on, at most `size`."""
        return self._store.read(name, start, size)

    def names(self, folder: str = "") -> list[str]:
        """The names of the files in a folder."""
        return self._store.names(folder)

    def remove(self, name: str) -> None:
        """Remove a file or a folder."""
        self._store.remove(name)

    def move(self, name: str, to: str) -> None:
        """Give a file another name."""
        self._store.move(name, to)


class Remembering(Around):
    """A store that caches small files, up to a few megabytes."""

    def __init__(self, store: Store, most: int = 1 << 25, small: int = 1 << 18) -> None:
        super().__init__(store)
        self._most = most
        self._small = small
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._size = 0

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """A file's bytes from `start` on, at most `size`."""
        if size is None or size > self._small:
            return self._store.read(name, start, size)
        key = name, start, size
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = self._store.read(name, start, size)
        self._size += size
        while self._size > self._most:
            self._size -= len(self._kept.popitem(last=False)[1])
        return found


def seen_from_anywhere(place: str) -> str:
    """The place, which other processes find from their own folders: a URI, or an absolute path."""
    return place if "://" in place else str(Path(place).absolute())


def store_at(place: str) -> Store:
    """The store at a path or URI. Raises OSError if there can be none."""
    parts = urlsplit(place)
    if parts.scheme == "file":
        return LocalStore(Path(unquote(parts.path)))
    if "://" in place:
        return ArrowStore(place)
    return LocalStore(Path(place).absolute())


def forget(store: Store, name: str) -> None:
    """Remove a file that is not needed, ignoring errors."""
    with contextlib.suppress(OSError):
        store.remove(name)
