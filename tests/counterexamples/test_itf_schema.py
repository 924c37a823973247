"""What we write is ITF by its published text, whatever the model and the ending, and comes back as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from counterexamples.certify import certify
from counterexamples.itf.read import read
from counterexamples.itf.write import write
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.diagnostics import SpecError
from spec.load import load, loads
from spec.model.ir import Model
from spec.model.values import ModelError
from spec.source import Span
from tests.counterexamples.runs import divergence, wander
from tests.model_texts import model_text

PROTOCOLS = sorted((Path(__file__).parents[2] / "spec" / "protocols").glob("*.rsm"))
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parent / "itf.schema.json").read_text(encoding="utf-8"))
)
ENDINGS: tuple[Ending, ...] = (
    BadState(),
    BadStep(),
    BadAssert(),
    Erred("R0603", "division by zero", Span(3, 5)),
    Deadlocked(),
    Lasso(0),
    Trapped(),
    Example(),
    Stops(),
)


def faults_of(text: str) -> list[str]:
    """Where a text breaks the format: the schema, and what the schema cannot say."""
    whole: Any = json.loads(text)
    found = [f"{error.json_path}: {error.message[:80]}" for error in SCHEMA.iter_errors(whole)]
    if found:
        return found
    for index, state in enumerate(whole["states"]):
        found += [f"state {index} lacks {name}" for name in whole["vars"] if name not in state]
    if whole.get("loop", 0) >= len(whole["states"]):
        found.append("the loop starts nowhere")
    return found


def with_a_check(path: Path) -> list[Model]:
    return [model for model in load(path) if model.checks]


@pytest.mark.grid
@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_every_kind_of_trace_of_every_protocol_is_valid(path: Path) -> None:
    for number, model in enumerate(with_a_check(path)):
        trace = wander(model, 6, number)
        named = model.properties[0].name
        for ending in ENDINGS if number == 0 else (Stops(),):
            ended = replace(trace, ending=ending, property=named)
            text = write(ended)

            assert faults_of(text) == [], model.name
            assert read(text, model) == ended


@settings(max_examples=60)
@example(455, Stops())  # a parameter that is beyond the type of its domain
@given(st.integers(0, 10**6), st.sampled_from(ENDINGS))
def test_traces_of_random_models_are_valid_and_come_back(seed: int, ending: Ending) -> None:
    try:
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        trace = wander(model, 5, seed)
    except (SpecError, ModelError, IndexError):  # ill typed after all, or without a start
        reject()
    ended: Trace = replace(trace, ending=ending)
    text = write(ended)

    assert faults_of(text) == []
    assert read(text, model) == ended
    assert certify(replace(trace, ending=Stops())).trusted == ""


BROKEN: tuple[tuple[tuple[str | int, ...], object], ...] = (
    (("vars",), 3),
    (("vars",), ["isr", 1]),
    (("loop",), -1),
    (("loop",), 99),
    (("extra",), 1),
    (("states", 2), []),
    (("states", 2, "#more"), {}),
    (("states", 2, "#meta"), []),
    (("states", 2, "epoch"), 1),
    (("states", 2, "epoch"), 1.5),
    (("states", 2, "epoch"), None),
    (("states", 2, "epoch"), {"#bigint": "1e3"}),
    (("states", 2, "epoch"), {"#bigint": "1", "x": "y"}),
    (("states", 2, "isr"), {"#set": "a"}),
    (("states", 2, "isr"), {"#bag": []}),
    (("states", 2, "seen"), {"#map": [["a"]]}),
    (("states", 2, "seen"), {"#map": [[["a", 1], "b"]]}),
    (("states", 2, "lease"), {"tag": "Some", "value": {"owner": "a", "epoch": 1}}),
)


@pytest.mark.parametrize(("path", "value"), BROKEN)
def test_the_schema_refuses_what_is_not_in_the_format(path: tuple[str | int, ...], value: object) -> None:
    whole: Any = json.loads(write(divergence()))
    part: Any = whole
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value

    assert faults_of(json.dumps(whole))
