"""Numbers of any size: an answer, or a word that they are too large, and never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.cli import main
from spec.load import loads

HUGE = 10**20  # beyond 64 bits
MODELS = {
    "a range": f"state {{ x: 0..{HUGE} = 0 }}\naction go {{ require x < 5  x := x + {HUGE} }}\n"
    "invariant i: x < 5\n",
    "below zero": f"state {{ x: -{HUGE}..{HUGE} = 0 }}\naction go {{ x := -{HUGE} }}\ninvariant i: x > -5\n",
    "an option": f"state {{ x: 0..{HUGE}? = none }}\naction go {{ x := {HUGE} }}\ninvariant i: x == none\n",
    "a set": f"state {{ x: set[0..{HUGE}; 2] = {{}} }}\naction go {{ x := {{{HUGE}}} }}\n"
    "invariant i: x == {}\n",
    "a misfit": f"state {{ x: 0..9 = 1 }}\naction go {{ x := x * {'9' * 900} * {'9' * 900} }}\n"
    "invariant i: x < 5\n",
    "digits": "state { x: 0..9 = 7 }\nfun p(n: int): int = n * n\n"
    + "".join(f"fun p{k}(n: int): int = {'p' if k == 1 else f'p{k - 1}'}(p(n))\n" for k in range(1, 15))
    + "action go { x := p14(x) }\ninvariant i: x < 5\n",
}
ENGINES = ["explicit", "reference", "bmc", "induction", "ic3", "prove"]


PROCESS = {"digits"}  # what may take all memory has a process of its own


def answered(what: str, engine: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """The exit code of a check, which has shown no traceback."""
    path = folder / "m.rsm"
    path.write_text(f"protocol m\n{MODELS[what]}check c {{ }}\n", encoding="utf-8")
    words = ["check", str(path), "--engine", engine, "--max-time", "0.5", "-v", "--itf", str(folder)]
    if what not in PROCESS:
        code, err = main(words), capsys.readouterr().err
    else:
        command = [sys.executable, "-m", "modelcheck", *words]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        code, err = found.returncode, found.stderr
    assert "Traceback" not in err
    return code


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("what", MODELS)
def test_a_large_number_is_no_bug_of_ours(
    what: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(what, engine, tmp_path, capsys) in {0, 1, 3}


@pytest.mark.parametrize("engine", ["bmc", "induction", "ic3"])
def test_a_solver_is_not_told_of_numbers_with_too_many_values(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.rsm"
    path.write_text(f"protocol m\n{MODELS['a range']}check c {{ }}\n", encoding="utf-8")
    code = main(["check", str(path), "--engine", engine])

    assert code == 3
    assert f"`x`, a number of {HUGE + 1:,} values (more than 65,536)" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["bmc", "induction", "ic3"])
def test_memory_that_ends_before_a_solver_is_asked_is_a_limit(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "m.rsm"
    path.write_text(
        "protocol m\nstate { x: 0..60000 = 0 }\naction go { x := x + 1 }\ninvariant i: x < 9\ncheck c { }\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "modelcheck", "check", str(path), "--engine", engine]
    found = subprocess.run(
        [*command, "--max-memory", "150M"], capture_output=True, text=True, check=False, timeout=120
    )

    assert (found.returncode, "Traceback" in found.stderr) == (3, False)
    assert "the limit of memory is reached" in found.stdout


@pytest.mark.parametrize("what", ["a range", "below zero", "an option", "a set", "a misfit"])
def test_the_reference_engine_knows_numbers_of_any_size(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(what, "reference", tmp_path, capsys) == 1


def test_an_error_about_a_number_of_many_digits_gives_its_size() -> None:
    text = f"protocol m\n{MODELS['digits'].replace('x < 5', 'x < 10')}check c {{ }}\n"
    (model,) = loads(text)
    found = check(model, model.checks[0], engine="reference").findings

    assert found.error is not None
    assert " bits is outside 0..9" in str(found.error.ending)
