"""A long trace of nine replicas is written, read, replayed, and compared in time that grows with it."""

from __future__ import annotations

import json
from dataclasses import replace

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
from tests.cpu_time import cpu_seconds

REPLICAS = tuple(f"r{number}" for number in range(1, 10))


def long_run(length: int) -> Trace:
    """One replica after the other crashes and comes back."""
    model = toy()
    wide = replace(scope(model), sorts={"Replica": REPLICAS})
    machine = Machine(model, wide)
    states, steps = [machine.initial()[0]], []
    for number in range(length):
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


def test_ten_times_as_many_steps_take_ten_times_as_long() -> None:
    assert seconds(4_000) < 40 * seconds(400)


def seconds(steps: int) -> float:
    """What it costs to do with so long a trace all that is done with one."""
    run = long_run(steps)

    def work() -> None:
        written = write(run)
        foreign = of_another_tool(written)

        assert certify(document(written).trace(run.model)).trace == run
        assert document(foreign).replayed(run.model, run.scope).trace == run
        assert text(run).count("\n") > 2 * steps
        told = plain(side_by_side(compare(run, run), ("a", "b"), 100))
        assert f"Both take the same {steps:,} steps" in told
        with pytest.raises(SpecError, match=rf"states\[{steps}\]: step {steps} is not a step of the model"):
            document(foreign.removesuffix('"0"}}]}') + '"1"}}]}').trace(run.model, run.scope)

    return cpu_seconds(work, times=1)
