"""A run is looked at from its files: while it works, and as a DataFrame."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import Silent
from modelcheck.contract.result import Findings
from modelcheck.search.interpreted import InterpretedSearch
from spark_explore.engine import SparkEngine
from spark_explore.frames import distribution, states, violating
from spark_explore.storage.status import counted, lines, status
from spec.load import load
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model

ROOT = Path(__file__).parent.parent.parent
QUORUM = ROOT / "spec/protocols/quorum.rsm"


def asked(name: str) -> tuple[Model, Check]:
    return next((m, c) for m in load(QUORUM) for c in m.checks if c.name == name)


def run(name: str, place: Path, limits: Limits | None = None) -> Findings:
    model, question = asked(name)
    return check(
        model, question, engine=SparkEngine(run_dir=str(place), driver_states=None), limits=limits
    ).findings


def test_the_levels_of_a_run_add_up_to_its_findings(tmp_path: Path) -> None:
    stats = run("three_nodes", tmp_path / "run").stats
    levels = list(counted(str(tmp_path / "run")))
    by_layer, taken = Counter[int](), Counter[str]()
    for level in levels:
        by_layer[level.faults] += level.states
        taken.update(level.taken)

    assert [by_layer[faults] for faults in range(len(by_layer))] == [layer.new for layer in stats.layers]
    assert {name: count for name, count in taken.items() if count} == {
        name: count for name, count in stats.taken.items() if count
    }


def test_status_tells_how_far_a_run_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "run"
    findings = run("three_nodes", place, Limits(states=1000))
    found = status(str(place))

    names = {piece.name for level in found.levels for piece in (*level.new, *level.waiting)}

    assert main(["spark", "status", str(place)]) == Exit.EXPECTED
    told = capsys.readouterr().out
    assert told.splitlines() == list(lines(found))
    assert told.startswith(f"quorum · three_nodes: {findings.stats.states:,} states · ")
    assert found.states == findings.stats.states
    assert found.bytes == sum((place / name).stat().st_size for name in names)


def test_all_that_was_spent_is_counted_once(tmp_path: Path) -> None:
    run("three_nodes", tmp_path / "run")
    found = status(str(tmp_path / "run"))
    spent = dict(found.spent)

    assert 0 < spent.pop("levels") <= found.seconds
    assert {"expand", "duplicates", "sort", "seen", "read", "write"} <= spent.keys()
    assert 0 < sum(spent.values()) <= found.spent["levels"]


@pytest.mark.spark
def test_what_tasks_spend_is_within_their_jobs(local_spark: SparkSession, tmp_path: Path) -> None:
    model, question = asked("three_nodes")
    place = str(tmp_path / "run")
    check(model, question, engine=SparkEngine(run_dir=place, driver_states=0, shards=2))
    spent = dict(status(place).spent)

    assert spent.pop("jobs") > spent["tasks"] > 0
    assert sum(spent.values()) <= 2 * spent["tasks"]


def test_status_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spark", "status", str(tmp_path)]) == Exit.WRONG
    assert "there is no run in the run directory" in capsys.readouterr().err


@pytest.mark.spark
def test_states_are_those_of_the_reference_engine(local_spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "run")
    run("promise_lost", Path(place))
    model, question = asked("promise_lost")
    names = [variable.name for variable in model.variables]
    found = states(local_spark, place)
    rows = found.collect()
    machine = Machine(model, question.scope)
    search = reference(model, question)
    expected = Counter(
        (level.faults, level.depth) for level in map(search.space.level, range(len(search.space)))
    )

    assert found.columns == ["_faults", "_depth", "_state", *names]
    assert Counter((row["_faults"], row["_depth"]) for row in rows) == expected
    assert len({repr(row.asDict()) for row in rows}) == len(rows) == sum(expected.values())
    assert sum(row["count"] for row in distribution(found, "_depth").collect()) == len(rows)
    prop = next(p for p in model.properties if p.name == "committed_survives")
    bad = sum(not machine.holds(prop, search.space.node(number)[1]) for number in range(len(search.space)))
    assert violating(local_spark, place, "committed_survives").count() == bad > 0


def reference(model: Model, question: Check) -> InterpretedSearch:
    """The search of the reference engine, with all its states."""
    task = Task(model, question.scope, question.budget, looked_at(model, question), stop_early=True)
    search = InterpretedSearch(task, Machine(model, question.scope), Silent(), keep_edges=False)
    search.run()
    return search


def test_a_status_loads_no_compiler_and_no_spark() -> None:
    program = (
        "import sys, spark_explore.storage.status; sys.exit(bool({'llvmlite', 'pyspark'} & {*sys.modules}))"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("words", [["status"], ["table"]])
def test_a_place_that_is_a_file_is_told_in_words(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    where = [str(tmp_path / "table")] if words == ["table"] else []

    assert main(["spark", *words, str(tmp_path / "file"), *where]) == Exit.WRONG
    assert "error[R0910]: not a directory\n" in capsys.readouterr().err
