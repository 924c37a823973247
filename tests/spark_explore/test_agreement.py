"""The search on files finds what the explicit engine finds: in every model at hand, and in random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count, islice
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Engine, Limits, Refusal, Task
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.search.interchangeable import symmetric_sorts
from spark_explore.engine import SparkEngine
from spark_explore.jobs import SparkExecutors
from spec.diagnostics import SpecError
from spec.ir import Check, Model, PropertyKind
from spec.kinds import OF_FAIR_RUNS
from spec.load import load, loads
from spec.values import ModelError
from tests.agreement import Found, up_to_renaming
from tests.model_texts import model_text

ROOT = Path(__file__).parent.parent.parent
SMALL = range(3000)  # states
WORTH_JOBS = range(20, 500)
RANDOM = 50  # models
MOST = 2  # checks of a model
FILES = sorted([*ROOT.glob("spec/protocols/*.rsm"), *(ROOT / "tests/modelcheck").rglob("*.rsm")])


pytestmark = pytest.mark.usefixtures("quickly_compiled")


class SameCode(ExplicitEngine):
    """The explicit engine with the code that the search on files has, so that it is compiled once.

    But for ways back, which it keeps in its table of states.
    """

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        return SparkEngine(small=None).refusals(task)

    def _kernel(self, task: Task) -> Kernel:
        apart = any(prop.kind is PropertyKind.RECOVERABLE for prop in task.properties)
        return Kernel(task, blocks=not apart)


def answerable(model: Model, asked: Check) -> Check:
    """The check without the properties that the search on files leaves to others."""
    names = [p.name for p in model.properties if asked.only is None or p.name in asked.only]
    return replace(asked, only=tuple(n for n in names if model.property(n).kind not in OF_FAIR_RUNS))


def facts(
    model: Model, asked: Check, engine: Engine, *, symmetry: bool, limits: Limits | None = None
) -> Found | None:
    """What an engine found, or how the model fails before there is any state; None where it says nothing."""
    try:
        found = check(model, asked, engine=engine, symmetry=symmetry, threads=1, limits=limits).findings
    except (Unsupported, Unmet):
        return None
    except ModelError as error:
        return Found(None, error.code)
    return None if found.end.partial else Found(found)


def compare(
    model: Model, asked: Check, engine: Engine, *, symmetry: bool = False, states: range = SMALL
) -> bool:
    """Whether there was something to compare, of so many states; what was found is the same."""
    asked = answerable(model, up_to_renaming(model, asked) if symmetry else asked)
    expected = facts(model, asked, SameCode(), symmetry=symmetry, limits=Limits(states=states.stop))
    if expected is None or (expected.findings and expected.findings.stats.states < states.start):
        return False
    found = facts(model, asked, engine, symmetry=symmetry)
    assert found is not None
    a, b = expected.facts, found.facts
    if symmetry and expected.findings is not None and expected.findings.error is not None:
        # how much of an erring state was seen depends on which state stands for its orbit
        a, b = ({name: facts.get(name) for name in ("end", "error", "refused")} for facts in (a, b))

    assert b == a, model.source.text
    return True


def models(path: Path) -> tuple[Model, ...]:
    """The models of a file; none when it is there for its mistakes."""
    try:
        return load(path)
    except SpecError:
        return ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_small_checks_of_every_model_are_answered_as_by_the_explicit_engine(path: Path) -> None:
    for model in models(path):
        compared = (
            asked for asked in model.checks if compare(model, asked, SparkEngine(shards=5, small=None))
        )
        for asked in islice(compared, MOST):
            if symmetric_sorts(model):
                compare(model, asked, SparkEngine(shards=1, small=None), symmetry=True)


def random_models() -> Iterator[Model]:
    for seed in count(1):
        random = Random(seed)  # noqa: S311 - no secret
        try:
            yield loads(model_text(random.randrange))[0]
        except SpecError:
            continue


def test_random_models_are_answered_as_by_the_explicit_engine() -> None:
    compared = 0
    for model in random_models():
        asked = model.checks[0]
        if compare(model, asked, SparkEngine(shards=3, small=None)):
            compared += 1
            if symmetric_sorts(model):
                compare(model, asked, SparkEngine(shards=2, small=None), symmetry=True)
        if compared == RANDOM:
            return


# ----------------------------------------------------------------- on a real Spark


@pytest.fixture
def on_spark(local_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkEngine:
    """Levels of more than a few states are jobs; the workers find the code that was quickly compiled here."""
    monkeypatch.setitem(local_spark.sparkContext.environment, "MODELCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(SparkExecutors, "_warm", lambda _: None)  # it would be one more job
    return SparkEngine(shards=2, small=2)


def kinds(model: Model, asked: Check) -> frozenset[tuple[object, ...]]:
    """What jobs may tell apart in a check: the kinds of its properties, each with how faults are bounded."""
    total, names = asked.budget.total, answerable(model, asked).only or ()
    bounds = total if total is None else min(total, 1), asked.budget.bounds_kinds
    return frozenset((model.property(name).kind, *bounds) for name in names)


@pytest.mark.spark
def test_jobs_answer_small_checks_of_every_kind_as_the_explicit_engine(on_spark: SparkEngine) -> None:
    """What an action does is the code of both: the same search without Spark, above, is asked about all."""
    seen: set[tuple[object, ...]] = set()
    for model in chain.from_iterable(map(models, FILES)):
        for asked in model.checks:
            what = kinds(model, asked)
            if not what <= seen and compare(model, asked, on_spark, states=WORTH_JOBS):
                seen |= what

    found = {kind for kind, *_ in seen} | {PropertyKind.LEMMA}  # which is an invariant
    assert found == set(PropertyKind) - OF_FAIR_RUNS


@pytest.mark.spark
def test_jobs_answer_random_models_as_the_explicit_engine(on_spark: SparkEngine) -> None:
    compared = 0
    for model in random_models():
        compared += compare(model, model.checks[0], on_spark, states=SMALL)
        if compared == RANDOM:
            return
