"""A run in an object store, a simulated S3: every level as jobs, status, going on, states as a DataFrame."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL

import pyarrow.fs as fs
import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from spark_explore.engine import SparkEngine
from spark_explore.frames import states
from tests.spark_cluster import end, supervised, until
from tests.spark_explore.test_engine import asked, facts

NOBODY = "s3a://id:secret@runs/one?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
QUORUM = str(Path(__file__).parent.parent.parent / "spec/protocols/quorum.rsm")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture
def bucket() -> Iterator[str]:
    """An empty bucket, as the beginning and the end of the URI of what is in it."""
    if find_spec("moto") is None or find_spec("flask") is None:
        pytest.skip("needs a simulated S3: pip install 'moto[server]'")
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = supervised(command, stdout=DEVNULL, stderr=DEVNULL)
    try:
        until(lambda: answers(port))
        where = {"endpoint_override": f"127.0.0.1:{port}", "scheme": "http", "region": "us-east-1"}
        files = fs.S3FileSystem(access_key="id", secret_key="secret", allow_bucket_creation=True, **where)  # noqa: S106 - of nothing
        files.create_dir("runs")
        yield "s3a://id:secret@runs/{name}?" + "&".join(f"{key}={value}" for key, value in where.items())
    finally:
        end(process)


@pytest.mark.spark
def test_a_run_in_an_object_store_is_like_any_other(
    bucket: str, local_spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    model, question = asked("quorum", "promise_lost")
    place = bucket.format(name="one")
    expected = facts(model, question, "explicit")
    part = check(
        model,
        question,
        engine=SparkEngine(driver_states=0, shards=2, run_dir=place),
        limits=Limits(states=200),
    )

    assert part.findings.end.partial
    assert facts(model, question, SparkEngine(driver_states=0, run_dir=place, resume=True)) == expected
    assert main(["spark", "status", place]) == Exit.EXPECTED
    told = capsys.readouterr().out
    count = states(local_spark, place).count()
    assert f"{count:,} states" in told


def test_an_object_store_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    place = NOBODY.format(port=free_port())

    assert main(["spark", "status", place]) == Exit.WRONG
    assert "Could not connect to server" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("foo://a/b", "Unrecognized filesystem type in URI"),
        ("hdfs://127.0.0.1:1/a", "HDFS needs the library libhdfs.so"),
    ],
)
def test_a_place_that_nobody_reaches_is_told_before_spark_starts(
    place: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_explore.engine.session", None)
    code = main(["check", QUORUM, "--check", "n3_w2_r2", "--engine", "spark", "--run-dir", place])

    assert code == Exit.WRONG
    assert told in capsys.readouterr().err
