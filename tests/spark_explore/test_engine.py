"""The search as jobs of a real Spark: the same findings, whatever is killed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.contract.engine import CannotResume, Task
from modelcheck.contract.report import Event, Progress, Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.engine import SparkEngine
from spark_explore.search.jobs import JobFailed, SparkExecutors
from spark_explore.search.remote import Batches
from spark_explore.storage.run import begin
from spark_explore.storage.store import store_at
from spec.load import load
from spec.model.ir import Check, Model, PropertyKind
from tests.agreement import Found
from tests.spark_cluster import PATIENCE

ROOT = Path(__file__).parent.parent.parent
NOT_OURS = {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
CHECKS = [
    ("quorum", "promise_lost", False),  # violated by one fault
    ("two_phase_commit", "hasty_coordinator", True),  # breaks properties of steps
    pytest.param("quorum", "three_nodes", True, marks=pytest.mark.nightly),
]


def asked(file: str, name: str) -> tuple[Model, Check]:
    models = load(ROOT / f"spec/protocols/{file}.rsm")
    model, question = next((m, c) for m in models for c in m.checks if c.name == name)
    names = [p.name for p in model.properties if p.kind not in NOT_OURS]
    return model, replace(question, only=tuple(n for n in names if n in (question.only or names)))


def facts(
    model: Model, question: Check, engine: object, *, symmetry: bool = False, with_witnesses: bool = False
) -> dict[str, object]:
    found = check(
        model,
        question,
        engine=engine,  # type: ignore[arg-type]
        symmetry=symmetry,
        with_witnesses=with_witnesses,
    )
    return dict(Found(found.findings).facts)


@pytest.mark.spark
@pytest.mark.parametrize(("file", "name", "symmetry"), CHECKS)
def test_every_level_as_a_job_finds_what_the_explicit_engine_finds(
    file: str, name: str, *, symmetry: bool, local_spark: SparkSession
) -> None:
    model, question = asked(file, name)
    engine = SparkEngine(driver_states=0, shards=3)

    assert facts(model, question, engine, symmetry=symmetry) == facts(
        model, question, "explicit", symmetry=symmetry
    )


def quorum() -> Task:
    model, question = asked("quorum", "n3_w2_r2")
    scope, budget = question.scope, question.budget
    return Task(model, scope, budget, (), check=question.name)


def on_spark(spark: SparkSession, place: Path, *, sees: Path, left: float | None = None) -> SparkExecutors:
    task = quorum()
    run = begin(store_at(str(place)), task, 2)
    return SparkExecutors(spark, task, Kernel(task, blocks=True), run, str(sees), lambda: left)


@pytest.mark.spark
def test_a_job_ends_with_the_time_of_the_search(local_spark: SparkSession, tmp_path: Path) -> None:
    there = on_spark(local_spark, tmp_path / "run", sees=tmp_path / "run", left=0.5)
    began = time.monotonic()

    def late(batches: Batches) -> Batches:
        time.sleep(PATIENCE)
        yield from batches

    with pytest.raises(Stopped) as stopped:
        there._collected(local_spark.range(1), late)

    assert stopped.value.end is End.SECONDS
    assert time.monotonic() - began < PATIENCE / 2
    assert local_spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


@pytest.mark.spark
def test_a_machine_that_does_not_see_the_run_is_told(local_spark: SparkSession, tmp_path: Path) -> None:
    there = on_spark(local_spark, tmp_path / "run", sees=tmp_path / "elsewhere")

    with pytest.raises(JobFailed, match=r"^the machine \S+ does not see the run directory .*elsewhere: give"):
        there.deduplicate_waiting(0, [])


@pytest.mark.spark
def test_a_machine_that_sees_another_run_is_told(local_spark: SparkSession, tmp_path: Path) -> None:
    begin(store_at(str(tmp_path / "other")), quorum(), 2)
    there = on_spark(local_spark, tmp_path / "run", sees=tmp_path / "other")

    with pytest.raises(JobFailed, match=r"does not see the run directory"):
        there.deduplicate_waiting(0, [])


class At:
    """A reporter that does something once, when so many states have been found."""

    def __init__(self, states: int, act: Callable[[], object]) -> None:
        self.states = states
        self.act: Callable[[], object] | None = act

    def tell(self, event: Event) -> None:
        if isinstance(event, Progress) and event.states >= self.states and self.act:
            self.act()
            self.act = None


@pytest.mark.spark
def test_a_job_that_cannot_write_is_told_and_the_run_goes_on_elsewhere(
    local_spark: SparkSession, tmp_path: Path
) -> None:
    model, question = asked("quorum", "n3_w2_r2")
    place = tmp_path / "run"

    def block() -> None:  # where the files of the coming levels belong
        for level in range(30):
            for folder in ("left", "states"):
                path = place / folder / f"{level:06}"
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    path.touch()

    with pytest.raises(CannotResume, match=r"cannot continue: .*(Not a directory|File exists)"):
        check(
            model,
            question,
            engine=SparkEngine(driver_states=0, shards=2, run_dir=str(place)),
            reporter=At(100, block),
        )
    for path in [*place.glob("left/*"), *place.glob("states/*")]:
        if path.is_file():
            path.unlink()
    again = SparkEngine(driver_states=0, run_dir=str(place), resume=True)

    assert facts(model, question, again) == facts(model, question, "explicit")
