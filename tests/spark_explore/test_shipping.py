from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from spark_explore.cluster.shipping import PACKAGES, pack

ROOT = Path(__file__).parent.parent.parent
CHECK = """
import sys
sys.path[:0] = [sys.argv[1]]
sys.path += sys.argv[2:]  # libraries, but not what an editable installation of ours adds
import modelcheck.api, modelcheck.cli, spec
from importlib.resources import as_file, files
from spec.load import load
assert all(sys.argv[1] in module.__file__ for module in (modelcheck.api, modelcheck.cli, spec)), spec.__file__
with as_file(files("spec") / "protocols" / "kafka.rsm") as path:
    model = load(path)[0]
outcome = modelcheck.api.check(model, model.checks[0], engine="explicit")
print(outcome.findings.stats.states, modelcheck.cli.main(["explain", "R0901"]))
"""


def test_the_same_sources_give_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, second = pack(tmp_path), pack(tmp_path / "again")

    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_all_of_our_packages_are_shipped_and_nothing_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(pack(tmp_path)) as packed:
        names = packed.namelist()
    there = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert len(names) == len(set(names))
    assert set(names) == there
    assert {
        "spec/syntax/grammar.rsm.lark",
        "spec/protocols/kafka.rsm",
        "modelcheck/explicit/native/kernel.py",
    } <= set(names)


def test_a_check_runs_from_what_is_shipped_alone(tmp_path: Path) -> None:
    libraries = [path for path in sys.path if path.endswith("-packages")]
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHECK, str(pack(tmp_path)), *libraries],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.stderr == ""
    assert "a model without bounds" in run.stdout
    assert re.fullmatch(r"[1-9]\d* 0", run.stdout.splitlines()[-1])
