"""The race against other checkers: everybody that is installed finds the same states."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from modelcheck.cli import script
from modelcheck.commands.registry import BENCH
from tests.oracles import needs_rumur, needs_spin, needs_tlc


@pytest.fixture
def hasty_gcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gcc that takes no time to make code fast: nobody looks here at who is the fastest."""
    script = tmp_path / "gcc"
    script.write_text(f'#!/bin/sh\nexec {shutil.which("gcc")} "$@" -O0\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.oracle
@pytest.mark.usefixtures("hasty_gcc")
@needs_spin
@needs_rumur
@needs_tlc
def test_all_find_the_same_states(capsys: pytest.CaptureFixture[str]) -> None:
    code = script(BENCH, ["--scope", "xs", "--rounds", "1"])
    told = capsys.readouterr().out

    assert code == 0, told
    assert "all found the same number of states: 19,521" in told
    for name in ("modelcheck --no-ways", "spin DFS", "spin BFS parallel", "rumur BFS", "tlc BFS"):
        assert f"\n{name} " in told, name
    assert " times our search time" in told


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_may_race_too(capsys: pytest.CaptureFixture[str]) -> None:
    code = script(BENCH, ["--scope", "xs", "--rounds", "1", "--against", "spark"])
    told = capsys.readouterr().out

    assert code == 0, told
    assert "all found the same number of states: 19,521" in told
    assert "modelcheck on Spark takes" in told


def test_a_rival_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert script(BENCH, ["--against", "nobody"]) == 2
    assert "none of spin, rumur, tlc, spark" in capsys.readouterr().err
