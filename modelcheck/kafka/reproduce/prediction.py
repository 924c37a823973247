"""Where the model may be: the states that explain what was seen of a cluster so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from modelcheck.kafka.reproduce.observed_state import Ending, SeenPartition, View
from modelcheck.kafka.reproduce.plan import BY_ITSELF, Phase
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Model, Scope

MOST = 20_000  # states that a cluster may reach on its own
Held = frozenset[tuple[int, int]]


class Predicted:
    """The set of model states consistent with the actions and observations so far."""

    def __init__(self, model: Model, scope: Scope, start: State) -> None:
        self.view = View(model, scope)
        self._machine = Machine(model, scope)
        self._now: tuple[State, ...] = (start,)
        self._may: dict[State, bool] = {}
        self._held: Held = frozenset()
        self._seen: dict[SeenPartition, list[State]] = {}
        self.wait(frozenset())

    @property
    def is_known(self) -> bool:
        """Whether some model state is consistent with all observations."""
        return bool(self._now)

    @property
    def sent(self) -> int:
        """The number of records that the producer has sent."""
        found = self.view.of(self._now[0], "sent") if self._now else 0
        assert isinstance(found, int)
        return found

    def refuses(self, step: Step) -> str:
        """The guard that refuses a step in all states, in words; empty if some state allows it."""
        if any(self._taken(state, step) for state in self._now):
            return ""
        guard = self._machine.why_not(step.action, step.args, self._now[0]) if self._now else None
        return "" if guard is None else (guard.name or "its guard")

    def do(self, step: Step, *, chosen: bool = False) -> None:
        """Apply a forced step, with any outcome, or, if `chosen`, with its own if possible."""
        taken = [found for state in self._now for found in self._taken(state, step)]
        own = [found for found in taken if chosen and found.step.choices == step.choices]
        self._now = tuple(dict.fromkeys(found.state for found in own or taken))

    def wait(self, held: Held) -> None:
        """Add the states reachable by the cluster's own steps, while requests in `held` are delayed."""
        self._may = dict.fromkeys(self._now, False)
        self._held = held
        todo = list(self._now)
        before: dict[State, list[State]] = {}  # by steps that do not show
        while todo and len(self._may) < MOST:
            state = todo.pop()
            for after in self._own_successors(state, held):
                if self.view.seen(after) != self.view.seen(state):
                    self._may[state] = True
                else:
                    before.setdefault(after, []).append(state)
                if after not in self._may:
                    self._may[after] = False
                    todo.append(after)
        todo = [state for state, shows in self._may.items() if shows]
        while todo:
            for state in before.get(todo.pop(), ()):
                if not self._may[state]:
                    self._may[state] = True
                    todo.append(state)
        self._seen = {}
        for state in self._may:
            self._seen.setdefault(self.view.seen(state), []).append(state)

    def allows(self, seen: SeenPartition) -> bool:
        """Whether some consistent state looks like this."""
        return seen in self._seen

    def is_settled(self, seen: SeenPartition) -> bool:
        """Whether the model may remain so: no further own step need be visible."""
        return any(not self._may[state] for state in self._seen.get(seen, ()))

    def high_watermarks(self, seen: SeenPartition) -> tuple[int | None, ...]:
        """Each broker's high watermark if it is determined by what is seen, else None."""
        marks = {
            self.view.high_watermarks(state)
            for state in self._seen.get(seen, ())
            if not self._may[state] and not any(self._raised(state))
        }
        return tuple(each[0] if len({*each}) == 1 else None for each in zip(*marks, strict=True))

    def _raised(self, state: State) -> Iterator[bool]:
        """For each own step from a state, whether it changes a high watermark."""
        before = self.view.high_watermarks(state)
        return (
            self.view.high_watermarks(after) != before for after in self._own_successors(state, self._held)
        )

    @property
    def endings(self) -> frozenset[Ending]:
        """The possible fates of the records in the consistent states."""
        return frozenset(map(self.view.ending, self._now))

    def wait_until_steady(self) -> None:
        """Move to the states in which the cluster's own steps have all been taken."""
        self._now = tuple(state for state, shows in self._may.items() if not shows) or self._now

    def take(self, seen: SeenPartition) -> None:
        """Keep only the states that look like what was seen."""
        self._now = tuple(self._seen.get(seen, ()))

    def nearest(self, seen: SeenPartition) -> SeenPartition | None:
        """The state that the model allows with the fewest differences from what was seen."""
        found = sorted(self._seen, key=lambda each: len(self.view.differences(each, seen)))
        return found[0] if found else None

    def _taken(self, state: State, step: Step) -> Iterator[Taken]:
        """The transitions of a step from a state."""
        for found in self._machine.steps(state, actions={step.action}, args=step.args):
            if isinstance(found, Taken):
                yield found

    def _own_successors(self, state: State, held: Held) -> Iterable[State]:
        """The successors of a state by the cluster's own steps."""
        for found in self._machine.steps(state, actions=BY_ITSELF):
            if isinstance(found, Taken) and _pair(found.step) not in held:
                yield found.state


def _pair(step: Step) -> tuple[object, ...]:
    """The broker that asks and the one asked in a step that has two."""
    match step.action:
        case "fetch":
            return step.args[::-1]
        case "become_follower":
            return step.args
        case _:
            return ()


def predict(phases: Iterable[Phase], model: Model, scope: Scope, start: State) -> frozenset[Ending]:
    """The possible endings of a run according to the model, over all orders of own steps.

    Each phase is done as far as the model takes it, followed by all of the cluster's own steps.
    """
    predicted = Predicted(model, scope, start)
    for phase in phases:
        for step in phase.done:
            if not predicted.refuses(step):
                predicted.do(step, chosen=True)
        predicted.wait(phase.held)
        predicted.wait_until_steady()
    predicted.wait(frozenset())
    predicted.wait_until_steady()
    return predicted.endings
