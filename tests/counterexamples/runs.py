"""Runs of the toy model, named by their steps, for the tests of everything that takes a trace."""

from __future__ import annotations

from pathlib import Path

from counterexamples.trace import BadState, Ending, Trace
from spec.ir import Model, Scope
from spec.load import loads
from spec.semantics import Machine, Taken

TOY = Path(__file__).parent / "toy.rsm"

DIVERGENCE = (
    "elect(a)",
    "write(a)",
    "ask(b)",
    "crash(a)",
    "elect(b)",
    "net.drop(Fetch(from = b, at = 0))",
    "restart(a)",
)  # in the end the new leader b does not have a's record


def toy() -> Model:
    return loads(TOY.read_text(encoding="utf-8"), TOY.name)[0]


def scope(model: Model) -> Scope:
    return model.checks[0].scope


def walk(
    *names: str, ending: Ending | None = None, prop: str | None = "alone", model: Model | None = None
) -> Trace:
    """The run that takes the steps of these names from the initial state."""
    model = model or toy()
    machine = Machine(model, scope(model))
    states, steps = [machine.initial()[0]], []
    for name in names:
        found = {machine.name(t.step): t for t in machine.steps(states[-1]) if isinstance(t, Taken)}
        assert name in found, f"{name} is none of {sorted(found)}"
        states.append(found[name].state)
        steps.append(found[name].step)
    return Trace(model, scope(model), tuple(states), tuple(steps), ending or BadState(), prop, "two")


def divergence() -> Trace:
    return walk(*DIVERGENCE)
