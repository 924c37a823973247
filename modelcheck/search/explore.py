"""The states of a check as a graph: all of them, or those a few steps away from a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from counterexamples.graphs.state_graph import Edge, StateGraph
from counterexamples.trace import Trace
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Reporter, Silent
from modelcheck.contract.result import End
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.space import NONE, FaultBudget, Space
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Property, PropertyKind
from spec.model.values import ModelError

TOO_EARLY = {End.INTERRUPTED: KeyboardInterrupt, End.MEMORY: MemoryError}
OF_A_STATE = {PropertyKind.INVARIANT, PropertyKind.LEMMA, PropertyKind.DEADLOCK_FREE}


class TooManyStates(Exception):  # noqa: N818 - an answer to the user, not a bug
    """More states are reachable than the limit."""


class BeyondBudget(Exception):  # noqa: N818 - an answer to the user, not a bug
    """A run has more faults than the budget allows; `step` is the first of them, counted from 1."""

    def __init__(self, step: int) -> None:
        self.step = step
        super().__init__(f"step {step} is a fault more than the budget allows")


def whole(
    task: Task, most: int, trace: Trace | None = None, *, reporter: Reporter | None = None
) -> StateGraph:
    """The state graph of a check: all states and steps; `trace` is a run to mark in it.

    There are as many states and steps as the engines count.  Costs two looks at
    the steps of each state.  Raises TooManyStates, ModelError where the model
    cannot start, BeyondBudget where the run is none of the check's, and what ends the
    search too early: KeyboardInterrupt or MemoryError.
    """
    machine = Machine(task.model, task.scope)
    limited = Task(task.model, task.scope, task.budget, (), Limits(states=most + 1))
    search = InterpretedSearch(limited, machine, reporter or Silent(), keep_edges=False)
    end = search.run()
    if len(search.space) > most:
        raise TooManyStates
    if end in TOO_EARLY:
        raise TOO_EARLY[end]
    faults = [search.space.level(number).faults for number in range(len(search.space))]
    return _Explored(machine, search.budget, search.space, faults, task.properties).graph(trace)


def around(task: Task, trace: Trace, distance: int, most: int) -> StateGraph:
    """The states of a run, those up to `distance` steps away from one of them, and the steps between.

    Steps to anywhere else are counted, not followed, so this works however many
    states there are.  Raises TooManyStates and BeyondBudget.
    """
    machine, budget = Machine(task.model, task.scope), FaultBudget(task.model, task.budget)
    explored = _Explored(machine, budget, Space(machine, budget), [], task.properties)
    frontier = [explored.number(key, faults) for key, faults in explored.run_of(trace)]
    for _ in range(distance):
        found = []
        for number in dict.fromkeys(frontier):
            for taken, key in explored.steps(number):
                if key not in explored.space.index:
                    is_fault = taken.step.action in explored.kinds_of_fault
                    found.append(explored.number(key, explored.faults[number] + is_fault))
            if len(explored.space) > most:
                raise TooManyStates
        frontier = found
    return explored.graph(trace)


class _Explored:
    """Numbers states, each with the fewest faults known to lead to it."""

    def __init__(
        self,
        machine: Machine,
        budget: FaultBudget,
        space: Space,
        faults: list[int],
        properties: tuple[Property, ...],
    ) -> None:
        self.machine = machine
        self.budget = budget
        self.space = space
        self.faults = faults
        actions = machine.model.actions
        self.kinds_of_fault = frozenset(a.name for a in actions if a.is_fault)
        self._free = frozenset(a.name for a in actions) - self.kinds_of_fault
        self._of_a_state = [p for p in properties if p.kind in OF_A_STATE]
        self._of_a_step = [p for p in properties if p.kind is PropertyKind.STEP]
        self._asserted = {p.name for p in properties if p.kind is PropertyKind.ASSERT}

    def number(self, key: bytes, faults: int) -> int:
        """The number of a state; a new state gets the next one."""
        found = self.space.index.get(key, NONE)
        if found == NONE:
            self.faults.append(faults)
            return self.space.add(key, NONE)
        return found

    def run_of(self, trace: Trace) -> Iterator[tuple[bytes, int]]:
        """The key of each state of a run, and the faults before it. Raises BeyondBudget."""
        spent, faults = self.budget.empty, 0
        yield self.space.key(spent, trace.states[0]), faults
        for at, (step, state) in enumerate(zip(trace.steps, trace.states[1:], strict=True), 1):
            if step.action in self.kinds_of_fault:
                if step.action not in self._affordable(spent, faults):
                    raise BeyondBudget(at)
                spent, faults = self.budget.pay(spent, step.action), faults + 1
            yield self.space.key(spent, state), faults

    def _affordable(self, spent: bytes, faults: int) -> frozenset[str]:
        """The faults that the budget still allows after `faults` of them."""
        return frozenset() if faults == self.budget.total else self.budget.affordable(spent)

    def steps(self, number: int, errors: list[str] | None = None) -> Iterator[tuple[Taken, bytes]]:
        """The steps from a state within the scope and the budget, each with the key of the next state.

        They end where the model makes an error, which is put to `errors`.
        """
        spent, state = self.space.node(number)
        allowed = self._free | self._affordable(spent, self.faults[number])
        try:
            for taken in self.machine.steps(state, None, allowed):
                if isinstance(taken, Taken):
                    is_fault = taken.step.action in self.kinds_of_fault
                    paid = self.budget.pay(spent, taken.step.action) if is_fault else spent
                    yield taken, self.space.key(paid, taken.state)
        except ModelError as error:
            if errors is not None:
                errors.append(f"error: {error.message}")

    # ------------------------------------------------------------------ the graph

    def graph(self, trace: Trace | None) -> StateGraph:
        """The graph of all numbered states and the steps between them, with the run marked."""
        edges: list[Edge] = []
        wrong: dict[int, tuple[str, ...]] = {}
        beyond: dict[int, int] = {}
        states = [self.space.node(number)[1] for number in range(len(self.space))]
        for number, state in enumerate(states):
            said = [*self._false(state)]
            for taken, key in self.steps(number, said):
                end = self.space.index.get(key, NONE)
                if end == NONE:
                    beyond[number] = beyond.get(number, 0) + 1
                else:
                    edges.append(Edge(number, end, taken.step, self._broken(state, taken)))
            if said:
                wrong[number] = tuple(said)
        start = {self.space.key(self.budget.empty, state) for state in self.machine.initial()}
        initial = frozenset(number for key, number in self.space.index.items() if key in start)
        path, steps = self._path(edges, trace)
        return StateGraph(
            self.machine.model,
            self.machine.scope,
            tuple(states),
            tuple(edges),
            initial,
            wrong,
            beyond,
            path,
            steps,
        )

    def _path(self, edges: list[Edge], trace: Trace | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of the states and edges on a run."""
        if trace is None:
            return (), ()
        path = tuple(self.space.index[key] for key, _ in self.run_of(trace))
        numbers = {(edge.start, edge.end, edge.step): number for number, edge in enumerate(edges)}
        ends = zip(pairwise(path), trace.steps, strict=True)
        return path, tuple(numbers[start, end, step] for (start, end), step in ends)

    def _broken(self, before: State, taken: Taken) -> tuple[str, ...]:
        """The names of the properties of steps that a step violates."""
        false = [prop.name for prop in self._of_a_step if not self._holds_of(prop, before, taken)]
        return (*false, *(name for name in taken.broken if name in self._asserted))

    def _holds_of(self, prop: Property, before: State, taken: Taken) -> bool:
        """Whether a step satisfies a property of steps; an error counts as false."""
        try:
            return self.machine.step_holds(prop, before, taken.step, taken.state)
        except ModelError:
            return False

    def _false(self, state: State) -> Iterator[str]:
        """The names of the properties of states that are false in a state, or whose evaluation fails."""
        for prop in self._of_a_state:
            try:
                if not self.machine.holds(prop, state):
                    yield f"{prop.name} is false"
            except ModelError as error:
                yield f"{prop.name}: {error.message}"
