"""Wrong changes of our own engines, each with what is to find it: `python -m tests.fuzz.mutants`.

They are the test of the tests: a change that nothing finds says where a test is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.fuzz.__main__ import say
from tests.fuzz.mutants.mutant import Mutant
from tests.fuzz.mutants.of_engines import OF_ENGINES
from tests.fuzz.mutants.of_tables import OF_TABLES

ROOT = Path(__file__).parents[3]
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore")
COPIED = (*PACKAGES, "tests", "tools", "pyproject.toml")
MODELS = 400  # that a change may stay hidden in
SECONDS = 600


MUTANTS = (*OF_ENGINES, *OF_TABLES)


def command(by: str) -> list[str]:
    """What looks for a change."""
    if by.startswith("tests/"):
        return [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *by.split()]
    words = [sys.executable, "-m", "tests.fuzz", "--models", str(MODELS), "--first", "--only", by]
    return [*words, "--with", by, f"--{by}-every", "1"] if by in {"tlc", "spin", "rumur"} else words


def finds(by: str, mutant: Mutant | None = None) -> tuple[bool, str]:
    """Whether something is found in a copy of the tree, with a wrong change or without; and what."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, place / name)
        if mutant is not None:
            path = place / mutant.file
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        env = os.environ | {"MODELCHECK_CACHE": f"{folder}/kernels", "PYTHONPATH": str(place)}
        run = partial(subprocess.run, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS)
        try:
            done = run(command(by), check=False)
        except subprocess.TimeoutExpired:
            return False, f"nothing in {SECONDS} seconds"
    if done.returncode not in {0, 1}:
        return False, f"it did not work: {(done.stderr or done.stdout).strip()[-300:]}"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("== ", "FAILED"))]
    if done.returncode == 1 and not lines:
        return False, f"it did not work: {(done.stderr or done.stdout).strip()[-300:]}"
    return done.returncode == 1, lines[0].removeprefix("== ") if lines else ""


@cache
def is_clean(by: str) -> bool:
    """Whether nothing is found where nothing was changed."""
    return not finds(by)[0]


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 where all changes are found, and nothing where there is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="only these (all)")
    chosen = parser.parse_args(argv).numbers or range(1, len(MUTANTS) + 1)
    missed = 0
    for number in chosen:
        mutant, began = MUTANTS[number - 1], monotonic()
        found, what = finds(mutant.by, mutant)
        seconds = monotonic() - began
        clean = is_clean(mutant.by)
        missed += not (found and clean)
        said = "found" if found and clean else "MISSED" if not found else "not clean without it"
        say(f"{number:>2}  {said:<7} {seconds:>4.0f} s  {mutant.what} ({mutant.file}) by {mutant.by}: {what}")
    say(f"{len(chosen) - missed} of {len(chosen)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
