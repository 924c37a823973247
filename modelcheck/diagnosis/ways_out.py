"""What the states of a trap have in common, and what would lead out of it.

NOTE(ways-out): the *trap* of a run is what actions and repairs lead to from its end; nothing of it
has what the property wants.  Out of it leads whatever, added alone, makes a state that has it
reachable from the end:

- the *reversal* of a fault of the run: all that its step changed is at the end as it was before;
- a *repair* or action that another model of the file has, over the same state, and this one has not;
- an action or repair without one of its *guards*.

Each is tried by a search of its own, so a reported one does lead out.  What it breaks is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import spec.model.ir as ir
from counterexamples.diff import places
from counterexamples.explanation import RunTrap
from counterexamples.lines import one_line
from counterexamples.trace import Trace, Trapped
from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.values import ModelError, show

MOST_STATES = 2_000  # of the trap, and in each search for a way out
MOST_SHARED = 8  # values that are shown


def trap_of(trace: Trace, may_look: Callable[[int], bool] = lambda _: True) -> RunTrap | None:
    """The trap at the end of a certified run; None if there is none.

    Costs a search from the end for each guard, for each fault of the run and for each action of other
    models; `may_look` is asked, with how many states were looked at, before each.
    """
    if not isinstance(trace.ending, Trapped) or trace.property is None:
        return None
    return _Trap(trace, trace.model.property(trace.property), may_look).found()


class _Trap:
    """Examines the trap at the end of one run."""

    def __init__(self, trace: Trace, prop: ir.Property, may_look: Callable[[int], bool]) -> None:
        self._trace, self._prop, self._may_look = trace, prop, may_look
        self._machine = Machine(trace.model, trace.scope)
        self._looked = 0
        self._is_whole = True

    def found(self) -> RunTrap:
        """The states in the trap, and the changes that lead out."""
        states = tuple(self._states(self._machine, self._trace.states[-1]))
        is_whole = self._is_whole
        ways = tuple(self._ways_out())
        return RunTrap(len(states), is_whole, tuple(self._shared(states))[:MOST_SHARED], ways, self._is_whole)

    # ------------------------------------------------------------- what they share

    def _shared(self, states: tuple[State, ...]) -> Iterator[str]:
        """The parts of the state equal in the whole trap and different from the start, in words."""
        model, scope = self._machine.model, self._machine.scope
        start = {place.path: place.value for place in places(model, scope, self._trace.states[0])}
        seen = [{place.path: place.value for place in places(model, scope, state)} for state in states]
        for place in places(model, scope, states[0]):
            value = place.value
            is_news = not place.variable.ghost and value != start[place.path]
            if is_news and all(each[place.path] == value for each in seen):
                yield f"{place.path} = {show(place.type, value, scope)}"

    # ------------------------------------------------------------- what leads out

    def _ways_out(self) -> Iterator[str]:
        """The single changes that lead out of the trap, in words."""
        model, end = self._machine.model, self._trace.states[-1]
        for number, step in enumerate(self._trace.steps):
            if model.action(step.action).is_fault:
                back = self._undone(number)
                if back is not None and self._leads_out(self._machine, back):
                    yield f"undoing step {number + 1}, {self._machine.name(step)}"
        for other in self._others():
            more = replace(model, actions=(*model.actions, other))
            if self._leads_out(Machine(more, self._trace.scope), end):
                yield f"the {other.kind.value} {other.name}, which {model.name} has not"
        for action in model.actions:
            for place, part in enumerate(action.head):
                if not action.is_fault and isinstance(part, ir.Guard):
                    head = (*action.head[:place], *action.head[place + 1 :])
                    freed = replace(action, head=head)
                    actions = tuple(freed if each is action else each for each in model.actions)
                    if self._leads_out(Machine(replace(model, actions=actions), self._trace.scope), end):
                        yield f"{action.name} without its guard `{self._guard(part)}`"

    def _guard(self, guard: ir.Guard) -> str:
        """A guard's name, else its text."""
        span = guard.test.span
        return guard.name or one_line(self._trace.model.source.text[span.start : span.end])

    def _undone(self, number: int) -> State | None:
        """The last state with the changes of a step undone; None if that is the same state."""
        model, scope = self._machine.model, self._machine.scope
        before, after = self._trace.states[number : number + 2]
        end = list(self._trace.states[-1])
        for at, variable in enumerate(model.variables):
            if before[at] == after[at] or variable.ghost:
                continue
            if variable.owner is None:
                end[at] = before[at]
                continue
            members = range(len(scope.sorts[variable.owner]))
            end[at] = tuple(before[at][m] if before[at][m] != after[at][m] else end[at][m] for m in members)
        return None if tuple(end) == self._trace.states[-1] else tuple(end)

    def _others(self) -> Iterator[ir.Action]:
        """The actions of the file's other models over the same state that this model lacks."""
        model = self._machine.model
        try:
            models = loads(model.source.text, model.source.name)
        except SpecError:
            return
        own = {action.name for action in model.actions}
        shape = [(variable.name, variable.type) for variable in model.variables]
        for other in models:
            if [(variable.name, variable.type) for variable in other.variables] != shape:
                continue
            if other.configs != model.configs or other.source.text != model.source.text:
                continue
            for action in other.actions:
                if action.name not in own and not action.is_fault:
                    own.add(action.name)
                    yield action

    def _leads_out(self, machine: Machine, start: State) -> bool:
        """Whether actions and repairs lead from a state to the goal."""
        return any(self._has(machine, state) for state in self._states(machine, start))

    def _has(self, machine: Machine, state: State) -> bool:
        """Whether the goal is true in a state."""
        try:
            return machine.holds(self._prop, state)
        except ModelError:
            return False

    def _states(self, machine: Machine, start: State) -> Iterator[State]:
        """The states reachable by actions and repairs, up to the limit."""
        free = set(machine.model.free)
        seen, queue = {start}, [start]
        for state in queue:
            yield state
            self._looked += 1
            if len(seen) > MOST_STATES or not self._may_look(self._looked):
                self._is_whole = False
                return
            try:
                for step in machine.steps(state, actions=free):
                    if not isinstance(step, CutOff) and step.state not in seen:
                        seen.add(step.state)
                        queue.append(step.state)
            except ModelError:
                continue
