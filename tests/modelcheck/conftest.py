"""What the tests of commands may ask for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from modelcheck.cli import main

CLUSTERS = Path(__file__).parent / "kafka" / "files" / "clusters"


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """`copied("power_loss")`: a copy of the directories of a real cluster, which a test may damage."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(CLUSTERS / name, tmp_path / name))

    return copy


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """`run("library", "show", "raft")` in an empty folder: the exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return told
