"""A sweep on Spark has the answers of one on this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

import modelcheck
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides
from modelcheck.asking.sweep import Answering, Orders, axis, points
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.processes.signals import Interruptible
from modelcheck.processes.workers import Mail
from spark_explore.questions.answered import Asked, Asker, PartAsker, TableQuestion, answered
from spark_explore.questions.of_models import sweep
from spark_explore.workers import SparkTasks
from spec.diagnostics import SpecError, mistyped
from spec.load import load
from tests.spark_cluster import Cluster

KAFKA = str(Path(__file__).parent.parent.parent / "spec/protocols/kafka.rsm")
SWEEP = ("sweep", KAFKA, "--check", "jepsen", "--vary", "min_isr=1,2", "--vary", "faults=1,2")


@pytest.mark.spark
def test_the_points_are_answered_by_executors(
    cluster_spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*SWEEP, "--engine", "spark"])
    told = capsys.readouterr()
    main(list(SWEEP))

    assert code == Exit.VIOLATED
    assert told.err == ""
    assert timeless(told.out) == timeless(capsys.readouterr().out)


@pytest.mark.spark
def test_tasks_that_fail_are_the_problem_of_their_points(
    local_spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_spark.sparkContext, "pythonExec", "/no/such/python")
    code = main([*SWEEP, "--engine", "spark"])

    assert code == Exit.UNKNOWN
    told = " ".join(capsys.readouterr().out.split())
    assert told.count("the task failed: ") == 4
    assert 'Cannot run program "/no/such/python"' in told
    assert told.endswith("4 points: 4 without an answer")


@pytest.mark.spark
def test_a_sweep_is_one_job(local_spark: SparkSession) -> None:
    models = load("quorum")
    checks = pick_checks(models, ["three_nodes"])
    asked = points(models, checks, [axis("faults=0..2")], Overrides())
    tasks = SparkTasks(local_spark, Answering(asked, Orders()))
    with Interruptible() as watch:
        answers = dict(tasks.begin([0, 1, 2]).results(watch, lambda: None))

    assert sorted(answers) == [0, 1, 2]
    assert all(answer.outcome is not None for answer in answers.values())
    assert len(local_spark.sparkContext.statusTracker().getJobIdsForGroup(tasks.group)) == 1


# ----------------------------------------------------------------------- DataFrames


@pytest.mark.spark
def test_a_row_for_each_property_of_each_row(local_spark: SparkSession) -> None:
    rows = [("a", 0, True), ("b", 1, True), ("c", 1, True), ("d", None, False), ("e", -1, True)]
    questions = local_spark.createDataFrame(rows, "team string, faults int, kept boolean")
    table = sweep(questions, "quorum", "promise_lost").orderBy("team", "property").collect()
    here = modelcheck.sweep("quorum", "promise_lost", vary={"faults": [0, 1]})
    expected = {(row["faults"], row["property"]): (row["verdict"], row["states"]) for row in here}
    found = {
        (r["team"], r["faults"], r["property"]): (r["verdict"], r["states"]) for r in table if r["property"]
    }
    names = {name for _, name in expected}

    assert {key: found[key] for key in found if key[1] is not None} == {
        (team, faults, name): expected[faults, name]
        for team, faults in [("a", 0), ("b", 1), ("c", 1)]
        for name in names
    }
    assert {key[2] for key in found if key[0] == "d"} == names  # as the check says
    assert [r["problem"] for r in table if r["team"] == "e"] == [
        "`-1` is not a whole number from 0 to 2147483648"
    ]


@pytest.mark.spark
def test_columns_that_say_nothing_of_the_model_are_refused(local_spark: SparkSession) -> None:
    with pytest.raises(SpecError, match="no column is one of: Node, Offset, "):
        sweep(local_spark.range(3), "quorum", "three_nodes")
    with pytest.raises(SpecError, match="`states` is a column of the answers"):
        sweep(local_spark.range(3).selectExpr("1 as faults", "id as states"), "quorum", "three_nodes")


def length_asker(notes: Path, seconds: float = 0.0) -> Asker:
    """What answers with the length of a text, and notes that it was asked."""

    class LengthAsker:  # in here it goes to the workers, which do not have this module
        told = pa.schema([("first", pa.string())])
        answer = pa.schema([("length", pa.int64()), ("problem", pa.string())])
        mail = Mail(())

        def read(self, values: Asked) -> Iterator[TableQuestion]:
            text = values.get("text", "")
            if text == "xxx":
                raise mistyped("text", text, "three are too many")
            yield TableQuestion(len(text), text, {"first": text[:1]})

        def ask(self, question: str) -> Iterator[dict[str, object]]:
            with notes.open("a") as file:
                file.write(f"{len(question)}\n")
            time.sleep(seconds)
            if len(question) == 5:
                raise mistyped("text", question, "five are too long")
            yield {"length": len(question)}

    return LengthAsker()


def parts_asker(notes: Path, parts: int, seconds: float = 0.0) -> PartAsker:
    """The same of a text with ever more behind it, and notes which tasks divide a row, and read its parts."""
    own: Any = length_asker(notes, seconds)

    class PartsAsker:
        told = own.told
        answer = own.answer
        mail = own.mail

        def parts(self, values: Asked) -> Iterator[Any]:
            time.sleep(seconds)
            for number in range(parts):
                with notes.open("a") as file:
                    file.write("divided\n")
                yield values.get("text", "") + "z" * number

        def read(self, values: str) -> Iterator[TableQuestion]:
            task = TaskContext.get()
            with notes.open("a") as file:
                file.write(f"read by {task and task.partitionId()}\n")
            return own.read({"text": values})  # type: ignore[no-any-return]

        def ask(self, question: str) -> Iterator[dict[str, object]]:
            return own.ask(question)  # type: ignore[no-any-return]

    return PartsAsker()


@pytest.mark.spark
def test_parts_of_one_row_are_read_by_many_tasks(local_spark: SparkSession, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    questions = local_spark.range(1).selectExpr("'x' as text")
    rows = answered(questions, ["text"], parts_asker(notes, 40)).collect()
    told = notes.read_text().splitlines()

    assert sorted(row["length"] for row in rows if not row["problem"]) == [n for n in range(1, 41) if n != 5]
    assert [row["problem"] for row in rows if row["problem"]] == ["five are too long"]
    assert told.count("divided") == len([each for each in told if each.startswith("read by")]) == 40
    assert len({each for each in told if each.startswith("read by")}) > 16


@pytest.mark.spark
def test_equal_questions_are_asked_once(local_spark: SparkSession, tmp_path: Path) -> None:
    texts = "concat(repeat(if(id % 2 = 0, 'x', 'y'), id % 7), if(id % 7 = 6, null, ''))"
    questions = local_spark.range(5000).selectExpr("id", f"{texts} as text")
    rows = answered(questions, ["text"], length_asker(tmp_path / "notes")).collect()
    lengths = {n: n % 7 % 6 for n in range(5000)}

    assert sorted((tmp_path / "notes").read_text().splitlines()) == ["0", "1", "2", "3", "4", "5"]
    assert len(rows) == 5000
    assert {row["id"]: row["length"] for row in rows if not row["problem"]} == {
        n: length for n, length in lengths.items() if not wrong(n, length)
    }
    assert {row["id"]: row["problem"] for row in rows if row["problem"]} == {
        n: wrong(n, length) for n, length in lengths.items() if wrong(n, length)
    }
    assert {row["first"] for row in rows if row["length"]} == {"x", "y"}  # of the row, not of the question


def wrong(number: int, length: int) -> str:
    """What is wrong with the text of a number."""
    if length == 3 and number % 2 == 0:
        return "three are too many"
    return "five are too long" if length == 5 else ""


def killed_at(notes: Path, text: str, killed: Cluster) -> Thread:
    """What kills an executor as soon as a text is noted."""

    def kill() -> None:
        while not notes.exists() or text not in notes.read_text():
            time.sleep(0.05)
        killed.kill_executor()

    killing = Thread(target=kill)
    killing.start()
    return killing


@pytest.mark.spark
def test_an_executor_that_is_killed_changes_no_row(
    cluster_spark: SparkSession, spark_cluster: Cluster, tmp_path: Path
) -> None:
    questions = cluster_spark.range(40).selectExpr("repeat('y', cast(id % 20 as int)) as text")
    notes = tmp_path / "notes"
    killing = killed_at(notes, "\n", spark_cluster)
    rows = answered(questions, ["text"], length_asker(notes, 0.2)).collect()
    killing.join()

    lengths = [length for length in range(20) if length != 5]
    assert sorted(row["length"] for row in rows if not row["problem"]) == sorted(lengths * 2)
    assert [row["problem"] for row in rows if row["problem"]] == ["five are too long"] * 2


@pytest.mark.spark
@pytest.mark.parametrize("when", ["divided", pytest.param("read by", marks=pytest.mark.nightly)])
def test_an_executor_that_is_killed_changes_no_part_of_a_row(
    cluster_spark: SparkSession, spark_cluster: Cluster, tmp_path: Path, when: str
) -> None:
    questions = cluster_spark.range(12).selectExpr("repeat('y', cast(id % 6 as int)) as text")
    notes = tmp_path / "notes"
    killing = killed_at(notes, when, spark_cluster)
    rows = answered(questions, ["text"], parts_asker(notes, 10, 0.1)).collect()
    killing.join()

    lengths = [n + more for n in range(6) for more in range(10)] * 2
    assert sorted(row["length"] for row in rows if not row["problem"]) == sorted(n for n in lengths if n != 5)
    assert [row["problem"] for row in rows if row["problem"]] == ["five are too long"] * lengths.count(5)


def timeless(text: str) -> str:
    return re.sub(r"  +\d+\.\d s", "  0.0 s", text)
