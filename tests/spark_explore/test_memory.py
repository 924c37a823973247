"""More states than a Python worker may have memory for: all are found, or it is told what is too little."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.contract.engine import CannotResume
from modelcheck.explicit.codegen.states.layout import layout
from spark_explore.engine import SparkEngine
from spark_explore.search.jobs import LIMIT, _explained
from spec.load import loads
from spec.model.ir import Check, Model
from tests.agreement import Found
from tests.spark_cluster import ROOT, Cluster
from tests.spark_explore.conftest import Desk
from tests.spark_explore.test_engine import asked, facts

MIB = 1 << 20
LARGE = int(os.environ.get("MODELCHECK_STATES", "0")) >= 100  # millions
ALLOWED = 1000 if LARGE else 800  # MiB of addresses; what a worker loads takes some 570 of them
SHARDS, SMALL = (32, 250_000) if LARGE else (8, 20_000)
WIDE = """
protocol wide
sort Counter
nat Turn, Size

process Counter {
  durable turns: Turn = 0
  durable cargo: seq[Size; Size] = []
}

action turn(c: Counter) {
  require c.turns < 6
  c.turns := c.turns + 1
}

action load(c: Counter) {
  require false
  c.cargo.append(0)
}

check all {
  scope  Counter = 7, Turn = 6, Size = 40
  faults none
}
"""  # 823,543 states of 28 words in 43 levels


def question() -> tuple[Model, Check]:
    """What to explore."""
    if not LARGE:
        (model,) = loads(WIDE)
        return model, model.checks[0]
    model, check = asked("kisr", "m")
    nats = {**check.scope.nats, "Epoch": 4, "Crashes": 4}
    return model, replace(check, scope=replace(check.scope, nats=nats), expect=())


@pytest.mark.spark
def test_what_was_seen_need_not_fit_into_a_worker(desk: Desk, spark_cluster: Cluster) -> None:
    settings = spark_cluster.settings()
    desk.get(replace(settings, conf={**settings.conf, LIMIT: f"{ALLOWED}m"}))
    before = max(anonymous(pid) for pid in spark_cluster.pythons())  # they have been asked what they can load
    model, check_ = question()
    with watched(spark_cluster) as had:
        found = check(model, check_, engine=SparkEngine(shards=SHARDS, driver_states=SMALL)).findings
    seen = 8 * layout(model, check_.scope, check_.budget.counted).words * found.stats.states

    assert had
    told = f"{found.stats.states:,} states, {seen // MIB} MiB; a worker: {before // MIB} to {max(had) // MIB}"
    assert max(had) - before < seen, told
    assert not LARGE or seen > ALLOWED * MIB, told
    assert facts(model, check_, "explicit") == dict(Found(found).facts)


@contextmanager
def watched(cluster: Cluster) -> Iterator[list[int]]:
    """Memory of the Python workers, again and again: the pages that are theirs alone."""
    had: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            had.extend(map(anonymous, cluster.pythons()))

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield had
    finally:
        done.set()
        watching.join()


def anonymous(pid: int) -> int:
    """The bytes that a process has in memory and in no file; none when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


# ------------------------------------------------------------------------ too little


@pytest.mark.spark
def test_a_worker_that_may_have_too_little_is_told(local_spark: SparkSession, tmp_path: Path) -> None:
    context = local_spark.sparkContext
    context.setLocalProperty("resource.pyspark.memory", "450")  # what the setting comes to; in MiB
    try:
        with pytest.raises(CannotResume, match=r"cannot continue: a Python worker seems to lack memory: \w+"):
            check(
                *asked("quorum", "n3_w2_r2"),
                engine=SparkEngine(driver_states=0, run_dir=str(tmp_path / "run")),
            )
    finally:
        context.setLocalProperty("resource.pyspark.memory", None)  # type: ignore[arg-type]  # to remove it


def test_how_much_a_worker_may_have_is_told() -> None:
    died = "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting"

    assert _explained(died, "700m") == (
        "a Python worker seems to lack memory (spark.executor.pyspark.memory=700m): "
        "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"
    )
    assert _explained("OSError: [Errno 28] No space left on device", "700m").startswith("OSError: ")


def test_executors_that_may_have_too_little_to_load_what_they_need_are_told() -> None:
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20));"
        "from spark_explore.cluster.shipping import look; look()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    # Python 3.15 has not even the memory for its traceback, and shows the error as it can.
    assert "200 MiB (spark.executor.pyspark.memory) are too little to load " in run.stderr
