"""From which states no way leads to where a property is true: as much of it as is asked."""

from __future__ import annotations

from collections.abc import Callable

from spec.meaning.semantics import CutOff, Machine, State
from spec.model.ir import Property
from spec.model.values import ModelError

PATIENCE = 20_000  # states looked at before a state is not called trapped


class Traps:
    """Decides which states are trapped: actions and repairs never lead to where the property is true.

    A state is not called trapped where a way leaves the scope, an error of the model
    is met, or more than PATIENCE states would have to be looked at.
    """

    def __init__(self, machine: Machine, prop: Property, look: Callable[[], None]) -> None:
        self._machine = machine
        self._prop = prop
        self._look = look
        self._mending = set(machine.model.free)
        self._trapped: set[State] = set()
        self._others: set[State] = set()

    def trust(self, state: State) -> None:
        """Assume that a state is trapped."""
        self._trapped.add(state)

    def has(self, state: State) -> bool:
        """Whether a state is trapped. Costs the states reachable from it, each once."""
        came: dict[State, State | None] = {state: None}
        for here in (queue := [state]):
            if here in self._trapped:
                continue
            after = self._after(here) if len(came) <= PATIENCE else None
            if after is None:
                self._others.update(_back(came, here))
                return False
            for each in after:
                if each not in came:
                    came[each] = here
                    queue.append(each)
        self._trapped.update(came)
        return True

    def _after(self, state: State) -> list[State] | None:
        """The successors by actions and repairs; None if the state cannot be in a trap."""
        self._look()
        try:
            if state in self._others or self._machine.holds(self._prop, state):
                return None
            found = list(self._machine.steps(state, actions=self._mending))
        except ModelError:
            return None
        if any(isinstance(step, CutOff) for step in found):
            return None
        return [step.state for step in found if not isinstance(step, CutOff)]


def _back(came: dict[State, State | None], state: State) -> list[State]:
    """A state and its predecessors, back to the start."""
    found = []
    at: State | None = state
    while at is not None:
        found.append(at)
        at = came[at]
    return found
