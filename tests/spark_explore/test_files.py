"""A search on files: tasks that run twice or die, a driver that is killed, files that are not as written."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from modelcheck.api import check
from modelcheck.contract.engine import CannotResume, Limits
from modelcheck.contract.report import Event, Progress
from modelcheck.contract.result import End
from spark_explore.engine import SparkEngine
from spark_explore.search.jobs import JobFailed, SparkExecutors
from spark_explore.search.remote import SCHEMA, Work, spark_worker
from spark_explore.storage.status import status
from spark_explore.storage.store import LocalStore
from spec.load import load
from spec.model.ir import Check, Model
from tests.agreement import Found

ROOT = Path(__file__).parent.parent.parent
QUORUM = ROOT / "spec/protocols/quorum.rsm"
TINY = ROOT / "tests/modelcheck/tiny.rsm"


def asked(name: str, path: Path) -> tuple[Model, Check]:
    return next((m, c) for m in load(path) for c in m.checks if c.name == name)


def found(model: Model, question: Check, engine: object) -> dict[str, object]:
    return dict(Found(check(model, question, engine=engine).findings).facts)  # type: ignore[arg-type]


# ---------------------------------------------------------- tasks that are run again


class Broadcast:
    def __init__(self, value: bytes) -> None:
        self.value = value


class Unreliable:
    """Spark in this process, as bad as it may be: tasks die before or after their work, or run twice."""

    defaultParallelism = 3  # noqa: N815 - what Spark calls it

    def __init__(self, random: Random) -> None:
        self.random = random
        self.attempts = 0

    @property
    def sparkContext(self) -> Unreliable:  # noqa: N802 - what Spark calls it
        return self

    def broadcast(self, value: bytes) -> Broadcast:
        return Broadcast(value)

    def setJobGroup(self, *_: object, **__: object) -> None:  # noqa: N802 - what Spark calls it
        """Nobody ends its jobs."""

    def setLocalProperty(self, *_: object) -> None:  # noqa: N802 - what Spark calls it
        """Nor asks whose they are."""

    def range(self, start: int, end: int, step: int, parts: int) -> Rows:
        ids = [[pa.RecordBatch.from_arrays([pa.array([n])], names=["id"])] for n in range(start, end, step)]
        assert len(ids) == parts
        return Rows(self, ids)

    def run(self, work: Work, batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """One successful attempt of some."""
        answers = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self.attempts += 1
            if not self.random.randrange(3):
                spark_worker.cache_clear()  # another process
            attempt = work(iter(batches))
            if not self.random.randrange(4):
                next(attempt, None)  # dies in the middle
            else:
                answers.append(list(attempt))
        return self.random.choice(answers) if answers else list(work(iter(batches)))


class Rows:
    def __init__(self, spark: Unreliable, parts: list[list[pa.RecordBatch]]) -> None:
        self.spark = spark
        self.parts = parts

    def mapInArrow(self, work: Work, _: str) -> Rows:  # noqa: N802 - what Spark calls it
        return Rows(self.spark, [self.spark.run(work, part) for part in self.parts])

    def repartitionById(self, count: int, _: str) -> Rows:  # noqa: N802 - what Spark calls it
        rows = [row for part in self.parts for batch in part for row in batch.to_pylist()]
        self.spark.random.shuffle(rows)
        sorted_: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            sorted_[row["shard"] % count].append(row)
        return Rows(
            self.spark, [[pa.RecordBatch.from_pylist(sorted_[n], schema=SCHEMA)] for n in range(count)]
        )

    def collect(self) -> list[Any]:
        rows = [row for part in self.parts for batch in part for row in batch.to_pylist()]
        return [Row(**row) for row in rows]


class Row:
    def __init__(self, report: bytes) -> None:
        self.report = report


class OnUnreliable(SparkEngine):
    """Every level is a job."""

    def __init__(self, seed: int, run_dir: str) -> None:
        super().__init__(driver_states=0, shards=4, run_dir=run_dir)
        self.unreliable: Any = Unreliable(Random(seed))  # noqa: S311 - no secret

    @contextmanager
    def _spark(self) -> Iterator[Any]:
        yield self.unreliable


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["by files", "by Spark"])
def test_whatever_tasks_do_the_findings_are_the_same(seed: int, how: str, tmp_path: Path) -> None:
    model, question = asked("as_expected", TINY)
    question = replace(question, only=tuple(prop.name for prop in model.properties))
    place = str(tmp_path / "run") if how == "by files" else (tmp_path / "run").as_uri()
    engine = OnUnreliable(seed, place)

    assert found(model, question, engine) == found(model, question, "explicit")
    assert engine.unreliable.attempts > 100


# ----------------------------------------------------------------- going on with a run


class KilledAt:
    """A reporter whose process dies at a level, or is asked to end there."""

    def __init__(self, depth: int, how: type[BaseException] | None = None) -> None:
        self.depth = depth
        self.how = how or Killed

    def tell(self, event: Event) -> None:
        if isinstance(event, Progress) and (event.depth, event.faults) == (self.depth, 1):
            raise self.how


class Killed(BaseException):
    """As if the process were gone."""


def test_a_job_that_spark_gives_up_for_other_names_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, question = asked("as_expected", TINY)
    job, given_up = SparkExecutors._job, set[int]()

    def once_more(self: SparkExecutors, rows: Any, work: Work) -> list[dict[str, Any]]:  # noqa: ANN401 - no DataFrame
        answers = job(self, rows, work)
        if id(rows) not in given_up:
            given_up.add(id(rows))
            raise JobFailed("A shuffle map stage with indeterminate output was failed and retried.")
        return answers

    monkeypatch.setattr(SparkExecutors, "_job", once_more)

    assert found(model, question, OnUnreliable(1, str(tmp_path / "run"))) == found(
        model, question, "explicit"
    )
    assert len(given_up) > 2


@pytest.mark.parametrize("depth", range(2, 8))
def test_a_driver_that_is_killed_anywhere_goes_on_and_finds_the_same(depth: int, tmp_path: Path) -> None:
    model, question = asked("three_nodes", QUORUM)
    place = str(tmp_path / "run")
    with pytest.raises(Killed):
        check(model, question, engine=here(place), reporter=KilledAt(depth))

    assert found(model, question, here(place, resume=True)) == found(model, question, "explicit")


def test_a_run_that_has_ended_says_the_same_again(tmp_path: Path) -> None:
    model, question = asked("three_nodes", QUORUM)
    first = found(model, question, here(str(tmp_path / "run")))

    assert found(model, question, here(str(tmp_path / "run"), resume=True)) == first


def here(place: str, *, resume: bool = False) -> SparkEngine:
    return SparkEngine(run_dir=place, resume=resume, driver_states=None)


def test_limits_leave_a_part_that_another_run_goes_on_with(tmp_path: Path) -> None:
    model, question = asked("three_nodes", QUORUM)
    part = check(model, question, engine=here(str(tmp_path / "run")), limits=Limits(states=1000)).findings

    assert part.end is End.STATES
    assert 1000 <= part.stats.states < 2200
    assert [layer.faults for layer in part.stats.layers] == [0]
    again = here(str(tmp_path / "run"), resume=True)
    assert found(model, question, again) == found(model, question, "explicit")


def test_ctrl_c_keeps_what_was_found(tmp_path: Path) -> None:
    model, question = asked("three_nodes", QUORUM)
    place = str(tmp_path / "run")
    part = check(model, question, engine=here(place), reporter=KilledAt(4, KeyboardInterrupt)).findings

    assert part.end is End.INTERRUPTED
    assert part.stats.states >= 259
    assert found(model, question, here(place, resume=True)) == found(model, question, "explicit")


# --------------------------------------------------------------- runs that cannot go on


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A run that is not finished."""
    model, question = asked("three_nodes", QUORUM)
    check(model, question, engine=here(str(tmp_path / "run")), limits=Limits(states=1000))
    return tmp_path / "run"


def refused(place: Path, name: str = "three_nodes", *, resume: bool = True) -> str:
    model, question = asked(name, QUORUM)
    with pytest.raises(CannotResume) as refusal:
        check(model, question, engine=here(str(place), resume=resume))
    return str(refusal.value)


def test_a_run_of_another_check_is_refused(begun: Path) -> None:
    assert "of another model, scope, check or version" in refused(begun, "three_nodes_longer")


def test_a_run_is_not_begun_over_another(begun: Path) -> None:
    assert refused(begun, resume=False) == (
        "the run directory is not empty: continue it with --resume, or name another"
    )


def test_where_there_is_no_run_there_is_none_to_go_on_with(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing") == "there is no run in the run directory"


def states(place: Path) -> Path:
    """A file of states that counts."""
    return place / status(str(place)).levels[-1].new[0].name


def test_states_that_were_changed_are_noticed(begun: Path) -> None:
    path = states(begun)
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])

    assert "is not as it was written" in refused(begun)


def test_states_that_are_cut_off_are_noticed(begun: Path) -> None:
    path = states(begun)
    path.write_bytes(path.read_bytes()[:-1])

    assert "is shorter than it was" in refused(begun)


def test_states_that_are_gone_are_noticed(begun: Path) -> None:
    states(begun).unlink()

    assert "no such file" in refused(begun)


def test_a_manifest_that_was_changed_is_noticed(begun: Path) -> None:
    path = max((begun / "levels").glob("0*.json"))
    path.write_bytes(path.read_bytes().replace(b'"depth"', b'"death"'))

    assert "is not as it was written" in refused(begun)


def test_a_disk_without_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LocalStore, "put", full)

    assert "cannot continue: no space left on device" in refused(tmp_path / "run", resume=False)
