"""Which states are reachable from a state without another fault: the graph of actions and repairs.

NOTE(futures): the futures of a state are the runs of actions and repairs from it;
no fault is taken, and no step that leaves the scope.  A future ends where the
violation is there, or an error of the model.  Where what is wrong is that something
wanted does not come, it also ends where that is there.  A state is

    safe       when no future of it ends in the violation or an error; where something
               is wanted, when that is there;
    open       when some future of it reaches a safe state;
    settled    when none does.

To stay where one is for ever is no way out of a state that is not safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import pairwise

from counterexamples.trace import BadAssert, BadStep, Erred, Lasso, Trace, Trapped
from modelcheck.diagnosis.rerun import ReplayStage
from spec.meaning.semantics import CutOff, State, Step, Taken
from spec.model.ir import PropertyKind
from spec.model.values import ModelError

FIRST_LOOK = 2_000  # states looked at before it is asked whether they suffice


class FutureKind(Enum):
    """What the futures of a state allow: see NOTE(futures)."""

    OPEN = "open"
    SETTLED = "settled"
    UNKNOWN = "unknown"


class Futures:
    """Explores the futures of a trace's states on demand, each state once.

    `may_look` decides before each state whether to continue.  Costs one
    enumeration of the steps of each state.
    """

    def __init__(self, trace: Trace, may_look: Callable[[int], bool]) -> None:
        self._stage = ReplayStage(trace)
        self._trace = trace
        self._may_look = may_look
        self._free = frozenset(trace.model.free)
        self._by_step = isinstance(trace.ending, BadStep | BadAssert | Erred)
        self.is_lack = isinstance(trace.ending, Trapped | Lasso)
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        self._targets: list[tuple[int, ...] | None] = []  # None: not examined
        self._looked = 0
        self._bad: set[int] = set()  # is wrong itself, or has a step that is
        self._wanted: set[int] = set()
        self._cut: dict[int, set[str]] = {}

    @property
    def size(self) -> int:
        """The number of states visited."""
        return self._looked

    def view(self, state: State) -> FutureKind:
        """What the futures of a state allow; unknown only if the limit was reached."""
        while True:
            reach = _Reach(self, self._number(state))
            if self._safe(reach):
                return FutureKind.OPEN
            if not reach.unseen:
                return FutureKind.SETTLED
            if not self._look(reach.unseen):
                return FutureKind.UNKNOWN

    def is_dangerous(self, state: State) -> bool | None:
        """Whether some future has the violation or an error; None if the limit was reached."""
        while True:
            reach = _Reach(self, self._number(state))
            if any(number in self._bad for number in reach.numbers):
                return True
            if not reach.unseen:
                return False
            if not self._look(reach.unseen):
                return None

    def way_out(self, state: State) -> Iterator[tuple[State, Step]]:
        """The shortest known path from an open state to a safe one: each step and its state before."""
        reach = _Reach(self, self._number(state))
        for source, target in pairwise(reach.way(self._safe(reach))):
            before, after = self._states[source], self._states[target]
            taken = (found for found in self._harmless(before) if found.state == after)
            yield before, next(taken).step

    def limits(self, states: Sequence[State]) -> tuple[str, ...]:
        """The limits of the scope that cut futures of these states."""
        found = {n for state in states for n in _Reach(self, self._number(state)).numbers}
        return tuple(sorted({name for number in found for name in self._cut.get(number, ())}))

    def targets(self, number: int) -> tuple[int, ...] | None:
        """The successors by harmless steps; None if the state was not expanded."""
        return self._targets[number]

    def _safe(self, reach: _Reach) -> set[int]:
        """The states known to be safe: they cannot reach anything wrong or unknown."""
        if self.is_lack:
            return self._wanted & reach.numbers.keys()
        return reach.numbers.keys() - reach.sources_of({*reach.unseen, *(self._bad & reach.numbers.keys())})

    # ------------------------------------------------------------------ looking

    def _number(self, state: State) -> int:
        """The number of a state."""
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
            self._targets.append(None)
        return number

    def _look(self, unseen: Sequence[int]) -> bool:
        """Double the number of expanded states, the last found first; returns whether any was."""
        most = self._looked + max(FIRST_LOOK, self._looked)
        before = self._looked
        stack = list(unseen)
        while stack and self._looked < most and self._may_look(self._looked):
            number = stack.pop()
            if self._targets[number] is None:
                self._looked += 1
                found = self._targets[number] = tuple(dict.fromkeys(self._expanded(number)))
                stack += [target for target in found if self._targets[target] is None]
        return self._looked > before

    def _expanded(self, number: int) -> list[int]:
        """The successors by harmless steps; none after a violation."""
        state = self._states[number]
        try:
            if self._stage.shows(None, None, state) is not None:
                self._bad.add(number)
                return []
            if self._is_wanted(state):
                self._wanted.add(number)
                return []
            return [self._number(taken.state) for taken in self._harmless(state)]
        except ModelError:
            self._bad.add(number)
            return []

    def _harmless(self, state: State) -> Iterator[Taken]:
        """The steps that are not violations themselves. Raises ModelError."""
        number = self._number(state)
        for step in self._stage.machine.steps(state, None, self._free):
            if isinstance(step, CutOff):
                self._cut.setdefault(number, set()).add(step.limit)
            elif self._by_step and self._stage.shows(state, step, step.state) is not None:
                self._bad.add(number)
            else:
                yield step

    def _is_wanted(self, state: State) -> bool:
        """Whether the goal is true in a state."""
        if not self.is_lack:
            return False
        machine, prop = self._stage.machine, self._trace.model.property(self._trace.property or "")
        return (machine.goal if prop.kind is PropertyKind.LEADSTO else machine.holds)(prop, state)


class _Reach:
    """The part of the known state graph that is reachable from one state.

    `numbers` are the states, nearest first, each with the one from which it was met
    first, which is on a shortest way to it.
    """

    def __init__(self, futures: Futures, start: int) -> None:
        self._start = start
        self.numbers: dict[int, int] = {start: start}
        self._sources: dict[int, list[int]] = {start: []}
        self.unseen: list[int] = []
        waiting = deque([start])
        while waiting:
            number = waiting.popleft()
            targets = futures.targets(number)
            if targets is None:
                self.unseen.append(number)
                continue
            for target in targets:
                self._sources.setdefault(target, []).append(number)
                if target not in self.numbers:
                    self.numbers[target] = number
                    waiting.append(target)

    def sources_of(self, targets: set[int]) -> set[int]:
        """The states that can reach one of the targets, and the targets."""
        found = set(targets)
        stack = list(targets)
        while stack:
            for source in self._sources[stack.pop()]:
                if source not in found:
                    found.add(source)
                    stack.append(source)
        return found

    def way(self, wanted: set[int]) -> list[int]:
        """A shortest path to any of the wanted states."""
        path = [next(number for number in self.numbers if number in wanted)]
        while path[-1] != self._start:
            path.append(self.numbers[path[-1]])
        return path[::-1]
