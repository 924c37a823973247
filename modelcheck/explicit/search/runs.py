"""Runs to what was found, as the semantics takes them, members called as they are in the run."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from counterexamples.trace import BadAssert, BadState, BadStep, Deadlocked, Ending, Erred, Example, Trace
from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.space import PackedSpace
from modelcheck.explicit.search.tally import Find, FindKind
from modelcheck.search.bounded_run import bounded
from modelcheck.search.forgotten import is_last
from spec.meaning.semantics import CutOff, Machine, State, Step, Taken
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import ASKED_OF_STATES
from spec.model.values import ModelError

Leg = tuple[Words, Collection[str]]  # a state that a run reaches, and by which actions it may


class Replay:
    """Turns finds into traces by the paths to their states. Costs the steps of each state on the run."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel) -> None:
        self.task = task
        self.machine = machine
        self.kernel = kernel
        self._free = frozenset(a.name for a in task.model.actions if not a.is_fault)
        self._counters = [field.name for field in kernel.layout.counters]

    def trace(self, name: str, find: Find) -> Trace:
        """The trace that decides a property."""
        states, steps = self._path(find.number)
        prop = self.task.model.property(name)
        ending: Ending = _ENDINGS.get(prop.kind, BadState())
        if find.way is FindKind.STEP:
            taken = self._breaking(prop, states[-1], by_fault=find.by_fault)
            states.append(taken.state)
            steps.append(taken.step)
        return self._trace(states, steps, ending, name)

    def to(self, number: int, ending: Ending, name: str) -> Trace:
        """The trace to a state, by number."""
        states, steps = self._path(number)
        return self._trace(states, steps, ending, name)

    def along(self, root: Words, ways: Sequence[Leg], ending: Ending, name: str) -> Trace:
        """The trace through states given by their words, from an initial state."""
        begin = next(s for s in self.machine.initial() if self.kernel.represent(s) == root)
        return self._trace(*self._walk(begin, ways), ending, name)

    def error(self, find: Find) -> Trace:
        """The trace to an error of the model."""
        states, steps = self._path(find.number)
        name: str | None = None
        match find.way:
            case FindKind.ERROR_IN_STATE:
                name, error = self._asked(states[-1])
            case FindKind.ERROR_IN_STEP:
                name, error = self._tried(states[-1], by_fault=find.by_fault)
            case _:
                name, error, taken = self._asked_after(states[-1], by_fault=find.by_fault)
                states.append(taken.state)
                steps.append(taken.step)
        return self._trace(states, steps, Erred(error.code, error.message, error.span, error.step), name)

    def _trace(self, states: list[State], steps: list[Step], ending: Ending, name: str | None) -> Trace:
        """A trace with these states and steps."""
        model, check = self.task.model, self.task.check
        return bounded(Trace(model, self.task.scope, tuple(states), tuple(steps), ending, name, check))

    # --------------------------------------------------------------------- path

    def way(self, number: int) -> tuple[int, list[tuple[Words, bool]]]:
        """The path to a state: the initial state's number, then each state with a fault flag."""
        raise NotImplementedError

    def _path(self, number: int) -> tuple[list[State], list[Step]]:
        """The states and steps of the run that found a state."""
        root, later = self.way(number)
        ways = [(words, self._allowed(by_fault=by_fault)) for words, by_fault in later]
        return self._walk(self.machine.initial()[root], ways)

    def _walk(self, begin: State, ways: Sequence[Leg]) -> tuple[list[State], list[Step]]:
        """The states and steps from a state through others."""
        spent, faults = (0,) * len(self._counters), 0
        states: list[State] = [begin]
        steps: list[Step] = []
        for words, actions in ways:
            taken, spent = self._taken(states[-1], spent, faults, words, actions)
            faults += taken.step.action in self.task.faults
            states.append(taken.state)
            steps.append(taken.step)
        return states, steps

    def _taken(
        self, state: State, spent: tuple[int, ...], faults: int, words: Words, actions: Collection[str]
    ) -> tuple[Taken, tuple[int, ...]]:
        """The first step to a state (or its orbit) with these words, and the faults counted then.

        `faults` are those before it, of any kind.
        """
        for found in self.machine.steps(state, actions=actions):
            if isinstance(found, CutOff):
                continue
            after = self._paid(spent, found.step.action)
            last = is_last(self.task, faults + (found.step.action in self.task.faults))
            if self.kernel.represent(found.state, after, last=last) == words:
                return found, after
        raise AssertionError("no step leads there")  # the kernel found one

    def _paid(self, spent: tuple[int, ...], fault: str) -> tuple[int, ...]:
        """The counters after a fault."""
        counted = fault in self.task.budget.counted
        return tuple(n + (counted and name == fault) for name, n in zip(self._counters, spent, strict=True))

    # --------------------------------------------------------------- how it ends

    def _breaking(self, prop: Property, state: State, *, by_fault: bool) -> Taken:
        """The first step that violates a property of steps."""
        for found in self.machine.steps(state, actions=self._allowed(by_fault=by_fault)):
            if isinstance(found, Taken) and self._is_broken(prop, state, found):
                return found
        raise AssertionError(f"no step breaks {prop.name}")  # the kernel found one

    def _is_broken(self, prop: Property, state: State, taken: Taken) -> bool:
        """Whether a step violates a property of steps."""
        if prop.kind is PropertyKind.ASSERT:
            return prop.name in taken.broken
        try:
            return not self.machine.step_holds(prop, state, taken.step, taken.state)
        except ModelError:  # which is reported separately; the step that was found is another one
            return False

    def _allowed(self, *, by_fault: bool) -> frozenset[str]:
        """The actions and repairs, or the faults."""
        return self.task.faults if by_fault else self._free

    def _asked(self, state: State) -> tuple[str, ModelError]:
        """The property whose evaluation in a state is an error, and the error."""
        for prop in self.task.properties:
            if prop.kind in ASKED_OF_STATES:
                try:
                    self.machine.ask(prop, state)
                except ModelError as error:
                    return prop.name, error
        raise AssertionError("no property makes an error")  # the kernel found one

    def _tried(self, state: State, *, by_fault: bool) -> tuple[str | None, ModelError]:
        """The error of a step, or of evaluating a permitted end; with the action, if it is a step."""
        name: str | None = None
        try:
            for _ in self.machine.steps(state, actions=self._allowed(by_fault=by_fault)):
                pass
            for prop in self.task.properties:
                if prop.kind is PropertyKind.DEADLOCK_FREE:
                    name = prop.name
                    self.machine.holds(prop, state)
        except ModelError as error:
            return name, error
        raise AssertionError("no step makes an error")  # the kernel found one

    def _asked_after(self, state: State, *, by_fault: bool) -> tuple[str, ModelError, Taken]:
        """The step whose `step` property is an error: the property, the error, the step."""
        for found in self.machine.steps(state, actions=self._allowed(by_fault=by_fault)):
            if isinstance(found, CutOff):
                continue
            for prop in self.task.properties:
                if prop.kind is PropertyKind.STEP:
                    try:
                        self.machine.step_holds(prop, state, found.step, found.state)
                    except ModelError as error:
                        return prop.name, error, found
        raise AssertionError("no property of steps makes an error")  # the kernel found one


class PackedRuns(Replay):
    """Traces to states whose predecessors are stored. Costs the successors of each state on the path."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel, space: PackedSpace) -> None:
        super().__init__(task, machine, kernel)
        self.space = space

    def way(self, number: int) -> tuple[int, list[tuple[Words, bool]]]:
        """The path to a state."""
        (_, root), *later = self.space.ancestry(number)
        words = self.kernel.represent(self.machine.initial()[root])
        found, faults = [], 0
        for _, ordinal in later:
            words, by_fault = self.kernel.successors(words, faults)[ordinal]
            faults += by_fault
            found.append((words, by_fault))
        return root, found


_ENDINGS: dict[PropertyKind, Ending] = {
    PropertyKind.REACHABLE: Example(),
    PropertyKind.STEP: BadStep(),
    PropertyKind.ASSERT: BadAssert(),
    PropertyKind.DEADLOCK_FREE: Deadlocked(),
}
