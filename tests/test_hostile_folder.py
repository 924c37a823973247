"""The current folder may be somebody else's: no command runs a module or a library that lies in it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import yaml

from counterexamples.itf.write import write
from modelcheck.commands.registry import COMMANDS
from modelcheck.commands.serve.mcp.asked import answer
from modelcheck.contract.exits import Exit
from modelcheck.processes.children import started
from modelcheck.processes.safe_path import python
from modelcheck.symbolic.process import READ_BY_CVC5, Program, ask
from tests.counterexamples.runs import divergence
from tools.race.contestants import modelcheck
from tools.race.process import run as race

ROOT = Path(__file__).parent.parent
RAN = "ran"  # where a module that lies in the folder says that it was imported
OURS = {"spec", "counterexamples", "modelcheck", "spark_explore", "tests", "docs"}
NAMES = sorted((sys.stdlib_module_names | packages_distributions().keys() | OURS) - {"__main__"})
SCRIPT = "import sys\nfrom modelcheck.__main__ import main\nsys.exit(main())\n"  # as pip writes it
LINES = {  # a command line for each command, with work that loads all that it needs
    "check": "m.rsm --check as_expected --engine prove",
    "prove": "m.rsm --check as_expected",
    "sweep": "m.rsm --check as_expected --vary Epoch=1,2",
    "rates": "m.rsm --check as_expected --rate crash=1/y --rate restart=1/d",
    "necessity": "m.rsm --check as_expected",
    "kafka review": "c.yaml --kafka 3.7 --faults 0 --max-states 1000 --html r.html",
    "kafka frontier": "kafka --over replication.factor=3 --over kafka=3.7 --over acks=1 --faults 0 "
    "--max-states 9",
    "kafka inspect": "cluster --json",
    "kafka explain-log": "cluster --partition orders-0 --max-time 2",
    "kafka reproduce": "t.itf.json --kafka-home .",
    "trace show": "t.itf.json toy.rsm --as html --out s.html",
    "trace diff": "t.itf.json t.itf.json toy.rsm",
    "trace graph": "m.rsm --check as_expected --max-states 50",
    "trace play": "m.rsm --check as_expected --html p.html --precomputed 50",
    "trace shrink": "t.itf.json toy.rsm",
    "certify": "quorum.json --seconds 0.1",
    "export": "m.rsm --check as_expected --to tla",
    "library list": "--json",
    "library show": "quorum",
    "library compare": "quorum --faults 0 --max-states 100",
    "library claims": "C2 --max-states 100",
    "library grade": "acks.rsm --exercise acks",
    "spark settings": "--master local[1]",
    "spark status": "no_run",
    "spark table": "no_run states.parquet",
    "serve mcp": "",
    "serve lsp": "",
    "fmt": "--check m.rsm",
    "explain": "R0101",
}
CODES = {Exit.EXPECTED, Exit.VIOLATED, Exit.UNKNOWN}
WITHOUT_WORK = {
    "kafka reproduce": Exit.WRONG,
    "spark status": Exit.WRONG,
    "spark table": Exit.WRONG,
}  # no Kafka, no run

LOADED = """
import sys
sys.addaudithook(lambda event, about: print(about[0]) if event == "ctypes.dlopen" else None)
import modelcheck.symbolic.solver
"""


def hostile(folder: Path, *, without: str = "") -> Path:
    """A folder with a module of each name that this program imports, and with a library for z3."""
    folder.mkdir(parents=True, exist_ok=True)
    told = f"""
import posix
handle = posix.open({str(folder / RAN)!r}, posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND, 0o600)
posix.write(handle, __name__.encode() + b" ")
posix.close(handle)
"""
    for name in NAMES:
        if name != without:
            (folder / f"{name}.py").write_text(told, encoding="utf-8")
    return folder


def ran(folder: Path) -> list[str]:
    """What was run in such a folder since this was last asked."""
    told = folder / RAN
    names = told.read_text(encoding="utf-8").split() if told.exists() else []
    told.unlink(missing_ok=True)
    return names


def run(folder: Path, *words: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile folder with files for every command."""
    made = hostile(tmp_path_factory.mktemp("hostile") / "checkout")
    tests = ROOT / "tests"
    shutil.copy(tests / "modelcheck" / "tiny.rsm", made / "m.rsm")
    shutil.copy(tests / "counterexamples" / "toy.rsm", made / "toy.rsm")
    shutil.copytree(tests / "modelcheck" / "kafka" / "files" / "clusters" / "power_loss", made / "cluster")
    shutil.copy(tests / "modelcheck" / "symbolic" / "certificates" / "quorum.json", made)
    shutil.copy(ROOT / "spec" / "protocols" / "quorum.rsm", made)
    shutil.copy(ROOT / "modelcheck/teaching/course/exercises/acks.rsm", made)
    (made / "t.itf.json").write_text(write(divergence()), encoding="utf-8")
    (made / "c.yaml").write_text("KAFKA_MIN_INSYNC_REPLICAS: 2\n", encoding="utf-8")
    script = made.parent / "bin" / "modelcheck"
    script.parent.mkdir()
    script.write_text(SCRIPT, encoding="utf-8")
    return made


def test_every_command_has_a_line() -> None:
    assert LINES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", LINES)
def test_a_command_runs_nothing_that_lies_in_the_folder(command: str, folder: Path) -> None:
    if find_spec({"serve mcp": "mcp", "serve lsp": "pygls"}.get(command, "modelcheck")) is None:
        pytest.skip("its package is not installed")

    done = run(folder, str(folder.parent / "bin" / "modelcheck"), *f"{command} {LINES[command]}".split())

    assert ran(folder) == []
    assert done.returncode in ({WITHOUT_WORK[command]} if command in WITHOUT_WORK else CODES), done.stderr


@pytest.mark.spark
def test_the_workers_of_spark_run_nothing_that_lies_in_the_folder(folder: Path) -> None:
    pytest.importorskip("pyspark")

    words = ["check", "m.rsm", "--check", "as_expected", "--engine", "spark", "--master", "local[1]"]
    done = run(folder, str(folder.parent / "bin" / "modelcheck"), *words)

    assert (ran(folder), done.returncode) == ([], Exit.EXPECTED), done.stderr


@pytest.mark.parametrize("options", [("-P",), ()], ids=["safe path", "plain"])
def test_python_m_runs_nothing_that_lies_in_the_folder(options: tuple[str, ...], tmp_path: Path) -> None:
    """Without `-P` Python has chosen the package by then, before a line of ours is run."""
    folder = hostile(tmp_path, without="" if options else "modelcheck")

    done = run(folder, *options, "-m", "modelcheck", "library", "show", "quorum")

    assert (ran(folder), done.returncode) == ([], Exit.EXPECTED)


def test_the_action_installs_and_runs_with_a_safe_path(tmp_path: Path) -> None:
    """See `tests/modelcheck/test_integrations.py` for what else it does."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    folder = hostile(tmp_path)

    for step in (each for each in steps if "run" in each):
        done = run(folder, "-m", "modelcheck", "--version", **{"PYTHONSAFEPATH": "", **step["env"]})
        assert (ran(folder), done.returncode) == ([], Exit.EXPECTED)


def serve(pipe: Connection) -> None:
    """Tell what this process would import first."""
    pipe.send((sys.path, os.environ["PYTHONSAFEPATH"]))


def test_a_child_runs_nothing_that_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile(tmp_path))
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined] # it is started like a child
    child = started(serve)

    path, safe = child.pipe.recv()
    child.end()

    assert ran(tmp_path) == []
    assert path == sys.path  # so a child finds all that this process does
    assert safe == "1"  # and so do children of the child
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.parametrize("given", [{"tool": "explain", "code": "R0101"}], ids=lambda given: given["tool"])
def test_a_request_of_an_agent_runs_nothing_that_lies_in_the_folder(
    given: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile(tmp_path))

    found = asyncio.run(answer(given, 30, None))

    assert (ran(tmp_path), found["exit"]) == ([], Exit.EXPECTED)


def test_a_race_runs_nothing_that_lies_in_the_folder(tmp_path: Path) -> None:
    done = race(modelcheck("library", "show", "quorum"), hostile(tmp_path))

    assert (ran(tmp_path), done.code) == ([], Exit.EXPECTED)


def test_a_program_that_reads_by_cvc5_runs_nothing_that_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile(tmp_path))

    Program("cvc5 (Python)", python("-c", READ_BY_CVC5)).version()
    ask(Program("cvc5 (Python)", python("-c", READ_BY_CVC5)), "(check-sat)", seconds=5)

    assert ran(tmp_path) == []


def test_z3_takes_no_library_that_lies_in_the_folder(tmp_path: Path) -> None:
    z3 = find_spec("z3")
    assert z3 is not None
    assert z3.origin is not None
    for library in (Path(z3.origin).parent / "lib").glob("libz3.*"):
        (tmp_path / library.name).symlink_to(library)

    done = run(tmp_path, "-P", "-c", LOADED)

    names = [Path(name) for name in done.stdout.split() if "libz3" in name]
    assert names
    assert all(name.is_relative_to(Path(z3.origin).parent) for name in names)


def test_a_script_of_a_user_may_have_modules_beside_it(tmp_path: Path) -> None:
    """Its folder is on its path because it is there, which is the user's wish and not the folder's."""
    shutil.copy(ROOT / "tests" / "modelcheck" / "tiny.rsm", tmp_path / "m.rsm")
    (tmp_path / "beside.py").write_text("number = 7\n", encoding="utf-8")
    script = "import beside, modelcheck\nprint(modelcheck.check('m.rsm', 'as_expected'), beside.number)\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")

    done = run(tmp_path, "script.py")

    assert done.stdout.endswith("violated: safe> 7\n"), done.stderr
