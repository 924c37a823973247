"""The search on files finds what the explicit engine finds: in every model at hand, and in random ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.engine import Engine, Limits, Refusal, Task
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.kernel import Kernel, compiled
from modelcheck.symmetry import symmetric_sorts
from spark_explore.engine import SparkEngine
from spec.diagnostics import SpecError
from spec.ir import Check, Model, PropertyKind
from spec.load import load, loads
from spec.values import ModelError
from tests.agreement import Found, up_to_renaming
from tests.model_texts import model_text

ROOT = Path(__file__).parent.parent.parent
SMALL = 3000  # states
RANDOM = 50  # models
MOST = 2  # checks of a model
NOT_OURS = {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
FILES = sorted([*ROOT.glob("spec/protocols/*.rsm"), *(ROOT / "tests/modelcheck").rglob("*.rsm")])


@pytest.fixture(autouse=True)
def quickly_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Code for some thousand states is not worth being made fast; nor is it for others."""
    monkeypatch.setattr("modelcheck.explicit.kernel.compiled", partial(compiled, level=0))
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "cache"))


class SameCode(ExplicitEngine):
    """The explicit engine with the code that the search on files has, so that it is compiled once.

    But for ways back, which it keeps in its table of states.
    """

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        refused = SparkEngine(small=None).refusals(task)
        if not refused:
            apart = any(prop.kind is PropertyKind.RECOVERABLE for prop in task.properties)
            self._ready = task, Kernel(task, blocks=not apart)
        return refused


def answerable(model: Model, asked: Check) -> Check:
    """The check without the properties that the search on files leaves to others."""
    names = [p.name for p in model.properties if asked.only is None or p.name in asked.only]
    return replace(asked, only=tuple(n for n in names if model.property(n).kind not in NOT_OURS))


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


def compare(model: Model, asked: Check, engine: Engine, *, symmetry: bool = False) -> bool:
    """Whether there was something to compare; what was found is the same."""
    asked = answerable(model, up_to_renaming(model, asked) if symmetry else asked)
    expected = facts(model, asked, SameCode(), symmetry=symmetry, limits=Limits(states=SMALL))
    if expected is None:
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


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_small_checks_of_every_model_are_answered_as_by_the_explicit_engine(path: Path) -> None:
    for model in models(path):
        compared = (
            asked for asked in model.checks if compare(model, asked, SparkEngine(shards=5, small=None))
        )
        for asked in islice(compared, MOST):
            if symmetric_sorts(model):
                compare(model, asked, SparkEngine(shards=1, small=None), symmetry=True)


@pytest.mark.slow
def test_random_models_are_answered_as_by_the_explicit_engine() -> None:
    compared = seed = 0
    while compared < RANDOM:
        seed += 1
        random = Random(seed)  # noqa: S311 - no secret
        try:
            model = loads(model_text(random.randrange))[0]
        except SpecError:
            continue
        asked = model.checks[0]
        if compare(model, asked, SparkEngine(shards=3, small=None)):
            compared += 1
            if symmetric_sorts(model):
                compare(model, asked, SparkEngine(shards=2, small=None), symmetry=True)
