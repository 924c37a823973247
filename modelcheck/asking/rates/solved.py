"""The solution of a Markov chain: mean time to the first loss, odds of a loss and of being down in a time.

NOTE(bounds): which outcome of an event is taken is a choice without odds, so each number has a best
and a worst value; where no choice matters they are the same.  Steps beyond the scope count as harmless
for the best value and as a loss for the worst, as in finite state projection (Munsky and Khammash,
J. Chem. Phys. 124, 2006).  Mean times are those of the best and worst choice (policy iteration:
Bertsekas and Tsitsiklis, Math. Oper. Res. 16(3), 1991), and each choice's are made without a subtraction
(Grassmann, Taksar and Heyman, Oper. Res. 33(5), 1985), so they are exact up to rounding however rare
a loss is.  Within a time without choices: a short step by uniformization, doubled until it is the time;
with choices that matter: jump by jump, each the best or the worst of them, which is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from modelcheck.asking.rates.chain import BEYOND, LOSS, Chain, Event
from spec.frozen import frozen

MOST_CLASSES = 1_500  # a matrix with this number of rows is multiplied some thirty times
MOST_JUMPS = 200_000  # with choices: ten seconds of a small chain
_TERMS = 40  # of a series whose terms shrink like 1/n!

Matrix = NDArray[np.float64]


@frozen
class Between:
    """The best and the worst value of a number; None if not computed."""

    best: float | None
    worst: float | None


@frozen
class Solved:
    """The solution of a chain, in seconds and probabilities.

    `mean` is the time to the first loss; within the horizon, `loss` are the odds of one, `down` those of
    being down at some time before it, and `downtime` the time down in the mean.
    """

    mean: Between
    loss: Between
    down: Between
    downtime: Between


class TooMany(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if a chain has too many classes of states to solve."""


def solved(chain: Chain, horizon: float) -> Solved:
    """The mean time to loss and the probabilities within `horizon` seconds. Raises TooMany.

    Costs the cube of its states a few dozen times; with choices that matter, a look at all events
    for each jump of the fastest clock.
    """
    if len(chain.down) > MOST_CLASSES:
        raise TooMany
    best, worst = _Side(chain, worst=False), _Side(chain, worst=True)
    sides = [side.within(horizon) for side in (best, worst)]
    columns = zip(*sides, strict=True)
    loss, down, downtime = (Between(*column) for column in columns)
    return Solved(Between(best.mean(), worst.mean()), loss, down, downtime)


class _Side:
    """A chain with all choices resolved for the best, or the worst, case."""

    def __init__(self, chain: Chain, *, worst: bool) -> None:
        self._chain, self._worst = chain, worst
        self._size = len(chain.down)
        self._of: list[list[Event]] = [[] for _ in chain.down]
        for event in chain.events:
            self._of[event.state].append(event)

    # ------------------------------------------------------------- in the mean

    def mean(self) -> float:
        """The mean seconds to a loss; infinite if it can be avoided."""
        lost = {LOSS, BEYOND} if self._worst else {LOSS}
        chosen = self._first_choices(lost)
        if chosen is None:
            return math.inf
        while True:
            times = self._times(chosen, lost)
            better = {
                (state, at): min(event.outcomes, key=lambda each: self._rank(times, lost, each))
                for state in times
                for at, event in enumerate(self._of[state])
            }
            fresh = {
                key: each
                for key, each in better.items()
                if self._is_better(self._rank(times, lost, each), self._rank(times, lost, chosen[key]))
            }
            if not fresh:
                return abs(min(self._rank(times, lost, each) for each in self._chain.first))
            chosen |= fresh

    def _rank(self, times: Mapping[int, float], lost: set[int], outcome: int) -> float:
        """The sort key of an outcome: the time to a loss, least first at worst."""
        time = 0.0 if outcome in lost else times.get(outcome, math.inf)
        return time if self._worst else -time

    @staticmethod
    def _is_better(rank: float, than: float) -> bool:
        """Whether a rank is less by more than rounding errors, so that iteration terminates."""
        return than == math.inf > rank or than - rank > 1e-12 * abs(than)

    def _first_choices(self, lost: set[int]) -> dict[tuple[int, int], int] | None:
        """The choice for each state and event that makes a loss certain; None if the mean is infinite.

        At worst it is enough that some choices make it certain, at best all have to.
        """
        if not self._worst:
            return self._any_choices()
        sure = set(range(self._size))
        while True:
            chosen: dict[tuple[int, int], int] = {}
            reached = set(lost)
            while found := [s for s in sure - reached if self._leads(s, sure | lost, reached)]:
                for state in found:
                    for at, event in enumerate(self._of[state]):
                        inside = [each for each in event.outcomes if each in sure | lost]
                        chosen[state, at] = min(inside, key=lambda each: each not in reached)
                reached |= set(found)
            if sure <= reached:
                break
            sure &= reached
        starts = [each for each in self._chain.first if each in sure | lost]
        return chosen if starts else None

    def _leads(self, state: int, inside: set[int], reached: set[int]) -> bool:
        """Whether every event can stay inside, and some can lead to what is reached."""
        events = self._of[state]
        stays = all(any(each in inside for each in event.outcomes) for event in events)
        return stays and any(each in reached for event in events for each in event.outcomes)

    def _any_choices(self) -> dict[tuple[int, int], int] | None:
        """Initial choices at best; None if a loss can be avoided forever."""
        safe = set(range(self._size)) | {BEYOND}
        while out := {
            s for s in safe - {BEYOND} if any(not safe & set(event.outcomes) for event in self._of[s])
        }:
            safe -= out
        seen, queue = set(self._chain.first), list(self._chain.first)
        for state in queue:
            for event in self._of[state] if state >= 0 else ():
                queue += [each for each in set(event.outcomes) if each not in seen]
                seen.update(event.outcomes)
        if seen & safe:
            return None
        return {(e, at): event.outcomes[-1] for e in seen if e >= 0 for at, event in enumerate(self._of[e])}

    def _times(self, chosen: Mapping[tuple[int, int], int], lost: set[int]) -> dict[int, float]:
        """The mean seconds to a loss from each state under the choices, by elimination."""
        states = sorted({state for state, _ in chosen})
        place = {state: at for at, state in enumerate(states)}
        many = len(states)
        rates, out = np.zeros((many, many)), np.zeros(many)
        for (state, at), outcome in chosen.items():
            rate = self._of[state][at].rate
            if outcome in lost:
                out[place[state]] += rate
            elif outcome != state:
                rates[place[state], place[outcome]] += rate
        cost = np.ones(many)
        totals = np.zeros(many)
        for at in range(many - 1, -1, -1):
            totals[at] = total = rates[at, :at].sum() + out[at]
            share = rates[:at, at] / total
            rates[:at, :at] += np.outer(share, rates[at, :at])
            np.fill_diagonal(rates[:at, :at], 0.0)
            out[:at] += share * out[at]
            cost[:at] += share * cost[at]
        times = np.zeros(many)
        for at in range(many):
            times[at] = (cost[at] + rates[at, :at] @ times[:at]) / totals[at]
        return dict(zip(states, map(float, times), strict=True))

    # ------------------------------------------------------------- within a time

    def within(self, horizon: float) -> tuple[float | None, float | None, float | None]:
        """The probability of a loss, that of an outage, and the mean seconds down."""
        down = np.array([*map(float, self._chain.down), 0.0, float(self._worst)])
        lost = np.array([*[0.0] * self._size, 1.0, float(self._worst)])
        loss, downtime = self._after(horizon, lost, down, frozenset())
        never = frozenset(number for number, is_down in enumerate(self._chain.down) if is_down)
        ever, _ = self._after(horizon, down, down, never)
        return loss, ever, downtime

    def _after(
        self, horizon: float, wanted: Matrix, earned: Matrix, ends: frozenset[int]
    ) -> tuple[float | None, float | None]:
        """The expected values at the end, and accumulated; states in `ends` are absorbing."""
        events = [event for event in self._chain.events if event.state not in ends]
        if all(len(event.outcomes) == 1 for event in events):
            return self._by_squaring(horizon, events, wanted, earned)
        return self._by_jumps(horizon, events, wanted, earned)

    def _pick(self, values: Matrix) -> float:
        """The value at the initial state, worst or best of several."""
        found = [values[each] for each in self._chain.first]  # LOSS and BEYOND count from the end
        return float(max(found) if self._worst else min(found))

    def _fastest(self, events: list[Event]) -> tuple[Matrix, float]:
        """The total rate of each state, and the greatest of them."""
        exits = np.zeros(self._size + 2)
        for event in events:
            exits[event.state] += event.rate
        return exits, float(exits.max())

    def _by_squaring(
        self, horizon: float, events: list[Event], wanted: Matrix, earned: Matrix
    ) -> tuple[float, float]:
        """The probability of a wanted outcome within the horizon, and the expected time, without choices.

        By uniformisation over a short time, whose transition matrix is then squared.  `wanted` has the
        reward of each state at the end, `earned` that of a time spent in it.
        """
        exits, fastest = self._fastest(events)
        many = self._size + 2
        if fastest == 0.0:
            return self._pick(_back(wanted)), self._pick(_back(earned * horizon))
        jump = np.zeros((many, many))
        for event in events:
            jump[event.state, _place(event.outcomes[0], self._size)] += event.rate / fastest
        jump[np.diag_indices(many)] += (fastest - exits) / fastest
        halvings = max(0, math.ceil(math.log2(fastest * horizon)) + 1)
        step = horizon / 2**halvings
        power, mean = np.eye(many), fastest * step
        after, spent = np.zeros((many, many)), np.zeros(many)
        odds = math.exp(-mean)
        more = -math.expm1(-mean)  # the probability of more jumps than that
        for number in range(_TERMS):
            after += odds * power
            spent += (more / fastest) * (power @ earned)
            power = power @ jump
            odds *= mean / (number + 1)
            more = _tail(mean, number + 1)
        for _ in range(halvings):
            spent = spent + after @ spent
            after = after @ after
        return self._pick(_back(after @ wanted)), self._pick(_back(spent))

    def _by_jumps(
        self, horizon: float, events: list[Event], wanted: Matrix, earned: Matrix
    ) -> tuple[float | None, float | None]:
        """The result with choices, by uniformisation jump by jump; None for too many jumps."""
        exits, fastest = self._fastest(events)
        mean = fastest * horizon
        most = math.ceil(mean + 12 * math.sqrt(mean) + 50)
        if most > MOST_JUMPS:
            return None, None
        many = self._size + 2
        lost, paid = wanted, earned
        sources = np.array([event.state for event in events])
        rates = np.array([event.rate for event in events]) / fastest
        starts = np.cumsum([0, *(len(event.outcomes) for event in events[:-1])])
        outcomes = np.array([_place(each, self._size) for event in events for each in event.outcomes])
        choose: Callable[..., Matrix] = np.maximum.reduceat if self._worst else np.minimum.reduceat
        stays = (fastest - exits) / fastest

        def jumped(values: Matrix) -> Matrix:
            chosen = choose(values[outcomes], starts)
            found: Matrix = np.bincount(sources, rates * chosen, many) + stays * values
            return found

        numbers = np.arange(most + 1)
        logs = numbers * math.log(mean) - mean - np.array([math.lgamma(each + 1.0) for each in numbers])
        odds = np.exp(logs)
        tails = np.concatenate([np.cumsum(odds[::-1])[::-1][1:], [0.0]])
        ended, spent = np.zeros(many), np.zeros(many)
        for number in range(most + 1):
            ended += odds[number] * lost
            spent += tails[number] / fastest * paid
            lost, paid = jumped(lost), jumped(paid)
        return self._pick(_back(ended)), self._pick(_back(spent))


def _tail(mean: float, number: int) -> float:
    """The probability of more than `number` jumps of a Poisson process with this mean."""
    term = math.exp(-mean + (number + 1) * math.log(mean) - math.lgamma(number + 2))
    total = 0.0
    for more in range(_TERMS):
        total += term
        term *= mean / (number + 2 + more)
    return total


def _place(outcome: int, size: int) -> int:
    """The index of an outcome in a vector: states, then LOSS, then BEYOND."""
    return outcome if outcome >= 0 else size + (0 if outcome == LOSS else 1)


def _back(values: Matrix) -> Matrix:
    """The vector with its last two entries swapped, so that indices LOSS (-1) and BEYOND (-2) find theirs."""
    return np.concatenate([values[:-2], values[-1:], values[-2:-1]])
