"""A trace of 10,000 steps and 9 replicas: written, read, replayed, found out, compared without a wait."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from time import process_time

import pytest

from counterexamples.certify import certify
from counterexamples.compare import compare
from counterexamples.itf.read import document
from counterexamples.itf.write import write
from counterexamples.lines import plain
from counterexamples.side_by_side import side_by_side
from counterexamples.text import text
from counterexamples.trace import Stops, Trace
from spec.diagnostics import SpecError
from spec.meaning.semantics import Machine, Taken
from tests.counterexamples.runs import scope, toy

REPLICAS = tuple(f"r{number}" for number in range(1, 10))
STEPS = 10_000
LONG = 60  # seconds of a processor for all of it, which takes some ten


@cache
def long_run() -> Trace:
    """One replica after the other crashes and comes back."""
    model = toy()
    wide = replace(scope(model), sorts={"Replica": REPLICAS})
    machine = Machine(model, wide)
    states, steps = [machine.initial()[0]], []
    for number in range(STEPS):
        action, who = "restart" if number % 2 else "crash", number // 2 % len(REPLICAS)
        (taken,) = machine.steps(states[-1], actions=(action,), args=(who,))
        assert isinstance(taken, Taken)
        states.append(taken.state)
        steps.append(taken.step)
    return Trace(model, wide, tuple(states), tuple(steps), Stops())


def of_another_tool(text: str) -> str:
    whole = json.loads(text)
    del whole["#meta"]
    for state in whole["states"]:
        del state["#meta"]
    return json.dumps(whole)


def test_a_long_trace_is_no_wait() -> None:
    run = long_run()
    begun = process_time()
    written = write(run)
    foreign = of_another_tool(written)

    assert certify(document(written).trace(run.model)).trace == run
    assert document(foreign).replayed(run.model, run.scope).trace == run
    assert text(run).count("\n") > 2 * STEPS
    assert "Both take the same 10,000 steps" in plain(side_by_side(compare(run, run), ("a", "b"), 100))
    with pytest.raises(SpecError, match=r"states\[10000\]: step 10000 is not a step of the model"):
        document(foreign.removesuffix('"0"}}]}') + '"1"}}]}').trace(run.model, run.scope)
    assert process_time() - begun < LONG
