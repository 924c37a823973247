"""A run that a solver found, as one of the model: its states, and the steps by which the model takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.grounding.machine import GroundMachine
from modelcheck.grounding.shapes import Shape
from modelcheck.grounding.term_values import Values, decoded
from modelcheck.search.claims import Discovery, Place, PropertyMonitor
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Property
from spec.model.values import ModelError


def state_of(stored: Sequence[Shape], values: Values) -> State:
    """The state of the model that the values of the flat variables encode."""
    return tuple(decoded(shape, values) for shape in stored)


def started(task: Task, flat: GroundMachine) -> GroundMachine:
    """The machine with those initial states that the model has. Raises ModelError if it cannot start."""
    real = set(Machine(task.model, task.scope).initial())
    starts = tuple(start for start in flat.starts if state_of(flat.stored, start) in real)
    return replace(flat, starts=starts)


def replayed(
    task: Task,
    states: Sequence[State],
    actions: Iterable[str],
    wanted: Property | None,
    last: Sequence[str] | None = None,
) -> Trace:
    """The trace through these states by these actions, to a violation of `wanted` or an error.

    What no state or step of it shows, another step of the actions `last` (of any, where
    none is given) is to show.  Every step is taken by the semantics of the model, so a
    run that is none, or that shows nothing, is an AssertionError: our mistake.
    """
    machine = Machine(task.model, task.scope)
    found: list[Discovery] = []
    claims = PropertyMonitor(machine, [] if wanted is None else [wanted], found.append)
    steps = [
        _taken(machine, states[number], action, states[number + 1], claims).step
        for number, action in enumerate(actions)
    ]
    place = Place(0, len(steps), 0)
    claims.see_state(states[-1], place)
    more: Taken | None = None
    if not found and claims.error is None:
        more = _violating_step(machine, states[-1], last, claims, place)
    discovery = found[0] if found else claims.error
    if discovery is None:
        raise AssertionError(f"the run found for {wanted.name if wanted else 'an error'} shows nothing")
    if more is not None:
        states, steps = [*states, more.state], [*steps, more.step]
    ending, broken = discovery.ending, discovery.name
    return Trace(task.model, task.scope, tuple(states), tuple(steps), ending, broken, task.check)


def _taken(machine: Machine, before: State, action: str, after: State, claims: PropertyMonitor) -> Taken:
    """The step of an action from one state to another, preferably one that violates a claim."""
    found: Taken | None = None
    try:
        for taken in machine.steps(before, actions=(action,)):
            if isinstance(taken, Taken) and taken.state == after:
                claims.see_step(before, taken, Place(0, 0, 0))
                if claims.best or claims.error is not None:
                    return taken
                found = found or taken
    except ModelError:
        if found is None:
            raise
    if found is None:
        raise AssertionError(f"no step of {action} leads to the state that the solver gave")
    return found


def _violating_step(
    machine: Machine, state: State, actions: Sequence[str] | None, claims: PropertyMonitor, place: Place
) -> Taken | None:
    """A step from a state that violates a claim, or None; an error of the model is recorded in `claims`."""
    try:
        for taken in machine.steps(state, actions=actions):
            if isinstance(taken, Taken):
                claims.see_step(state, taken, place)
                if claims.best or claims.error is not None:
                    return taken
    except ModelError as error:
        claims.erred(error, place)
    return None
