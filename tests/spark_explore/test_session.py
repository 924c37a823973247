from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import spark_explore.cluster.session as sessions
from modelcheck.contract.engine import CannotStart
from modelcheck.contract.exits import Exit
from spark_explore.cluster.session import SparkSettings, session, shown
from tests.bare_path import only
from tests.consoles import without_progress
from tests.spark_cluster import PATIENCE, ROOT, Cluster, driver, is_running, javas_of, until
from tests.spark_explore.conftest import Desk

WAITS = """
import sys, time
from spark_explore.cluster.session import SparkSettings, session
from tests.spark_cluster import LOCAL
with session(LOCAL) as spark:
    print(spark.range(5).count(), spark.sparkContext._jvm.System.getProperty("java.home"), flush=True)
    time.sleep(600)
"""
LOOPS = """
from spark_explore.cluster.session import session
from tests.spark_cluster import LOCAL
with session(LOCAL) as spark:
    while True:
        print(spark.range(5).count(), flush=True)
"""


# ------------------------------------------------------------------- settings


def test_the_users_settings_go_before_ours() -> None:
    conf = shown(
        SparkSettings("local[2]", {"spark.driver.memory": "3g", "spark.ui.enabled": "true", "a.b": "c"})
    )

    assert conf["spark.driver.memory"] == "3g"
    assert conf["spark.ui.enabled"] == "true"
    assert conf["a.b"] == "c"
    assert conf["spark.master"] == "local[2]"


def test_on_this_machine_it_listens_to_this_machine_alone() -> None:
    conf = shown(SparkSettings())

    assert conf["spark.master"] == "local[*]"
    assert conf["spark.driver.host"] == conf["spark.driver.bindAddress"] == "127.0.0.1"
    assert conf["spark.ui.enabled"] == "false"


def test_the_python_is_this_one_or_where_there_is_a_cluster_the_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/elsewhere/python")
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = shown(SparkSettings(f"spark://127.0.0.1:{server.getsockname()[1]}"))

    assert shown(SparkSettings("local[2]"))["spark.pyspark.python"] == sys.executable
    assert far["spark.pyspark.python"] == "/elsewhere/python"


# ------------------------------------------------------------ on this machine


@pytest.mark.spark
def test_our_code_is_shipped_even_on_this_machine(local_spark: SparkSession) -> None:
    def blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        file = str(import_module("spec.load").__file__).encode()
        yield from (pa.record_batch([[file] * batch.num_rows], names=["block"]) for batch in batches)

    rows = local_spark.range(2).mapInArrow(blocks, "block binary").collect()

    assert all(".zip/spec/load.py" in row.block.decode() for row in rows)
    assert len(rows) == 2


@pytest.mark.spark
def test_what_is_shipped_is_not_what_runs_here(local_spark: SparkSession) -> None:
    assert not [path for path in sys.path if "userFiles" in path]


@pytest.mark.spark
def test_a_session_that_is_there_is_used_and_left_running(local_spark: SparkSession) -> None:
    with session(SparkSettings()) as joined:
        files = joined.sparkContext.listFiles
    with session(SparkSettings("local[2]")) as again:
        assert again.sparkContext is local_spark.sparkContext
        assert again.sparkContext.listFiles == files

    assert local_spark.range(3).count() == 3
    with pytest.raises(
        CannotStart, match=r": this process has a Spark session already, with the master local\[2\]$"
    ):
        session(SparkSettings("local[7]")).__enter__()


@pytest.mark.spark
def test_where_no_executor_comes_it_is_told(local_spark: SparkSession) -> None:
    with pytest.raises(CannotStart) as told:
        sessions._await_executors(local_spark.sparkContext, 0.1)  # it has the driver alone

    assert told.value.diagnostics[0].message == (
        "local[2] gives us no executor within 0 seconds: are its workers up, with 1g of memory free? "
        "(--conf spark.executor.memory=512m asks for less)"
    )


@pytest.mark.spark
def test_a_killed_driver_leaves_no_java(tmp_path: Path) -> None:
    with driver(WAITS, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("5 ")
        (java,) = javas_of(process.pid)
        process.send_signal(signal.SIGKILL)
        until(lambda: not is_running(java))


@pytest.mark.spark
def test_ctrl_c_leaves_no_java_and_no_word_of_it(tmp_path: Path) -> None:
    with driver(WAITS, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("5 ")
        (java,) = javas_of(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()

    assert not is_running(java)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "java" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_without_a_java_on_the_path_the_command_of_the_manual_works(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/run-on-spark.md").read_text(encoding="utf-8")
    ((command,),) = [re.findall(r"^<!-- spark -->\n```sh\n(.*)\n```$", page, re.MULTILINE)]
    install, check = command.split(" && ")
    programs = ("bash", "sh", "dirname", "ps", "uname", "env", "cat", "tail", "rm", "head", "grep")
    without = only(programs, tmp_path / "bin")
    program = "import sys; from modelcheck.cli import main; sys.exit(main(sys.argv[1:]))"
    words = shlex.split(check)[1:]
    with driver(program, *words, cwd=ROOT, PATH=without, JAVA_HOME="") as process:
        told, errors = process.communicate()

    assert install == "python -m pip install -e '.[spark]'"
    assert process.returncode == Exit.EXPECTED
    assert without_progress(errors) == ""
    assert "searched   478 states" in told
    assert "engine     spark" in told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            (
                "An error occurred while calling o1.x.\n: java.lang.IllegalStateException: no\n\tat a.b\n"
                "Caused by: java.io.IOException: the disk is full\n\tat c.d"
            ),
            "java.io.IOException: the disk is full",
        ),
        (
            (
                "Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent failure: "
                "Lost task 0.0 in stage 0.0 (TID 0) (10.0.0.1 executor 7): ExecutorLostFailure (it is gone)\n"
                "Driver stacktrace:\n\tat a.b"
            ),
            "ExecutorLostFailure (it is gone)",
        ),
        (
            (
                "most recent failure: Lost task 0.0 (127.0.0.1 executor driver): PythonException: "
                'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
                "MemoryError: no more\n SQLSTATE: 38000\n\tat a.b\nCaused by: x"
            ),
            "MemoryError: no more",
        ),
        ("", "Exception"),
    ],
)
def test_the_reason_is_the_line_that_says_most(error: str, told: str) -> None:
    assert sessions.reason(Exception(error)) == told


# --------------------------------------------------------------- on a cluster


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A Python with all libraries and without this project."""
    return python(tmp_path, os.pathsep.join(path for path in sys.path if path.endswith("-packages")))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python without any library."""
    return python(tmp_path, "")


def python(folder: Path, libraries: str) -> Path:
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec {sys.executable} -S "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.spark
def test_workers_that_know_nothing_of_us_run_our_code(
    cluster_spark: SparkSession, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = cluster_spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", str(elsewhere))
    files = context.parallelize(range(2), 2).map(lambda _: import_module("spec.load").__file__).collect()

    assert all(".zip/spec/load.py" in str(file) for file in files)


@pytest.mark.spark
def test_executors_that_lack_a_library_are_told(
    cluster_spark: SparkSession, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_spark.sparkContext, "pythonExec", str(bare))

    with pytest.raises(
        CannotStart, match=r": the executors' Python \(.+ on .+\) lacks lark: install what model"
    ):
        sessions._check_executors(cluster_spark.sparkContext)


@pytest.mark.spark
def test_a_killed_executor_is_replaced(cluster_spark: SparkSession, spark_cluster: Cluster) -> None:
    killed = spark_cluster.kill_executor()

    assert cluster_spark.range(0, 100, 1, 4).count() == 100
    until(lambda: len(set(spark_cluster.executors()) - {killed}) == 2)


@pytest.mark.spark
def test_a_master_that_is_none_is_told_within_its_time(desk: Desk) -> None:
    desk.clear()
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"spark://127.0.0.1:{server.getsockname()[1]}"

        with pytest.raises(CannotStart, match=f": the master {url} does not let us in within 5 seconds$"):
            session(SparkSettings(url, patience=5)).__enter__()
    assert javas_of(os.getpid()) == []


@pytest.mark.spark
def test_a_java_that_is_killed_is_told(desk: Desk, tmp_path: Path) -> None:
    desk.clear()
    with driver(LOOPS, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (java,) = javas_of(process.pid)
        os.kill(java, signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert (
        told.splitlines()[-1]
        == "spark_explore.cluster.session.SparkEnded: the Java process of Spark has ended"
    )
    assert told.count("Traceback") == 1  # that of this error
