"""The states of a check in which time passes, and what their faults and repairs lead to.

NOTE(chain): faults and repairs that have a rate come after an exponential time, those that have none
do not happen.  All other steps are immediate: they continue until there is none, and time passes only
in states where there is none (*tangible* ones, as in generalized stochastic Petri nets: Ajmone
Marsan, Conte, Balbo, ACM TOCS 2(2), 1984).  So an event leads to a set of tangible states, and which
of them is a choice of unknown probability.  A loss on the way is an outcome of its own; so is
a step beyond the scope.  That immediate steps can go round and never stop does not count where they
can also stop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NoReturn

import spec.model.ir as ir
from modelcheck.asking.rates.typed import EffectiveRate
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.values import ModelError

LOSS = -1
BEYOND = -2


@frozen
class Event:
    """An event in a state of the chain: its rate, and its possible successors (states, LOSS or BEYOND)."""

    state: int
    rate: float
    outcomes: tuple[int, ...]


@frozen
class Chain:
    """A Markov decision process: tangible states, in which of them the service is down, and events.

    `first` are the outcomes of the start; `states` is how many states there were, the immediate
    ones included; `limits` are those of the scope that steps would have left.
    """

    down: tuple[bool, ...]
    events: tuple[Event, ...]
    first: tuple[int, ...]
    states: int
    limits: tuple[str, ...] = ()


@frozen
class LossQuestion:
    """The property that defines a loss, the one of the service, and exact limits of the scope."""

    losses: tuple[ir.Property, ...]
    services: tuple[ir.Property, ...]
    bounded: Collection[str] = ()


def chain_of(
    machine: Machine,
    rates: Mapping[str, EffectiveRate],
    wanted: LossQuestion,
    most: int,
    look: Callable[[int], None],
) -> Chain:
    """The chain of a model with rates. Costs the steps of each state.

    `look` is called with how many states there are.  Raises SpecError where there are more than `most`
    of them (R0922), where immediate steps never stop (R0923), and where the model makes an error (R0921).
    """
    return _Making(machine, rates, wanted, most, look).chain()


class _Making:
    """Builds one chain."""

    def __init__(
        self,
        machine: Machine,
        rates: Mapping[str, EffectiveRate],
        wanted: LossQuestion,
        most: int,
        look: Callable[[int], None],
    ) -> None:
        self._machine, self._rates, self._wanted = machine, rates, wanted
        self._most, self._look = most, look
        self._immediate = {a.name for a in machine.model.actions if a.kind is ir.Kind.ACTION}
        self._numbers: dict[State, int] = {}
        self._settled: dict[State, tuple[int, ...]] = {}
        self._next: dict[State, tuple[tuple[State, ...], bool]] = {}
        self._lost: dict[State, bool] = {}
        self._limits: dict[str, None] = {}

    def chain(self) -> Chain:
        """All reachable tangible states and their events."""
        try:
            starts = self._machine.initial()
            first = sorted({each for state in starts for each in self._outcomes(state)})
            events: list[Event] = []
            down: list[bool] = []
            for state in _growing(self._numbers):
                down.append(not all(self._machine.holds(each, state) for each in self._wanted.services))
                events += self._events(len(down) - 1, state)
        except ModelError as error:
            self._refuse(
                "R0921", f"the model makes an error: {error.message}", "see it with `modelcheck check`"
            )
        return Chain(tuple(down), tuple(events), tuple(first), len(self._next), tuple(self._limits))

    def _events(self, number: int, state: State) -> Iterable[Event]:
        """The events of a tangible state: one for each action with a rate and each of its parameters."""
        found: dict[tuple[str, tuple[ir.Value, ...]], set[int]] = {}
        for step in self._machine.steps(state, actions=self._rates):
            outcomes = found.setdefault((step.step.action, step.step.args), set())
            outcomes |= {BEYOND} if self._is_beyond(step) else set()
            if isinstance(step, Taken):
                outcomes |= set(self._outcomes(step.state))
        for (action, _), outcomes in found.items():
            if outcomes and outcomes != {number}:
                yield Event(number, self._rates[action].per_second, tuple(sorted(outcomes)))

    def _outcomes(self, state: State) -> tuple[int, ...]:
        """The tangible states (or LOSS, BEYOND) that immediate steps lead to from a state."""
        if state in self._settled:
            return self._settled[state]
        found: set[int] = set()
        seen, queue = {state}, [state]
        for here in queue:
            if self._is_lost(here):
                found.add(LOSS)
                continue
            after, is_cut = self._after(here)
            found |= {BEYOND} if is_cut else set()
            if not after and not is_cut:
                found.add(self._numbers.setdefault(here, len(self._numbers)))
            queue += [each for each in after if each not in seen]
            seen.update(after)
        if not found:
            self._refuse(
                "R0923",
                "steps without a rate go round and never stop, so no time passes",
                "drop what only repeats, in a variant of the model",
            )
        self._settled[state] = tuple(sorted(found))
        return self._settled[state]

    def _after(self, state: State) -> tuple[tuple[State, ...], bool]:
        """The successors by immediate steps, and whether one leaves the scope."""
        if state not in self._next:
            if len(self._next) >= self._most:
                message = f"there are more than {self._most:,} states"
                self._refuse("R0922", message, "ask about a smaller scope, or give a higher --max-states")
            self._look(len(self._next))
            after: dict[State, None] = {}
            is_cut = False
            for step in self._machine.steps(state, actions=self._immediate):
                is_cut |= self._is_beyond(step)
                if isinstance(step, Taken) and step.state != state:
                    after[step.state] = None
            self._next[state] = tuple(after), is_cut
        return self._next[state]

    def _is_beyond(self, step: Taken | CutOff) -> bool:
        """Whether a step leaves the scope, at a limit that is not exact."""
        if not isinstance(step, CutOff) or step.limit.split(" ")[0] in self._wanted.bounded:
            return False
        self._limits[step.limit] = None
        return True

    def _is_lost(self, state: State) -> bool:
        """Whether a state is a loss."""
        if state not in self._lost:
            self._lost[state] = not all(self._machine.holds(each, state) for each in self._wanted.losses)
        return self._lost[state]

    def _refuse(self, code: str, message: str, help_: str) -> NoReturn:
        """Raise SpecError."""
        raise SpecError([Diagnostic(code, self._machine.model.source, None, message, help=help_)])


def _growing(numbers: dict[State, int]) -> Iterable[State]:
    """The numbered states, including those numbered during the iteration."""
    done = 0
    while done < len(numbers):
        for state in list(numbers)[done:]:
            done += 1
            yield state


# ------------------------------------------------------------------ fewer states


def lumped(chain: Chain) -> Chain:
    """The quotient of the chain by bisimulation: equal service, rates and outcomes.

    What is computed of it is the same (Kemeny and Snell, 1960, for chains without choices).  Costs a
    look at all events in each of as many rounds as classes are distinguished, at most the states.
    """
    of: list[list[Event]] = [[] for _ in chain.down]
    for event in chain.events:
        of[event.state].append(event)
    classes = [int(down) for down in chain.down]
    while True:
        seen: dict[object, int] = {}
        signed = [_signature(classes, number, events) for number, events in enumerate(of)]
        fresh = [seen.setdefault((classes[n], sign), len(seen)) for n, sign in enumerate(signed)]
        if len(seen) == len(set(classes)):
            break
        classes = fresh
    heads = {each: number for number, each in reversed(list(enumerate(fresh)))}
    events = [
        Event(each, rate, outcomes)
        for each, number in sorted(heads.items())
        for outcomes, rate in _signature(fresh, number, of[number])
    ]
    down = tuple(chain.down[number] for _, number in sorted(heads.items()))
    first = tuple(sorted({_class(fresh, each) for each in chain.first}))
    return Chain(down, tuple(events), first, chain.states, chain.limits)


def _signature(
    classes: list[int], number: int, events: Iterable[Event]
) -> tuple[tuple[tuple[int, ...], float], ...]:
    """The rates from a state to classes of outcomes, without those within its own."""
    found: dict[tuple[int, ...], list[float]] = {}
    for event in events:
        outcomes = tuple(sorted({_class(classes, each) for each in event.outcomes}))
        if outcomes != (classes[number],):
            found.setdefault(outcomes, []).append(event.rate)
    # Sums of the same rates are the same number only in the same order.
    return tuple(sorted((outcomes, sum(sorted(rates))) for outcomes, rates in found.items()))


def _class(classes: list[int], outcome: int) -> int:
    """The class of the state with the number `outcome`; a negative one is no state, and stays itself."""
    return classes[outcome] if outcome >= 0 else outcome
