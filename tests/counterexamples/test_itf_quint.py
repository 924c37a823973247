"""Traces of Quint replay on our models, and Quint's reader takes ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from counterexamples.certify import certify
from counterexamples.itf.read import document, read
from counterexamples.itf.write import write
from counterexamples.trace import Stops, Trace
from spec.diagnostics import SpecError, render
from spec.load import load
from spec.meaning.semantics import Machine
from tests.counterexamples.runs import divergence, scope, toy, wander
from tests.counterexamples.test_itf_schema import PROTOCOLS, faults_of

HOME = Path(__file__).parents[1] / "quint"
needs_quint = pytest.mark.skipif(
    "QUINT" not in os.environ, reason="needs QUINT: a folder with what tests/quint/package.json lists"
)


def given(name: str) -> str:
    return (HOME / name).read_text(encoding="utf-8")


def replayed(text: str) -> Trace:
    return certify(read(text, toy(), scope=scope(toy()))).trace


def names(trace: Trace) -> list[str]:
    machine = Machine(trace.model, trace.scope)
    return [machine.name(step) for step in trace.steps]


def test_a_trace_of_quint_replays() -> None:
    trace = replayed(given("toy.itf.json"))

    assert trace.ending == Stops()
    assert names(trace)[:5] == ["crash(a)", "elect(b)", "restart(a)", "ask(a)", "crash(a)"]
    assert len(trace.steps) == 12


def test_the_action_that_quint_names_is_the_one_taken() -> None:
    text = given("toy_alone.itf.json")
    taken = [state["mbt::actionTaken"] for state in json.loads(text)["states"]]

    assert [step.action for step in replayed(text).steps] == taken[1:]


def test_a_trace_of_quint_shows_the_violation_that_quint_found() -> None:
    trace = replayed(given("toy_alone.itf.json"))
    machine, alone = Machine(trace.model, trace.scope), trace.model.property("alone")

    assert [machine.holds(alone, state) for state in trace.states] == [True] * 10 + [False]


@pytest.mark.parametrize("name", ["toy.itf.json", "toy_alone.itf.json"])
def test_the_schema_takes_what_quint_writes(name: str) -> None:
    assert faults_of(given(name)) == []


def test_a_trace_of_quint_without_a_scope_is_refused() -> None:
    with pytest.raises(SpecError) as caught:
        document(given("toy.itf.json"), "toy.itf.json").trace(toy())

    assert caught.value.diagnostics[0].code == "R0805"


def test_a_step_that_quint_takes_and_the_model_does_not_is_told_with_its_guard() -> None:
    whole = json.loads(given("toy.itf.json"))
    whole["states"][2]["up"] = whole["states"][3]["up"] = {"#map": [["a", False], ["b", True]]}
    with pytest.raises(SpecError) as caught:
        replayed(json.dumps(whole))
    told = render(caught.value.diagnostics[0])

    assert "states[3]: step 3 is not a step of the model" in told
    assert "State 3 is state 2 again, and no action leaves it as it is." in told


@needs_quint
@pytest.mark.parametrize("seed", range(1, 6))
def test_what_quint_runs_now_replays(seed: int, tmp_path: Path) -> None:
    out = tmp_path / "out.itf.json"
    binary = Path(os.environ["QUINT"]) / "node_modules" / ".bin" / "quint"
    how = ["--backend", "typescript", "--seed", str(seed), "--max-samples", "1", "--max-steps", "20"]
    subprocess.run([binary, "run", HOME / "toy.qnt", *how, "--out-itf", out], check=True, capture_output=True)
    trace = replayed(out.read_text(encoding="utf-8"))

    assert len(trace.steps) > 5


@needs_quint
def test_the_reader_of_quint_takes_what_we_write(tmp_path: Path) -> None:
    models = (next(model for model in load(path) if model.checks) for path in PROTOCOLS)
    traces = [divergence(), *(wander(model, 5, 1) for model in models)]
    paths = [tmp_path / f"{number}.itf.json" for number in range(len(traces))]
    for path, trace in zip(paths, traces, strict=True):
        path.write_text(write(trace), encoding="utf-8")
    done = subprocess.run(
        [shutil.which("node") or "node", HOME / "read.js", *paths],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == ["read"] * len(traces), done.stderr
