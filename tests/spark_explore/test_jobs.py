"""Jobs of a real Spark find what the reference engine finds.

What an action does is the same code without Spark, which tests/conformance asks about every model.
So here is what Spark adds: states that are shared out, told apart in shuffles and put into files, and
closures that reach the workers; a model or two for each kind of question that a job is told of.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from spark_explore.engine import SparkEngine
from spark_explore.search.jobs import SparkExecutors
from spec.model.ir import PropertyKind
from spec.model.kinds import OF_FAIR_RUNS
from tests.agreement import Found, differences
from tests.conformance.engines import WAYS
from tests.conformance.questions import SEED, question
from tests.conformance.test_engines import APART, asked_of, measure

SPARK = next(way for way in WAYS if way.of == "spark")
JOBS = {
    "tiny": "claims of states and steps, and a way back from each state",
    "quorum, broken": "a violation in a later level",
    "two_phase_commit": "faults of one kind, counted in the states",
    "cheaper_later": "a longer run with fewer faults, found in another layer",
    "end_that_is_allowed": "states in which nothing can happen",
    "one_of_two_steps": "an assert",
    "fault_that_is_not_allowed_fails": "faults that the budget has not",
    "error_with_and_without_a_fault": "an error that a fault leads to, and one that none does",
    "error_beyond_the_budget": "an error one fault further than is looked",
    "error_in_recoverable": "an error of the condition of a way back",
    "nothing_can_happen": "one level",
}
RENAMED = {
    "quorum": "one state for each orbit",
    "two_sorts": "members of two sorts",
    "error_up_to_renaming": "an error of a state that stands for others",
}
MODELS, DAILY = 12, 4  # random ones; the others are for the night
RANDOM = [
    pytest.param(f"{SEED}{n * APART}", marks=[pytest.mark.nightly] if n > DAILY else [])
    for n in range(1, MODELS + 1)
]

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("quickly_compiled")]


@pytest.fixture
def on_spark(local_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkEngine:
    """Levels of more than a few states are jobs; the workers find the code that was quickly compiled here."""
    monkeypatch.setitem(local_spark.sparkContext.environment, "MODELCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(SparkExecutors, "_warm", lambda _: None)  # it would be one more job
    return SparkEngine(shards=2, driver_states=2)


def different(name: str, engine: SparkEngine, *, symmetry: bool = False) -> object:
    """Where what is found differs from what the reference engine finds."""
    model, whole = question(name)
    asked = asked_of(SPARK, model, whole)
    known = measure(name, asked.only, symmetry=symmetry)
    found = Found(
        check(model, asked, engine=engine, symmetry=symmetry, threads=1, with_witnesses=True).findings
    )
    a, b = known.facts, found.facts
    if symmetry and known.findings is not None and known.findings.error is not None:
        a, b = ({fact: facts.get(fact) for fact in ("end", "error")} for facts in (a, b))
    return differences(a, b)


@pytest.mark.parametrize("name", [*JOBS, *RANDOM])
def test_jobs_answer_as_the_reference_engine(name: str, on_spark: SparkEngine) -> None:
    assert different(name, on_spark) == {}


@pytest.mark.parametrize("name", RENAMED)
def test_jobs_answer_up_to_symmetry_as_the_reference_engine(name: str, on_spark: SparkEngine) -> None:
    assert different(name, on_spark, symmetry=True) == {}


def test_jobs_are_told_of_every_kind_of_property() -> None:
    asked = [asked_of(SPARK, *question(name)) for name in JOBS]
    models = [question(name)[0] for name in JOBS]
    names = zip(models, (each.only or () for each in asked), strict=True)
    found = {model.property(name).kind for model, only in names for name in only}

    assert found | {PropertyKind.LEMMA} == set(PropertyKind) - OF_FAIR_RUNS  # a lemma is an invariant
