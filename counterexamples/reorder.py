"""The same run with its faults as late as possible: what goes wrong goes wrong when it matters."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.trace import Trace
from spec.ir import Kind
from spec.semantics import Machine, State, Step, Taken


def late_faults(trace: Trace) -> Trace:
    """The trace with each fault moved behind the steps that do not depend on it.

    Two neighbours change places when they lead to the same state in either
    order, so the run ends as it did.  Costs, at most, the steps of a state for each pair of steps.
    """
    machine = Machine(trace.model, trace.scope)
    faults = {action.name for action in trace.model.actions if action.kind is Kind.FAULT}
    states, steps = list(trace.states), list(trace.steps)
    moved = True
    while moved:
        moved = False
        for at in range(len(steps) - 1):
            first, second = steps[at : at + 2]
            if first.action not in faults or second.action in faults:
                continue
            between = _after(machine, states[at], second)
            if between is not None and _after(machine, between, first) == states[at + 2]:
                steps[at], steps[at + 1], states[at + 1] = second, first, between
                moved = True
    return replace(trace, states=tuple(states), steps=tuple(steps))


def _after(machine: Machine, state: State, step: Step) -> State | None:
    """The state that a step leads to; None when it cannot be taken."""
    taken = (
        found
        for found in machine.steps(state, actions=(step.action,), args=step.args)
        if isinstance(found, Taken)
    )
    return next((found.state for found in taken if found.step == step), None)
