"""What `rates` computes, and a chain made by its definition and solved by plain linear algebra."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np

import spec.model.ir as ir
from modelcheck.asking.rates.chain import BEYOND, LOSS, LossQuestion, chain_of, lumped
from modelcheck.asking.rates.solved import Between, Matrix, solved
from modelcheck.asking.rates.typed import EffectiveRate
from spec.diagnostics import SpecError
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.values import ModelError
from tests.fuzz.cases import Case, TooLarge
from tests.fuzz.findings import Differences
from tests.fuzz.of_runs import MOST as MANY

MOST = 250  # states of a chain
POLICIES = 3
ENDLESS, ERRS = "endless", "errs"
OF_STATES = {ir.PropertyKind.INVARIANT, ir.PropertyKind.LEMMA, ir.PropertyKind.RECOVERABLE}
Outcome = State | int


def chains(case: Case) -> Differences | None:
    """Numbers of a chain: between the best and the worst are those of any choices."""
    chance, model = case.random("rates"), case.model
    timed = [action.name for action in model.actions if action.kind is not ir.Kind.ACTION]
    asked = [prop for prop in model.properties if prop.kind in OF_STATES]
    if not timed or not asked or case.findings is None:
        return None
    rated = {name: chance.choice([0.01, 0.2, 1.0]) for name in timed if chance.random() < 0.8}
    losses = tuple(prop for prop in asked if chance.random() < 0.6)
    services = tuple(prop for prop in asked if prop not in losses)
    horizon = chance.choice([0.5, 5.0, 60.0])
    own = _Chain(Machine(model, case.asked.scope), rated, losses, services)
    wanted = LossQuestion(losses, services)
    rates = {name: EffectiveRate(name, rate, "", "") for name, rate in rated.items()}
    try:
        made = lumped(chain_of(Machine(model, case.asked.scope), rates, wanted, MOST, lambda _: None))
    except SpecError as error:
        if error.diagnostics[0].code == "R0922":
            raise TooLarge from error
        return {"refused": (own.problem() != "", True)}
    if problem := own.problem():
        return {"refused": (problem, "")}
    found = solved(made, horizon)
    return dict(_differing(own, chance, horizon, _numbers(found)))


def _numbers(found: object) -> dict[str, Between]:
    """The numbers by their names."""
    return {name: getattr(found, name) for name in ("mean", "loss", "down", "downtime")}


def _differing(
    own: _Chain, chance: Random, horizon: float, found: Mapping[str, Between]
) -> Iterator[tuple[str, tuple[object, object]]]:
    for number in range(POLICIES):
        chosen = own.some_choices(chance)
        for worst in (False, True):
            told = _Fixed(chosen, worst=worst).numbers(horizon)
            for name, value in told.items():
                bound = found[name].worst if worst else found[name].best
                is_more = (name == "mean") is worst  # what must be at least the bound
                if bound is not None and not _is_beside(value, bound, is_more=is_more):
                    yield f"{name} {'at worst' if worst else 'at best'} of choice {number}", (value, bound)
        if own.is_determined:
            for name, between in found.items():
                if between.best is not None and between.worst is not None and not _is_close(between):
                    yield f"{name} of what nobody chooses", (between.best, between.worst)


def _is_beside(value: float, bound: float, *, is_more: bool) -> bool:
    """Whether a value is at least a bound, or at most, up to rounding."""
    slack = 1e-7 + 1e-6 * abs(bound) if math.isfinite(bound) else 0.0
    return value >= bound - slack if is_more else value <= bound + slack


def _is_close(between: Between) -> bool:
    return math.isclose(between.best or 0.0, between.worst or 0.0, rel_tol=1e-9, abs_tol=1e-12)


@dataclass
class _Choices:
    """A chain with one outcome of each event: rates from state to outcome, and the first."""

    states: list[State]
    down: list[bool]
    rates: list[tuple[int, int, float]]
    first: int


@dataclass
class _Chain:
    """The states in which time passes, found by looking at the states behind each, one after the other."""

    machine: Machine
    rated: Mapping[str, float]
    losses: tuple[ir.Property, ...]
    services: tuple[ir.Property, ...]
    states: dict[State, int] = field(default_factory=dict)
    events: list[tuple[int, float, list[Outcome]]] = field(default_factory=list)
    first: list[Outcome] = field(default_factory=list)

    def problem(self) -> str:
        """Why there is no chain, empty once it is made. Raises TooLarge."""
        try:
            starts = self.machine.initial()
            self.first = self._settled([*starts])
            waiting = [each for each in self.first if not isinstance(each, int)]
            for state in waiting:
                if state in self.states:
                    continue
                self.states[state] = len(self.states)
                self._holds(self.services, state)
                for rate, outcomes in self._events(state):
                    self.events.append((self.states[state], rate, outcomes))
                    waiting += [each for each in outcomes if not isinstance(each, int)]
        except ModelError:
            return ERRS
        except _Endless:
            return ENDLESS
        return "" if starts else ERRS

    @property
    def is_determined(self) -> bool:
        """Whether there is nothing to choose and no step beyond the scope."""
        every = [self.first, *(outcomes for _, _, outcomes in self.events)]
        return all(len(each) == 1 and each[0] != BEYOND for each in every)

    def some_choices(self, chance: Random) -> _Choices:
        """The chain with any one outcome of each event."""
        rates = [(at, self._place(chance.choice(outcomes)), rate) for at, rate, outcomes in self.events]
        down = [not self._holds(self.services, state) for state in self.states]
        return _Choices([*self.states], down, rates, self._place(chance.choice(self.first)))

    def _place(self, outcome: Outcome) -> int:
        """States, then LOSS, then BEYOND."""
        if isinstance(outcome, int):
            return len(self.states) + (outcome == BEYOND)
        return self.states[outcome]

    def _events(self, state: State) -> Iterator[tuple[float, list[Outcome]]]:
        behind: dict[tuple[str, tuple[ir.Value, ...]], list[State]] = {}
        beyond = set[tuple[str, tuple[ir.Value, ...]]]()
        for name in self.rated:
            for step in self.machine.steps(state, None, (name,)):
                key = name, step.step.args
                behind.setdefault(key, [])
                if isinstance(step, CutOff):
                    beyond.add(key)
                else:
                    behind[key].append(step.state)
        for key, after in behind.items():
            found: list[Outcome] = self._settled(after) if after else []
            found = [BEYOND, *(each for each in found if each != BEYOND)] if key in beyond else found
            yield self.rated[key[0]], found

    def _settled(self, states: list[State]) -> list[Outcome]:
        """Where immediate steps can end that begin in each of these states. Raises _Endless."""
        found: list[Outcome] = []
        for state in states:
            outcomes = self._outcomes(state)
            if not outcomes:
                raise _Endless
            found += [each for each in outcomes if each not in found]
        return found

    def _outcomes(self, state: State) -> list[Outcome]:
        found: dict[Outcome, None] = {}
        immediate = [a.name for a in self.machine.model.actions if a.kind is ir.Kind.ACTION]
        seen = {state: None}
        waiting = [state]
        while waiting:
            here = waiting.pop()
            if len(seen) > MANY:
                raise TooLarge
            if not self._holds(self.losses, here):
                found[LOSS] = None
                continue
            steps = list(self.machine.steps(here, None, immediate))
            after = [s.state for s in steps if not isinstance(s, CutOff) and s.state != here]
            if any(isinstance(step, CutOff) for step in steps):
                found[BEYOND] = None
            elif not after:
                found[here] = None
            waiting += [each for each in after if each not in seen]
            seen |= dict.fromkeys(after)
        return [*found]

    def _holds(self, properties: tuple[ir.Property, ...], state: State) -> bool:
        return all(self.machine.holds(each, state) for each in properties)


class _Endless(Exception):  # noqa: N818 - an answer
    """Immediate steps go round, and nothing ends them."""


class _Fixed:
    """The numbers of a chain in which nothing is left to choose; to leave the scope is at worst a loss."""

    def __init__(self, chain: _Choices, *, worst: bool) -> None:
        self._chain, self._worst = chain, worst
        self._many = len(chain.states)
        self._rates = np.zeros((self._many + 2, self._many + 2))
        for state, outcome, rate in chain.rates:
            if state != outcome:
                self._rates[state, outcome] += rate

    def numbers(self, horizon: float) -> dict[str, float]:
        """All of them, by name."""
        bad = float(self._worst)
        down = np.array([*map(float, self._chain.down), 0.0, bad])
        lost = np.array([*[0.0] * self._many, 1.0, bad])
        ends = [*self._chain.down, True, True]
        first = self._chain.first
        return {
            "mean": self._mean(),
            "loss": float((self._after(self._rates, horizon) @ lost)[first]),
            "down": float(
                (self._after(np.where(np.array(ends)[:, None], 0.0, self._rates), horizon) @ down)[first]
            ),
            "downtime": self._earned(horizon, down),
        }

    @staticmethod
    def _generator(rates: Matrix) -> Matrix:
        made: Matrix = rates - np.diag(rates.sum(axis=1))
        return made

    def _after(self, rates: Matrix, horizon: float) -> Matrix:
        return _exponential(self._generator(rates) * horizon)

    def _earned(self, horizon: float, earned: Matrix) -> float:
        """What is earned up to a time: an integral, as the exponential of a matrix with one more column."""
        many = self._many + 2
        wider = np.zeros((many + 1, many + 1))
        wider[:many, :many] = self._generator(self._rates)
        wider[:many, many] = earned
        return float(_exponential(wider * horizon)[self._chain.first, many])

    def _mean(self) -> float:
        """The time to a loss: infinite where a state is reached from which none can be."""
        lost = {self._many, *({self._many + 1} if self._worst else ())}
        if self._chain.first in lost:
            return 0.0
        reached = self._closure({self._chain.first}, self._rates)
        if not reached <= self._closure(lost, self._rates.T):
            return math.inf
        inside = sorted(reached - lost)
        generator = self._generator(self._rates)[np.ix_(inside, inside)]
        times = np.linalg.solve(generator, -np.ones(len(inside)))
        return float(times[inside.index(self._chain.first)])

    @staticmethod
    def _closure(found: set[int], rates: Matrix) -> set[int]:
        found = set(found)
        waiting = [*found]
        while waiting:
            new = {int(each) for each in np.nonzero(rates[waiting.pop()])[0]} - found
            found |= new
            waiting += new
        return found


def _exponential(matrix: Matrix) -> Matrix:
    """The exponential of a matrix: a series for a small part of it, and squares."""
    size = float(np.abs(matrix).sum(axis=1).max(initial=0.0))
    halvings = max(0, math.ceil(math.log2(size)) + 3) if size > 0 else 0
    small = matrix / 2**halvings
    term = found = np.eye(len(matrix))
    for number in range(1, 25):
        term = term @ small / number
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found
