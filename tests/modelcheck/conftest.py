"""What the tests of commands may ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from modelcheck.cli import main


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """`run("protocols", "raft")` in an empty folder: the exit code, the output, what was told beside it."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return told
