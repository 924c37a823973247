"""As Spark people start it: the examples of the page, `spark-submit`, a cluster from the package, Python."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import modelcheck
from modelcheck.contract.exits import Exit
from modelcheck.engines.registry import engine
from spark_explore.cluster.java import find
from spark_explore.engine import SparkEngine
from spec.diagnostics import SpecError
from tests.consoles import marked, without_progress
from tests.spark_cluster import PATIENCE, QUICK, ROOT, driver, end, supervised, until

PAGE = ROOT / "docs/how-to/run-on-spark.md"
MAIN = "import sys; from modelcheck.cli import main; sys.exit(main(sys.argv[1:]))"
CHECK = ("check", "quorum", "--check", "three_nodes", "--engine", "spark")
TESTED = {  # here, and in the files of tests that are named after them
    "spark",
    *(f"spark: {name}" for name in ("python", "submit", "cluster", "on the cluster", "table", "status")),
    *(f"spark: {name}" for name in ("kubernetes", "image", "yarn", "iceberg")),
}
STATES = "searched   2,200 states"


def test_each_block_of_the_page_is_one_that_a_test_takes() -> None:
    above = re.findall(r"^(.*)\n```\w+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert {line.removeprefix("<!-- ").removesuffix(" -->") for line in above} == TESTED


@pytest.mark.spark
def test_the_python_of_the_page_runs(
    local_spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    blocks = marked(PAGE, "spark: python", "python")
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    place = str(tmp_path / "run")
    modelcheck.check("quorum", "three_nodes", engine="spark", run_dir=place)
    look = names["look"]
    assert callable(look)
    look(place)

    assert len(blocks) == PAGE.read_text(encoding="utf-8").count("```python")
    assert capfd.readouterr().out.startswith("0 0 1 {'elect': 0, ")


@pytest.mark.spark
def test_spark_submit_gives_its_master_and_its_settings(tmp_path: Path) -> None:
    (command,) = marked(PAGE, "spark: submit", "sh")
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(f"spark.app.name ours\nspark.driver.extraJavaOptions {QUICK}\n")
    told = shell(command, tmp_path, SPARK_CONF_DIR=str(conf))

    assert told.returncode == Exit.EXPECTED, told.stderr
    assert STATES in told.stdout
    assert (tmp_path / "run" / "run.json").exists()


@pytest.mark.spark
def test_another_master_than_that_of_spark_submit_is_refused(tmp_path: Path) -> None:
    (command,) = marked(PAGE, "spark: submit", "sh")
    told = shell(command.replace("--engine spark", "--engine spark --master local[1]"), tmp_path)

    assert told.returncode == Exit.WRONG
    assert "spark-submit was given the master local[2], not local[1]" in told.stdout  # which has both
    assert "Traceback" not in told.stdout


@pytest.mark.spark
def test_the_commands_of_the_page_start_a_cluster_and_search_on_it(tmp_path: Path) -> None:
    (commands,), (search,) = (marked(PAGE, f"spark: {name}", "sh") for name in ("cluster", "on the cluster"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    at = environment(SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(tmp_path / "work"))
    log = tmp_path / "log"
    with log.open("wb") as out:
        words = ["bash", "-c", commands.replace("7077", str(port)) + "wait\n"]
        process = supervised(words, cwd=tmp_path, env=at, stdout=out, stderr=out)
        try:
            until(lambda: "Successfully registered" in log.read_text())
            told = shell(search.replace("7077", str(port)), tmp_path)
        finally:
            end(process)

    assert told.returncode == Exit.EXPECTED, told.stderr
    assert STATES in told.stdout


@pytest.mark.nightly
@pytest.mark.spark
def test_a_local_cluster_counts_what_any_engine_counts(tmp_path: Path) -> None:
    words = (*CHECK, "--master", "local-cluster[2,1,1024]", "--driver-states", "250", "--patience", "300")
    with driver(MAIN, *words, cwd=tmp_path) as process:
        told, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode == Exit.EXPECTED, errors
    assert without_progress(errors) == ""
    assert STATES in told


@pytest.mark.nightly
@pytest.mark.spark
def test_a_local_cluster_answers_questions_as_this_machine_does(tmp_path: Path) -> None:
    asked = ("sweep", "quorum", "--check", "three_nodes", "--vary", "faults=0,1", "--json")
    there = ("--engine", "spark", "--master", "local-cluster[2,1,1024]", "--patience", "300")
    here = subprocess.run(
        [sys.executable, "-c", MAIN, *asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    with driver(MAIN, *asked, *there, cwd=tmp_path) as process:
        told, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode == here.returncode, errors
    answers = [
        [(row["values"], row["outcome"]["properties"]) for row in json.loads(out)]
        for out in (told, here.stdout)
    ]
    assert len(answers[0]) == 2
    assert answers[0] == answers[1]


@pytest.mark.spark
def test_python_searches_and_sweeps_in_the_session_that_there_is(local_spark: SparkSession) -> None:
    found = modelcheck.check("quorum", "three_nodes", engine="spark", master="local[2]", driver_states=50)
    vary = {"faults": [0, 1]}
    rows = modelcheck.sweep("quorum", "three_nodes", vary=vary, engine="spark")
    here = modelcheck.sweep("quorum", "three_nodes", vary=vary)

    assert found.findings.engine == "spark"
    assert found.findings.stats.states == modelcheck.check("quorum", "three_nodes").findings.stats.states
    assert [{**row, "seconds": 0} for row in rows] == [{**row, "seconds": 0} for row in here]
    assert local_spark.range(3).count() == 3  # it is left running


def test_what_is_for_spark_is_refused_elsewhere() -> None:
    with pytest.raises(SpecError, match="`master` is for the engine spark"):
        modelcheck.check("quorum", "three_nodes", master="local[2]")
    with pytest.raises(SpecError, match="there is no engine `sprak`"):
        modelcheck.sweep("quorum", vary={}, engine="sprak")
    with pytest.raises(TypeError, match="unexpected keyword argument 'run_dir'"):
        modelcheck.sweep("quorum", vary={}, engine="spark", run_dir="run")


def test_patience_and_the_size_of_a_level_without_a_job_are_options() -> None:
    made = engine("spark", patience=7.0, driver_states=9)

    assert isinstance(made, SparkEngine)
    assert made._settings.patience == 7.0
    assert made._driver_states == 9


def environment(**variables: str) -> dict[str, str]:
    """Of a shell in which modelcheck and pyspark are installed, with a Java."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "JAVA_HOME": str(find().home), **variables}


def shell(commands: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The commands, run there."""
    words, own = ["bash", "-c", commands], environment(**variables)
    return subprocess.run(
        words, cwd=folder, env=own, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
