"""A sweep on Spark has the answers of one on this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.cli import main
from modelcheck.contract.exits import Exit

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


def timeless(text: str) -> str:
    return re.sub(r"  +\d+\.\d s", "  0.0 s", text)
