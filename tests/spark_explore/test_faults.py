"""Processes killed at random moments, on a real cluster: the findings stay what they are."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from spark_explore.engine import SparkEngine
from tests.agreement import Found
from tests.spark_cluster import Cluster, driver, is_running, javas_of, until
from tests.spark_explore.conftest import Desk
from tests.spark_explore.test_engine import At, asked, facts

CHECK = ("quorum", "n5_w3_r2")  # 13,486 states
SEEDS = range(int(os.environ.get("MODELCHECK_KILLS", "1")))  # each takes some twenty seconds
DRIVER = """
import sys
from modelcheck.api import check
from spark_explore.engine import SparkEngine
from tests.spark_explore.test_engine import asked
place, master, *conf = sys.argv[1:]
conf = dict(each.split("=", 1) for each in conf)
engine = SparkEngine(master=master, conf=conf, driver_states=75, shards=4, run_dir=place)
check(*asked(*{check!r}), engine=engine)
"""


@pytest.mark.spark
@pytest.mark.parametrize("seed", SEEDS)
def test_an_executor_killed_at_any_moment_changes_nothing(
    seed: int, spark_cluster: Cluster, cluster_spark: SparkSession, tmp_path: Path
) -> None:
    model, question = asked(*CHECK)
    random = Random(seed)  # noqa: S311 - no secret
    killed: list[int] = []

    def kill() -> None:
        time.sleep(random.uniform(0, 1.5))
        killed.append(spark_cluster.kill_executor(random.randrange(2)))

    thread = threading.Thread(target=kill)
    engine = SparkEngine(driver_states=75, shards=random.choice((2, 4, 7)), run_dir=str(tmp_path / "run"))
    found = check(model, question, engine=engine, reporter=At(random.randrange(600, 12_000), thread.start))
    thread.join()

    (pid,) = killed
    until(lambda: not is_running(pid))  # it may have been killed as the search came to its end

    assert dict(Found(found.findings).facts) == facts(model, question, "explicit")


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(max(len(SEEDS) // 2, 1)))
def test_a_killed_driver_leaves_a_run_that_another_goes_on_with(
    seed: int, desk: Desk, spark_cluster: Cluster, tmp_path: Path
) -> None:
    desk.clear()  # its executors have all the cores
    random = Random(seed)  # noqa: S311 - no secret
    place, levels = tmp_path / "run", random.randrange(1, 12)
    conf = [f"{key}={value}" for key, value in spark_cluster.settings().conf.items()]
    words = (str(place), spark_cluster.url, *conf)
    with driver(DRIVER.replace("{check!r}", repr(CHECK)), *words, cwd=tmp_path) as process:
        until(lambda: len(manifests(place)) >= levels or process.poll() is not None)
        (java,) = javas_of(process.pid)
        time.sleep(random.uniform(0, 0.5))
        process.kill()
        until(lambda: not is_running(java))
    done = manifests(place)
    settings = spark_cluster.settings()
    on = SparkEngine(
        master=settings.master, conf=settings.conf, driver_states=75, run_dir=str(place), resume=True
    )
    here = SparkEngine(driver_states=None, run_dir=str(place), resume=True)
    again = facts(*asked(*CHECK), on if seed % 2 else here)

    assert again == facts(*asked(*CHECK), "explicit")
    assert done.items() <= manifests(place).items()


def manifests(place: Path) -> dict[str, bytes]:
    """The levels that are finished."""
    return {path.name: path.read_bytes() for path in place.glob("levels/0*.json")}
