"""Our own packages as one file for the executors, and a look at whether they can run it there.

Imports nothing from outside but what Python brings, so that it can be loaded on an executor
that lacks everything else, and say so.
"""

from __future__ import annotations

import platform
import sys
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

from spec.frozen import frozen

NAME = "modelcheck-"  # what follows is a checksum
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore")
NEEDED = (
    "lark",
    "llvmlite.binding",
    "networkx",
    "numpy",
    "pyarrow",
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",
    "spec.load",
    "modelcheck.explicit.engine",
)
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can tell


def pack(folder: Path) -> Path:
    """A zip file of our packages that Python can import from.

    The same sources give the same bytes, and the same name.  Takes a tenth of a second.
    """
    contents = {name: data for package in PACKAGES for name, data in _contents(files(package), package)}
    digest = sha256()
    for name, data in contents.items():
        digest.update(b"%s\0%d\0%s" % (name.encode(), len(data), data))
    target = folder / f"{NAME}{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(target, "w") as packed:
        for name, data in contents.items():
            packed.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED)
    return target


def _contents(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """The files of a package in order, without compiled ones."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{path}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _contents(entry, name)
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            yield name, entry.read_bytes()


@frozen
class Executor:
    """The Python version of an executor, and the first library missing there, if any."""

    host: str
    python: str
    version: str
    missing: str | None


def look(_: object = None) -> Executor:
    """The Python that runs this, and whether it can import what a search needs. Raises MemoryError."""
    return Executor(platform.node(), sys.executable, platform.python_version(), _missing())


def _missing() -> str | None:
    """The first library that cannot be imported, or None."""
    for name in NEEDED:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            missing = str(error.name)
            return name if missing.startswith("backports") else missing.partition(".")[0]
        # SystemError: from code in C for which the memory was too small.
        except (ImportError, OSError, SyntaxError, SystemError, MemoryError) as error:
            _mind_limit(name)
            return f"a {name} that can be loaded ({error})"
    return None


def _mind_limit(name: str) -> None:
    """Raise MemoryError if a library may not load because of a memory limit."""
    allowed, _ = getrlimit(RLIMIT_AS)
    if allowed != RLIM_INFINITY:
        said = f"{allowed >> 20} MiB (spark.executor.pyspark.memory) are too little to load {name}"
        raise MemoryError(said) from None
