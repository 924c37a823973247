"""The explicit engine finds what the reference finds: in every model at hand, and in random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Limits
from modelcheck.contract.expected import mismatches
from modelcheck.search.interchangeable import symmetric_sorts
from spec.diagnostics import SpecError
from spec.ir import Budget, Check, Model
from spec.load import load, loads
from spec.values import ModelError
from tests.agreement import Found, by_reference, compare, orbits, up_to_renaming
from tests.model_texts import model_text

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SMALL = 3000  # states that the reference has in some seconds
PARTS = 8
MODELS = 63  # random models in each part


def models_of(path: Path) -> tuple[Model, ...]:
    """The models of a file; none when it is there for its mistakes."""
    try:
        return load(path)
    except SpecError:
        return ()


def files() -> list[Path]:
    """Every model file that comes with the project, without the golden ones, in which nothing is asked."""
    ours = [path for path in (ROOT / "tests").rglob("*.rsm") if "golden" not in path.parts]
    return sorted([*ROOT.glob("spec/protocols/*.rsm"), *ours])


def small_checks(path: Path) -> Iterator[tuple[Model, Check]]:
    """The checks of a file of which the explicit engine finds few states."""
    for model in models_of(path):
        for asked in model.checks:
            try:
                found = check(model, asked, engine="explicit", limits=Limits(states=SMALL), threads=1)
            except (Unsupported, Unmet, ModelError):
                continue
            if not found.findings.end.partial:
                yield model, asked


SHIPPED = [path for path in files() if path.parent.name != "agreement"]
FOUND = sorted((HERE / "agreement").glob("*.rsm"))


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_engines_agree_on_every_small_check_of_a_file(path: Path) -> None:
    for model, asked in small_checks(path):
        known = by_reference(model, asked)
        for threads in (1, 2):
            compare(model, asked, threads=threads, known=known)
        if symmetric_sorts(model):
            compare(model, asked, symmetry=True)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
@pytest.mark.parametrize("symmetry", [False, True], ids=["plain", "symmetry"])
def test_engines_agree_where_they_once_did_not(path: Path, *, symmetry: bool) -> None:
    model = load(path)[0]
    asked = model.checks[0]
    found = compare(model, asked, symmetry=symmetry, threads=1)

    assert found is not None
    if symmetry:
        agrees_with_brute_force(model, asked)
    else:
        assert not [each for each in mismatches(asked, found) if each.wish in asked.expect]


@pytest.mark.parametrize("part", range(PARTS))
def test_engines_agree_on_random_models(part: int, request: pytest.FixtureRequest) -> None:
    if part % 4:  # the others have the code that people have
        request.getfixturevalue("quickly_compiled")
    compared = 0
    seed = part * 100_000
    while compared < MODELS:
        seed += 1
        found = random_model(seed)
        if found is None:
            continue
        model, asked, known = found
        if compare(model, asked, limits=Limits(states=SMALL), threads=1 + seed % 2, known=known) is None:
            continue
        compared += 1
        if compared % 2 and symmetric_sorts(model):
            compare(model, asked, limits=Limits(states=SMALL), symmetry=True)
            agrees_with_brute_force(model, asked)


def random_model(seed: int) -> tuple[Model, Check, Found] | None:
    """The model of a number, its check, what the reference finds; None when that is too little or much."""
    random = Random(seed)  # noqa: S311 - no secret
    try:
        model = loads(model_text(random.randrange))[0]
        asked = model.checks[0]
        found = check(model, asked, engine="reference", limits=Limits(states=SMALL)).findings
    except (SpecError, ModelError):
        return None
    if found.end.partial or (found.stats.states < 4 and seed % 4):
        return None
    return model, asked, Found(found)


def agrees_with_brute_force(model: Model, asked: Check) -> None:
    """Both engines count as many orbits without faults as trying every renaming does."""
    quiet = replace(up_to_renaming(model, asked), budget=Budget(0), only=())
    try:
        expected = orbits(model, quiet, most=300)
    except ModelError:
        return
    if expected is None:
        return
    found = compare(model, quiet, symmetry=True)

    assert found is None or found.stats.states == expected, model.source.text
