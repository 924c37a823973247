"""Which properties are broken where: the shortest run found so far for each, by faults and then by steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from counterexamples.trace import BadAssert, BadState, BadStep, Deadlocked, Ending, Erred, Example
from modelcheck.contract.engine import Witness
from modelcheck.search.finds import Finds
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import ASKED_OF_STATES, OF_RUNS
from spec.model.values import ModelError


@frozen
class Place:
    """The end of a run: a state by its number, and optionally one more step from there."""

    faults: int
    depth: int
    number: int
    step: Step | None = None
    state: State | None = None


@frozen
class Discovery:
    """A run that decides a property, or that ends in an error of the model."""

    place: Place
    ending: Ending
    name: str | None

    @property
    def cost(self) -> tuple[int, int]:
        """The cost that runs are compared by: faults, then steps."""
        return self.place.faults, self.place.depth


class PropertyMonitor(Finds[Discovery]):
    """Evaluates the properties of a task during a search, and keeps the best run that decides each."""

    def __init__(
        self,
        machine: Machine,
        properties: Sequence[Property],
        tell: Callable[[Discovery], None],
        witnesses: Sequence[Witness] = (),
    ) -> None:
        super().__init__(properties, lambda _, found: tell(found))
        self.deadlock = [p for p in properties if p.kind is PropertyKind.DEADLOCK_FREE]
        self._machine = machine
        self._of_states = [p for p in properties if p.kind in ASKED_OF_STATES]
        self._of_steps = [p for p in properties if p.kind is PropertyKind.STEP]
        self.seen: set[str] = set()  # the conditions of which a state is a witness
        self._unseen = {each.condition.name: machine.condition(each.condition) for each in witnesses}

    def see_state(self, state: State, place: Place) -> None:
        """Evaluate the properties of states in a new state, and those of runs for errors."""
        for prop in self._of_states:
            try:
                if prop.kind in OF_RUNS:
                    self._machine.ask(prop, state)
                    continue
                holds = self._machine.holds(prop, state)
            except ModelError as error:
                self.erred(error, place, prop.name)
                continue
            if prop.kind is PropertyKind.REACHABLE and holds:
                self._found(Discovery(place, Example(), prop.name))
            elif prop.kind is not PropertyKind.REACHABLE and not holds:
                self._found(Discovery(place, BadState(), prop.name))
        for name in [name for name, condition in self._unseen.items() if _is_true(condition, state)]:
            self.seen.add(name)
            del self._unseen[name]

    def see_step(self, before: State, taken: Taken, place: Place) -> None:
        """Evaluate the properties of steps on a step; `place` is the state after it."""
        for name in taken.broken:
            if name in self.names:
                self._found(Discovery(place, BadAssert(), name))
        for prop in self._of_steps:
            try:
                if not self._machine.step_holds(prop, before, taken.step, taken.state):
                    self._found(Discovery(place, BadStep(), prop.name))
            except ModelError as error:
                self.erred(error, place, prop.name)

    def see_end(self, state: State, place: Place) -> None:
        """Evaluate deadlock freedom in a state without steps."""
        for prop in self.deadlock:
            try:
                if not self._machine.may_end(prop, state):
                    self._found(Discovery(place, Deadlocked(), prop.name))
            except ModelError as error:
                self.erred(error, place, prop.name)

    def erred(self, error: ModelError, place: Place, name: str | None = None) -> None:
        """Record an error of the model at `place`, in a step or in the evaluation of property `name`."""
        found = Discovery(place, Erred(error.code, error.message, error.span, error.step), name)
        if self.error is None or found.cost < self.error.cost:
            self.error = found

    def _found(self, discovery: Discovery) -> None:
        """Record a run, if it is better than the one known for the property."""
        self.better(discovery.name or "", discovery)


def _is_true(condition: Callable[[State], bool], state: State) -> bool:
    """Whether the condition is true in a state; an error counts as false, as its property reports it."""
    try:
        return condition(state)
    except ModelError:
        return False
