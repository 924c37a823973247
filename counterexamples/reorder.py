"""The same run with its steps in another order: neighbours change places where nothing else changes by it."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.trace import BadAssert, BadStep, Lasso, Trace
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.values import ModelError


class Neighbours:
    """Finds which adjacent steps of a run commute, and remembers the results."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[tuple[State, Step], State | None] = {}

    def exchanged(self, start: State, first: Step, second: Step, end: State) -> State | None:
        """The state between two steps in the other order; None if they do not commute.

        Costs the steps of two actions.
        """
        between = self._after(start, second)
        return between if between is not None and self._after(between, first) == end else None

    def _after(self, state: State, step: Step) -> State | None:
        """The state that a step leads to; None if it is not possible."""
        if (state, step) not in self._known:
            self._known[state, step] = self._taken(state, step)
        return self._known[state, step]

    def _taken(self, state: State, step: Step) -> State | None:
        """The state that a step leads to, computed anew."""
        try:
            for found in self._machine.steps(state, actions=(step.action,), args=step.args):
                if isinstance(found, Taken) and found.step == step:
                    return found.state
        except ModelError:  # so it is none that could be taken
            pass
        return None


def late_faults(trace: Trace) -> Trace:
    """The trace with each fault after the steps that do not depend on it: see `late_steps`."""
    return late_steps(trace, frozenset(trace.model.faults))


def late_steps(trace: Trace, late: frozenset[str]) -> Trace:
    """The trace with each step of these actions after the other steps that do not depend on it.

    Two neighbours change places when they lead to the same state in either
    order, so the run ends as it did.  What repeats for ever stays as it is, and the last step
    where it is what is wrong.  Costs, at most, the steps of a state for each pair of steps.
    """
    neighbours = Neighbours(Machine(trace.model, trace.scope))
    states, steps, free = list(trace.states), list(trace.steps), _movable(trace)
    moved = True
    while moved:
        moved = False
        for at in range(free - 1):
            first, second = steps[at : at + 2]
            if first.action not in late or second.action in late:
                continue
            between = neighbours.exchanged(states[at], first, second, states[at + 2])
            if between is not None:
                steps[at], steps[at + 1], states[at + 1] = second, first, between
                moved = True
    return replace(trace, states=tuple(states), steps=tuple(steps))


def _movable(trace: Trace) -> int:
    """The number of steps, from the start, that can be reordered without changing the violation."""
    match trace.ending:
        case Lasso(loop):
            return loop
        case BadStep() | BadAssert():
            return len(trace.steps) - 1
        case _:
            return len(trace.steps)
