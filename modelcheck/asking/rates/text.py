"""The solution of a chain, in words and in plain values, with what it assumes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.asking.rates.chain import Chain, LossQuestion
from modelcheck.asking.rates.solved import Between, Solved
from modelcheck.asking.rates.typed import EffectiveRate
from spec.frozen import frozen
from spec.model.ir import Check, Kind, Model
from spec.model.rates import UNITS

LABEL = 30


@frozen
class RatesAnswer:
    """The question and the solution."""

    model: Model
    check: Check
    rates: Mapping[str, EffectiveRate]
    wanted: LossQuestion
    chain: Chain
    lumped: Chain
    horizon: float
    solved: Solved

    @property
    def choices(self) -> bool:
        """Whether the choice between immediate steps affects a number."""
        values = (self.solved.mean, self.solved.loss, self.solved.down, self.solved.downtime)
        return self.has_choices and any(not _same(each) for each in values)

    @property
    def has_choices(self) -> bool:
        """Whether some step, or the start, has several outcomes that differ."""
        return len(self.lumped.first) > 1 or any(len(each.outcomes) > 1 for each in self.lumped.events)

    @property
    def cause(self) -> str:
        """Why a number differs between best and worst, in words."""
        chosen = "by what is chosen" if self.has_choices else ""
        beyond = "by what is beyond the scope" if self.chain.limits else ""
        return " and ".join(filter(None, (chosen, beyond)))


def _same(value: Between) -> bool:
    """Whether the best and the worst value print the same."""
    best, worst = value.best, value.worst
    if best is None or worst is None:
        return best is worst
    return best == worst or math.isclose(best, worst, rel_tol=1e-9)


def lines(answer: RatesAnswer, width: int) -> Iterator[Line]:
    """The report: the numbers, then the assumptions."""
    within = duration(answer.horizon)
    solved = answer.solved
    yield line(Piece(f"{answer.model.name} · {answer.check.name}", Role.STRONG))
    if answer.wanted.losses:
        yield from _row("mean time to the first loss", _words(answer, solved.mean, duration), width)
        yield from _row(f"a loss within {within}", _words(answer, solved.loss, chance), width)
    if answer.wanted.services:
        yield from _row(f"down at some time in {within}", _words(answer, solved.down, chance), width)
        yield from _row(
            f"downtime in {within}, in the mean", _words(answer, solved.downtime, duration), width
        )
    yield ()
    for sentence in assumptions(answer):
        yield from wrapped(line("  • "), sentence, width, Role.DIM)


def _row(label: str, text: str, width: int) -> Iterator[Line]:
    """The lines of one number."""
    yield from wrapped(line("  ", Piece(f"{label:<{LABEL}}  ", Role.STRONG)), text, width)


def _words(answer: RatesAnswer, value: Between, say: Callable[[float], str]) -> str:
    """A number, or its range, in words."""
    best, worst = value.best, value.worst
    if best is None or worst is None:
        return "not computed: choices matter, and the rates are too far apart for this time"
    if best == worst == math.inf:
        return "none: in some runs there never is one"
    if _same(value):
        return say(worst)
    if math.inf in (best, worst):
        return f"at least {say(min(best, worst))}; at best there is none"
    return f"from {say(min(best, worst))} to {say(max(best, worst))}, {answer.cause}"


def duration(seconds: float) -> str:
    """A time in a readable unit: "3.2 y", "45 min"; "for ever" if infinite."""
    if math.isinf(seconds):
        return "for ever"
    for unit, size in reversed(UNITS.items()):
        if seconds >= size:
            return f"{_number(seconds / size)} {unit}"
    return f"{_number(seconds)} s"


def chance(odds: float) -> str:
    """A probability in per cent: "0.12 %", "2.3e-07 %"."""
    return f"{_number(100 * odds)} %"


def _number(value: float) -> str:
    """A number with three significant digits and separators for thousands."""
    if value == 0 or 0.001 <= value < 1e6:
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{value:.2e}"


def assumptions(answer: RatesAnswer) -> Iterator[str]:
    """The assumptions behind the numbers, in sentences."""
    yield (
        "Each of these comes after an exponential time, for every member apart, as often as it may: "
        f"{_rates(answer.rates)}."
    )
    timed = [a.name for a in answer.model.actions if a.kind is not Kind.ACTION and a.name not in answer.rates]
    if timed:
        yield f"Without a rate, so they never happen: {', '.join(timed)}."
    yield "All other steps are immediate: they take no time, and continue until there is none."
    if answer.choices:
        yield (
            "Which of several immediate steps is taken may make a difference, and the odds are unknown: "
            "the numbers are for the best and the worst choice, or bounds of these."
        )
    else:
        yield "Which of several immediate steps is taken makes no difference."
    losses = ", ".join(each.name for each in answer.wanted.losses)
    services = ", ".join(each.name for each in answer.wanted.services)
    if losses:
        yield f"A loss: {losses} is false, be it between immediate steps. Nothing is looked at after it."
    if services:
        yield f"Down: {services} is false where time passes."
    if answer.chain.limits:
        yield (
            f"Steps leave the scope ({', '.join(answer.chain.limits)}): "
            "at worst they are a loss, at best harmless."
        )
    if answer.wanted.bounded:
        yield f"By request, steps beyond {', '.join(answer.wanted.bounded)} are not taken."
    classes = len(answer.lumped.down)
    kinds = "1 class" if classes == 1 else f"{classes:,} classes"
    tangible = len(answer.chain.down)
    yield f"{count(answer.chain.states, 'state')}; time passes in {tangible:,} of them, {kinds} that differ."


def _rates(rates: Mapping[str, EffectiveRate]) -> str:
    """The rates with their sources, in words."""
    said: dict[str, list[str]] = {}
    for rate in rates.values():
        said.setdefault(rate.by, []).append(f"{rate.action} {rate.said}")
    return "; ".join(f"{', '.join(each)} ({by})" for by, each in said.items())


def as_json(answer: RatesAnswer) -> dict[str, object]:
    """The answer as JSON data; infinite and missing numbers are null, see `computed`."""
    solved = answer.solved
    return {
        "model": answer.model.name,
        "check": answer.check.name,
        "rates_per_second": {rate.action: rate.per_second for rate in answer.rates.values()},
        "rates_by": {rate.action: rate.by for rate in answer.rates.values()},
        "losses": [each.name for each in answer.wanted.losses],
        "services": [each.name for each in answer.wanted.services],
        "horizon_seconds": answer.horizon,
        "mean_seconds_to_loss": _plain(solved.mean),
        "loss": _plain(solved.loss),
        "down": _plain(solved.down),
        "downtime_seconds": _plain(solved.downtime),
        "choices_matter": answer.choices,
        "states": answer.chain.states,
        "tangible": len(answer.chain.down),
        "classes": len(answer.lumped.down),
        "beyond": list(answer.chain.limits),
        "assumes": list(assumptions(answer)),
    }


def _plain(value: Between) -> dict[str, object]:
    """The best and worst value as JSON data."""

    def number(one: float | None) -> float | None:
        return None if one is None or math.isinf(one) else one

    return {
        "best": number(value.best),
        "worst": number(value.worst),
        "computed": value.best is not None and value.worst is not None,
    }
