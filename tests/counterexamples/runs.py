"""Runs of the toy model, named by their steps, and of random ones, for tests of all that takes a trace."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

from counterexamples.trace import BadState, Ending, Erred, Stops, Trace
from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Model, Scope
from spec.model.values import ModelError

TOY = Path(__file__).parent / "toy.rsm"
MOST = 300  # successors: a random run ends before a state that has more, which take seconds to enumerate

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


def wander(model: Model, length: int, seed: int) -> Trace:
    """A random run of a model in the scope of its first check, up to where it ends or makes an error."""
    machine = Machine(model, scope(model))
    dice = Random(seed)  # noqa: S311 - no secret
    states: list[State] = [dice.choice(machine.initial())]
    steps: list[Step] = []
    while len(steps) < length:
        try:
            found = [taken for taken in machine.steps(states[-1]) if isinstance(taken, Taken)]
        except ModelError as error:
            ending = Erred(error.code, error.message, error.span, error.step)
            return Trace(model, scope(model), tuple(states), tuple(steps), ending)
        if not found:
            break
        taken = dice.choice(found)
        states.append(taken.state)
        steps.append(taken.step)
    return Trace(model, scope(model), tuple(states), tuple(steps), Stops())


def any_run(text: str, steps: int, which: int) -> Trace | None:
    """A run of a random text, that takes the same of the successors each time; None where it cannot start."""
    try:
        (model,) = loads(text)
    except SpecError:  # once in a thousand texts, a type is none that fits
        return None
    scope = model.checks[0].scope
    machine = Machine(model, scope)
    try:
        states, taken = [machine.initial()[0]], []
        for _ in range(steps):
            found = [each for each in islice(machine.steps(states[-1]), MOST + 1) if isinstance(each, Taken)]
            if not 0 < len(found) <= MOST:
                break
            states.append(found[which].state)
            taken.append(found[which].step)
    except (ModelError, IndexError):
        return None
    return Trace(model, scope, tuple(states), tuple(taken), Stops())
