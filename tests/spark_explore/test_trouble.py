"""Tasks in trouble on a real cluster: the findings stay what they are, or a sentence says what is wrong."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import spark_explore.storage.run as runs
import tests.spark_trouble as trouble
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.engine import CannotResume, Limits
from modelcheck.contract.exits import Exit
from spark_explore.engine import SparkEngine
from spec.load import loads
from tests.spark_cluster import Cluster
from tests.spark_explore.conftest import Desk
from tests.spark_explore.test_command import QUORUM
from tests.spark_explore.test_engine import asked, facts
from tests.spark_trouble import Trouble

FAULTY = ("quorum", "promise_lost")  # two layers, and a run with a fault
EAGER = {  # what takes a moment longer than the others runs twice
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": "1.0",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.task.duration.threshold": "200ms",
}


@pytest.mark.spark
def test_tasks_that_fail_and_run_again_change_nothing(
    cluster_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Trouble(tmp_path / "attempts", trouble.fail, seed=67, one_in=4)
    trouble.have(failing, monkeypatch)
    engine = SparkEngine(driver_states=150, shards=3, run_dir=str(tmp_path / "run"))
    found = facts(*asked(*FAULTY), engine)
    failed = [attempt for attempt in trouble.told(failing) if attempt.moment != "well"]

    assert found == facts(*asked(*FAULTY), "explicit")
    assert len(failed) > 3
    assert {attempt.moment for attempt in failed} >= {"as it writes", "within"}
    assert {attempt.work for attempt in failed} >= {"Expand", "Deduplicate"}
    assert not [attempt for attempt in failed if attempt.has_ended]
    assert tasks(failing) == tasks(failing, has_ended=True)


@pytest.mark.spark
def test_what_runs_twice_at_once_counts_once(
    desk: Desk, spark_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = spark_cluster.settings()
    desk.get(replace(settings, conf={**settings.conf, **EAGER}))
    slow = Trouble(tmp_path / "attempts", trouble.dawdle, one_in=3)
    trouble.have(slow, monkeypatch)
    engine = SparkEngine(
        driver_states=150, shards=3, run_dir=(tmp_path / "run").as_uri()
    )  # so that blocks are sent
    found = facts(*asked(*FAULTY), engine)
    attempts = Counter(attempt.task for attempt in trouble.told(slow))

    assert found == facts(*asked(*FAULTY), "explicit")
    assert max(attempts.values()) > 1  # none has failed, so they ran at once
    assert tasks(slow) == tasks(slow, has_ended=True)


def tasks(had: Trouble, *, has_ended: bool = False) -> set[str]:
    """The tasks of which an attempt has begun, or ended."""
    return {attempt.task for attempt in trouble.told(had) if attempt.has_ended >= has_ended}


# ------------------------------------------------------------------------ no room

WIDE = ("quorum", "n5_w3_r2")  # 13,486 states, 216 kB
AT_ONCE = ("--engine", "spark", "--shards", "3", "--driver-states", "75")


@pytest.mark.spark
def test_executors_that_have_no_room_are_told_and_the_run_goes_on_when_they_have(
    cluster_spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "run"
    full = Trouble(tmp_path / "attempts", trouble.without_room, one_in=1, attempts=9)
    with monkeypatch.context() as patch:
        trouble.have(full, patch)
        code = main(["check", QUORUM, "--check", WIDE[1], *AT_ONCE, "--run-dir", str(place)])
    told = capsys.readouterr()

    assert code == Exit.WRONG
    assert told.out == ""
    assert f"the search in {place} cannot continue: OSError: [Errno 27] File too large\n" in told.err
    assert "Traceback" not in told.err
    goes_on(place)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for little; who may make none does without the test."""
    place = tmp_path / "disk"
    place.mkdir()
    if not done("mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(place)):
        pytest.skip("needs the right to mount a file system")
    try:
        yield place
    finally:
        assert done("umount", str(place))


def done(program: str, *words: str) -> bool:
    """Whether there is such a program and it has done what it was told."""
    path = shutil.which(program)
    return (
        path is not None and not subprocess.run([path, *words], capture_output=True, check=False).returncode
    )


@pytest.mark.spark
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    cluster_spark: SparkSession, disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = disk / "run"
    code = main(["check", QUORUM, "--check", WIDE[1], *AT_ONCE, "--run-dir", str(place)])
    told = capsys.readouterr()

    assert code == Exit.WRONG
    assert told.out == ""
    assert f"the search in {place} cannot continue: " in told.err
    assert "no space left on device" in told.err.lower()
    assert "Traceback" not in told.err
    assert done("mount", "-o", "remount,size=64m", str(disk))
    goes_on(place)


def goes_on(place: Path) -> None:
    """The run that `modelcheck check` began goes on, on the cluster, and finds what there is."""
    assert list((place / "levels").iterdir())
    again = SparkEngine(driver_states=0, run_dir=str(place), resume=True)

    assert facts(*asked(*WIDE), again, with_witnesses=True) == facts(
        *asked(*WIDE), "explicit", with_witnesses=True
    )


# ------------------------------------------------------------------ another's run


@pytest.mark.spark
def test_the_run_of_another_question_is_refused_and_left_as_it_is(
    cluster_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "run"
    model, question = asked("quorum", "n3_w2_r2")
    begun = SparkEngine(driver_states=0, shards=2, run_dir=str(place))
    check(model, question, engine=begun, limits=Limits(states=100))
    before = contents(place)
    again = SparkEngine(driver_states=0, run_dir=str(place), resume=True)
    text = model.source.text.replace("term := term + 1", "term := term + 1 + 0")
    assert text != model.source.text
    other = next(each for each in loads(text) if each.name == model.name)
    larger = replace(question, scope=replace(question.scope, nats={**question.scope.nats, "Term": 3}))

    for changed in ((other, question), (model, larger), asked("quorum", "n3_w1_r2")):
        with pytest.raises(CannotResume, match=r"is of another model, scope, check or version of modelcheck"):
            check(*changed, engine=again)
    for name, value in (("VERSION", "0.0.0"), ("FORMAT", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(runs, name, value)
            with pytest.raises(CannotResume, match=r"of another .*version of modelcheck"):
                check(model, question, engine=again)
    assert contents(place) == before
    assert facts(model, question, again) == facts(model, question, "explicit")


def contents(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}
