"""The settings of the page for YARN are what Spark's client of YARN reads; there is no real YARN here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL

import pyspark
import pytest

from spark_explore.cluster.java import find
from spark_explore.cluster.session import SparkSettings, session, shown
from spark_explore.cluster.shipping import look
from tests.consoles import marked
from tests.spark_cluster import PATIENCE, QUICK, ROOT
from tests.spark_explore.conftest import Desk

PAGE = ROOT / "docs/how-to/run-on-spark.md"
ARCHIVED = "PYTHON_OF_THE_ARCHIVE"


def settings_of_page() -> dict[str, str]:
    """The settings in the page's command."""
    (commands,) = marked(PAGE, "spark: yarn", "sh")
    words = shlex.split(commands)
    assert words[words.index("--master") + 1] == "yarn"
    pairs = [words[at + 1] for at, word in enumerate(words) if word == "--conf"]
    return dict(pair.split("=", 1) for pair in pairs)


def archive(folder: Path) -> Path:
    """What stands for an environment that venv-pack has packed: its Python is this one, and says so."""
    own = folder / "bin" / "python"
    own.parent.mkdir()
    own.write_text(f'#!/bin/sh\n{ARCHIVED}=1 exec {shlex.quote(sys.executable)} "$@"\n')
    own.chmod(0o755)
    packed = folder / "python.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        tar.add(own, "bin/python")
    return packed


def told_by_submit(conf: Mapping[str, str], folder: Path) -> str:
    """What spark-submit says that it makes of settings; it ends with its input, before there is a session."""
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    environment = {**os.environ, "JAVA_HOME": str(find().home), "HADOOP_CONF_DIR": str(folder)}
    environment["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(folder / "gateway")
    words = [str(program), *options, "--verbose", "pyspark-shell"]
    told = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return told.stdout + told.stderr


@pytest.mark.spark
def test_yarn_is_given_the_archive_and_its_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    packed = archive(tmp_path)
    conf = shown(SparkSettings("yarn", settings_of_page()))
    told = dict(re.findall(r"^\((spark\.[\w.]+),(.*)\)$", told_by_submit(conf, tmp_path), re.MULTILINE))

    assert told["spark.master"] == "yarn"
    assert told["spark.yarn.dist.archives"].removeprefix("file:").replace("//", "") == f"{packed}#python"
    assert told["spark.yarn.isPython"] == "true"
    assert conf["spark.pyspark.python"] == "python/bin/python"
    assert "spark.driver.host" not in conf  # Spark knows this machine's name in that network


@pytest.mark.spark
def test_executors_run_the_python_of_an_archive(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.clear()
    archive(tmp_path)
    monkeypatch.chdir(tmp_path)
    conf = {"spark.driver.memory": "512m", "spark.driver.extraJavaOptions": QUICK, **settings_of_page()}
    with session(SparkSettings("local-cluster[1,1,1024]", conf, patience=PATIENCE)) as spark:
        tasks = spark.sparkContext.parallelize(range(1), 1)
        found = tasks.map(lambda _: (os.environ.get("PYTHON_OF_THE_ARCHIVE"), look().missing)).collect()

    assert found == [("1", None)]
