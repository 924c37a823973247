"""The tables of a run: what is unpacked at once is what the definition of packings says, state by state."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import modelcheck
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from spark_explore.columns import PackedCodes, columns
from spark_explore.engine import SparkEngine
from spark_explore.frames import states, transitions
from spark_explore.storage.run import level_from_json, manifests
from spark_explore.storage.store import store_at
from spark_explore.tables import StateRows, TransitionRows, run_at
from spec.load import load, loads
from spec.model.ir import Check, Model
from tests.consoles import marked
from tests.spark_cluster import ROOT

EVERY_TYPE = """
protocol every_type
sort  Node
nat   Epoch
enum  Mode { up, down, gone }
record Entry { epoch: Epoch, by: Node? }
union Message { Ask(of: Node, epoch: Epoch), Answer(log: seq[Entry; 2]), Nothing }

state {
  mode: Mode = up
  latest: Entry = Entry(epoch = 0, by = none)
  pair: (Epoch, Node?) = (0, none)
  some_log: seq[Entry; 4]? = none
  logs: map[Node, seq[Entry; 3]] = [n: Node -> []]
  seen: set[(Node, Epoch)] = {}
  wire: bag[Message; 3] = {}
  sent: Message? = none
  told: set[Entry; 4] = {}
  from_five: 5..9 = 5
  wide: seq[Entry; 40]? = none
}

action ask(n: Node, e: Epoch) {
  wire.add(Ask(of = n, epoch = e))
  seen.add((n, e))
  mode := down
}
action answer(n: Node) {
  logs[n].append(Entry(epoch = size(seen), by = n))
  wire.add(Answer(log = [Entry(epoch = 1, by = n)]))
  sent := Answer(log = [latest])
  latest := Entry(epoch = size(logs[n]), by = n)
  told.add(latest)
  some_log := [latest, Entry(epoch = 2, by = none)]
}
action nothing(n: Node) {
  wire.add(Nothing)
  sent := Nothing
  pair := (size(seen), n)
  mode := gone
  from_five := 7
  wide := [latest, latest]
}
invariant small: size(seen) < 3
check all { scope Node = 2, Epoch = 3 }
"""


def run(model: Model, question: Check, place: Path, most: int | None = None) -> str:
    """The folder of a run of the check, of at most so many states and some more."""
    engine = SparkEngine(run_dir=str(place), driver_states=None)
    check(model, question, engine=engine, limits=Limits(states=most))
    return str(place)


def block_of(place: str) -> bytes:
    """All packed states of a run."""
    levels, states = map(level_from_json, manifests(store_at(place))), run_at(place).states(place)
    return b"".join(block for level in levels for block in states.blocks(level.new))


def differing(place: str) -> list[str]:
    """The variables that are unpacked at once as something else than state by state."""
    here, block = run_at(place), block_of(place)
    words = here.packed.words
    each = [here.packed.unpack(state)[1] for state in struct.iter_unpack(f"<{words}Q", block)]
    codes = np.frombuffer(block, "<u8").reshape(-1, words)
    found = []
    for number, (name, column) in enumerate(columns(here.model, here.scope, here.packed)):
        array = column.array(PackedCodes(codes, here.packed.variables[number].offset))
        array.validate(full=True)
        if not array.equals(pa.array([column.convert(state[number]) for state in each], column.arrow)):
            found.append(name)
    return found


def test_values_of_every_type_are_unpacked_as_the_definition_says(tmp_path: Path) -> None:
    (model,) = loads(EVERY_TYPE, "every_type.rsm")
    place = run(model, model.checks[0], tmp_path / "run", 3000)

    assert differing(place) == []
    assert len(block_of(place)) > 8 * 1000


PROTOCOLS = (
    "raft",
    "zab",
    "kisr",
    "kafka",
    "elasticsearch",
    "bookkeeper",
    "viewstamped",
    "chain",
    "hdfs_qjm",
)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_states_of_protocols_are_unpacked_as_the_definition_says(name: str, tmp_path: Path) -> None:
    model, question = next((model, each) for model in load(name) for each in model.checks)

    assert differing(run(model, question, tmp_path / "run", 2000)) == []


def test_a_value_is_cut_out_wherever_it_is() -> None:
    words = np.array([[2**64 - 1, 0], [0, 2**64 - 1]], np.uint64)
    rows = np.array([0, 1, 1])

    assert PackedCodes(words, 60).cut(8).tolist() == [15, 240]
    assert PackedCodes(words, np.array([60, 60, 64]), rows).cut(8).tolist() == [15, 240, 255]
    assert PackedCodes(words, np.array([0, 56, 0]), rows).cut(64).tolist() == [2**64 - 1, 2**64 - 2**8, 0]
    assert PackedCodes(words, 32).whole(96).tolist() == [[2**32 - 1, 0], [2**64 - 2**32, 2**32 - 1]]


@pytest.mark.parametrize("names", [["sent", "mode"], ["_state"], ["logs", "_state", "wire"]])
def test_columns_that_are_asked_for_are_those_of_all(names: list[str], tmp_path: Path) -> None:
    (model,) = loads(EVERY_TYPE, "every_type.rsm")
    place = run(model, model.checks[0], tmp_path / "run", 300)
    here, block = run_at(place), block_of(place)
    whole = pa.Table.from_batches(StateRows(here, None, here.schema.names).of(block))
    some = pa.Table.from_batches(StateRows(here, None, names).of(block))

    assert some.schema.names == names
    assert some.equals(whole.select(names))
    assert whole.schema.names == ["_state", *(variable.name for variable in model.variables)]


@pytest.fixture(scope="module")
def quorum(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Model, Check]:
    """A run of a check that is violated, with its check."""
    model, question = next((m, c) for m in load("quorum") for c in m.checks if c.name == "promise_lost")
    return run(model, question, tmp_path_factory.mktemp("quorum") / "run"), model, question


def test_transitions_are_those_that_the_search_took(tmp_path: Path) -> None:
    model, question = next((m, c) for m in load("quorum") for c in m.checks if c.name == "three_nodes")
    found = check(model, question, engine=SparkEngine(run_dir=str(tmp_path / "run"), driver_states=None))
    place = str(tmp_path / "run")
    block = block_of(place)
    table = pa.Table.from_batches(TransitionRows(run_at(place)).of(block, paid=True))
    taken = {name: count for name, count in found.findings.stats.taken.items() if count}
    known = {block[at : at + 8] for at in range(0, 8 * 2200, 8)}

    assert Counter(table["_action"].to_pylist()) == taken
    assert set(table["_next"].to_pylist()) <= known == set(table["_state"].to_pylist())
    faults = {action.name for action in model.actions if action.is_fault}
    assert {(row["_action"] in faults) == row["_by_fault"] for row in table.to_pylist()} == {True}


@pytest.mark.spark
def test_sql_reads_the_levels_that_it_asks_for(
    local_spark: SparkSession, quorum: tuple[str, Model, Check]
) -> None:
    place, *_ = quorum
    found = states(local_spark, place)
    levels = [level_from_json(data) for data in manifests(store_at(place))]

    assert reads(found.where("_depth < 5")) == sum(1 for each in levels if each.depth < 5 and each.new)
    assert reads(found) == sum(1 for each in levels if each.new)
    assert found.where("_depth < 5").count() == sum(each.count for each in levels if each.depth < 5)
    assert found.where("_depth = 2 and _faults = 1").count() == sum(
        each.count for each in levels if (each.faults, each.depth) == (1, 2)
    )
    assert found.count() == sum(each.count for each in levels)  # whatever was asked before
    assert states(local_spark, place, []).count() == found.count()
    away = {piece.name for each in levels if each.depth >= 5 for piece in each.new}
    for name in away:
        (Path(place) / name).rename(Path(place) / f"{name}.away")
    assert found.where("_depth < 5").count() == sum(each.count for each in levels if each.depth < 5)
    for name in away:
        (Path(place) / f"{name}.away").rename(Path(place) / name)
    edges = transitions(local_spark, place).where("_depth = 0").select("_next").distinct()
    firsts = edges.join(found, edges["_next"] == found["_state"])
    assert {row["_depth"] for row in firsts.select("_depth").collect()} <= {0, 1}


def reads(found: DataFrame) -> int:
    """How many levels the plan of a DataFrame reads."""
    plan: str = found._jdf.queryExecution().optimizedPlan().toString()
    return plan.count("MapInArrow")


@pytest.mark.spark
def test_the_command_writes_parquet_by_layer_and_depth(
    local_spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    found = modelcheck.check("quorum", "promise_lost", engine="spark", run_dir="run")
    (commands,) = marked(ROOT / "docs/how-to/run-on-spark.md", "spark: table", "sh")
    (status,) = marked(ROOT / "docs/how-to/run-on-spark.md", "spark: status", "sh")
    assert main(status.split()[1:]) == Exit.EXPECTED
    assert f"{found.findings.stats.states:,} states" in capsys.readouterr().out
    codes = [main(line.split()[1:]) for line in commands.splitlines()]
    table = pq.read_table(tmp_path / "states.parquet", ignore_prefixes=[".", "_SUCCESS"])
    read = local_spark.read.parquet(str(tmp_path / "states.parquet")).where("_faults = 0 and _depth = 1")

    assert codes == [Exit.EXPECTED, Exit.EXPECTED]
    assert capsys.readouterr().out.startswith("the states of run are in states.parquet\n")
    assert table.num_rows == found.findings.stats.states
    assert read.count() == sum(
        each.count
        for each in map(level_from_json, manifests(store_at("run")))
        if (each.faults, each.depth) == (0, 1)
    )
    plan = read._jdf.queryExecution().executedPlan().toString()
    (filters,) = (line for line in plan.splitlines() if "PartitionFilters" in line)
    assert "_depth" in filters.partition("PartitionFilters: [")[2].partition("]")[0]
    assert (tmp_path / "transitions.parquet" / "_faults=0" / "_depth=0").is_dir()
    name = next(name for name in table.schema.names if not name.startswith("_"))
    assert main(["spark", "table", "run", "some.parquet", "--columns", f"{name},_state"]) == Exit.EXPECTED
    some = local_spark.read.parquet(str(tmp_path / "some.parquet"))
    assert some.columns == [name, "_state", "_faults", "_depth"]
    assert some.count() == table.num_rows
    assert main(["spark", "table", "run", "states.parquet"]) == Exit.WRONG
    assert "already exists" in capsys.readouterr().err.lower()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere", "out"), "there is no run in the run directory"),
        (("run", "out", "--violating", "no_such"), "the run has no invariant or lemma `no_such`"),
        (("run", "out", "--violating", "x", "--transitions"), "violated by states, not by transitions"),
        (("run", "out", "--columns", "x", "--transitions"), "the columns of transitions are always the same"),
        (("run", "out", "--columns", "votes,no_such"), "the states of the run have no variable `"),
    ],
)
def test_a_mistake_is_told_before_spark_starts(
    words: tuple[str, ...],
    told: str,
    quorum: tuple[str, Model, Check],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(Path(quorum[0]).parent)

    assert main(["spark", "table", *words]) == Exit.WRONG
    assert told in capsys.readouterr().err
