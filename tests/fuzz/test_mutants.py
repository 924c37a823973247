"""The list of wrong changes stays true: each would change something, in one place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.comparisons import COMPARISONS
from tests.fuzz.mutants.__main__ import MUTANTS
from tests.fuzz.mutants.mutant import Mutant
from tests.fuzz.others import OTHERS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_what_a_mutant_replaces_is_there_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")

    assert text.count(mutant.old) == 1
    assert mutant.old != mutant.new
    if mutant.file.endswith(".py"):
        compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")


def test_no_mutant_is_found_for_a_name_that_is_not_there(tmp_path: Path) -> None:
    for n, mutant in enumerate(MUTANTS, 1):
        if mutant.file.endswith(".py"):
            text = (ROOT / mutant.file).read_text(encoding="utf-8")
            (tmp_path / f"mutant_{n}.py").write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")

    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821"]
    done = subprocess.run([*ruff, str(tmp_path)], capture_output=True, text=True, check=False)

    assert "All checks passed" in done.stdout, done.stdout + done.stderr


def test_what_looks_for_a_mutant_is_there() -> None:
    looks = {comparison.name for comparison in COMPARISONS} | OTHERS.keys()

    for mutant in MUTANTS:
        assert mutant.by in looks or (ROOT / mutant.by.split()[0]).exists(), mutant.what


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= 30
