"""How large a check is, before it is searched: the same check at smaller scopes, and a curve through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import exp, log

from counterexamples.lines import Line, Piece, Role, line
from modelcheck.api import Unmet, check
from modelcheck.asking.overrides import refuse_unbounded
from modelcheck.contract.engine import Limits
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import End
from modelcheck.contract.wording import memory_words, seconds_words
from spec.frozen import frozen
from spec.model.ir import Check, Model
from spec.model.values import ModelError

NEAR = "one step ahead, measured estimates were 1.0 to 1.2 times the states (6 cases)"
FAR = "further ahead, measured estimates were 0.04 to 1.5 times the states (5 cases)"
NEEDED = 3  # points for a curve
LIMITS = Limits(states=4_000_000, seconds=20)  # of each of the smaller checks


@frozen
class SampledScope:
    """The size and time of a search at a smaller scope."""

    bound: int
    states: int
    seconds: float
    memory: int


@frozen
class Estimate:
    """The expected number of states and time for a nat at its bound, from searches below it."""

    nat: str
    bound: int
    points: tuple[SampledScope, ...]

    @property
    def states(self) -> int:
        """The states at the bound, by a curve through the last three points."""
        return round(exp(curve(self.points[-NEEDED:], self.bound)))

    @property
    def seconds(self) -> float:
        """The time, if each state takes as long as in the largest search."""
        last = self.points[-1]
        return self.states * last.seconds / last.states

    @property
    def memory(self) -> int:
        """The bytes, extrapolated roughly from the largest and smallest search."""
        least, last = min(point.memory for point in self.points), self.points[-1]
        return least + round(self.states * (last.memory - least) / last.states)

    @property
    def ahead(self) -> int:
        """The distance of the bound from the largest search."""
        return self.bound - self.points[-1].bound


def estimate(model: Model, asked: Check, reporter: Reporter) -> Estimate | None:
    """The estimate for the nat that has to be lowered least; None if none has enough smaller scopes.

    Costs one search for each smaller bound, within LIMITS; scopes in which
    the model cannot start are left out. Raises KeyboardInterrupt, and SpecError where a nat has no bound.
    """
    refuse_unbounded(model, asked, "an estimate")
    found = []
    for nat, bound in asked.scope.nats.items():
        if bound <= NEEDED:
            continue
        points = tuple(_points(model, asked, nat, bound, reporter))
        if len(points) >= NEEDED:
            found.append(Estimate(nat, bound, points))
    return min(found, key=lambda each: each.ahead, default=None)


def card(title: str, found: Estimate | None) -> Iterator[Line]:
    """The lines on an estimate: the result, its data, and the error of such estimates."""
    if found is None:
        words = f"no estimate: no nat has {NEEDED} smaller bounds that can be searched in a moment"
        yield line(Piece(title, Role.STRONG), ": ", Piece(words, Role.UNSURE))
        return
    states = f"about {_rounded(found.states):,} states"
    needs = f"{seconds_words(found.seconds)}, {memory_words(found.memory)}"
    yield line(Piece(title, Role.STRONG), ": ", Piece(f"{states}, {needs}; nothing was decided", Role.UNSURE))
    searched = " · ".join(f"{point.bound}: {point.states:,}" for point in found.points)
    yield line("    ", Piece(f"{'searched':<11}", Role.DIM), f"{found.nat} = {searched}")
    yield line("    ", Piece(f"{'expected':<11}", Role.DIM), f"{found.nat} = {found.bound}: {found.states:,}")
    yield line("    ", Piece(f"{'error':<11}", Role.DIM), NEAR if found.ahead == 1 else FAR)


def _rounded(number: int) -> int:
    """The number rounded to two significant digits."""
    return round(number, 2 - len(str(number)))


def _points(model: Model, asked: Check, nat: str, bound: int, reporter: Reporter) -> Iterator[SampledScope]:
    """Searches with the nat at 1, 2, … below its bound, up to the first that is too large."""
    for lower in range(1, bound):
        scope = replace(asked.scope, nats={**asked.scope.nats, nat: lower})
        smaller = replace(asked, scope=scope, only=(), expect=())
        try:
            found = check(model, smaller, limits=LIMITS, reporter=reporter).findings
        except (Unmet, ModelError):
            continue  # the model has no such scope
        if found.end is End.INTERRUPTED:
            raise KeyboardInterrupt
        if found.end is not End.COMPLETE:
            return
        yield SampledScope(lower, found.stats.states, found.stats.seconds, found.stats.memory)


def curve(points: tuple[SampledScope, ...], at: int) -> float:
    """The logarithm of the states at a bound: a + b x + c log x through three points.

    State spaces grow like a power times an exponential; a quadratic bends down
    too soon, because the growth slows down less and less.
    """
    one, two, three = points
    ratio = [log(b.bound / a.bound) for a, b in ((one, two), (two, three))]
    width = [two.bound - one.bound, three.bound - two.bound]
    rise = [log(two.states / one.states), log(three.states / two.states)]
    base = width[0] * ratio[1] - width[1] * ratio[0]
    b = (rise[0] * ratio[1] - rise[1] * ratio[0]) / base
    c = (width[0] * rise[1] - width[1] * rise[0]) / base
    return log(three.states) + b * (at - three.bound) + c * log(at / three.bound)
