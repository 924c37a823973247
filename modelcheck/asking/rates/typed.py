"""The rates that count: those of a check, and in their place those that are typed, as `crash=2/y`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.model.ir import Check, Kind, Model
from spec.model.rates import UNITS
from spec.source import Source, Span

OPTION = "--rate"
_RATE = re.compile(r"(?P<action>[^=]*)=(?P<number>[^/]*)/\s*(?P<every>\d*)(?P<unit>.*)", re.DOTALL)


@frozen
class EffectiveRate:
    """The rate of a fault or repair, for each choice of its parameters; with its text and source."""

    action: str
    per_second: float
    said: str
    by: str


def rates_of(model: Model, check: Check, texts: Iterable[str]) -> Mapping[str, EffectiveRate]:
    """The rates by action: those typed, else those of the check.

    Raises SpecError for a text that is no rate, or one of nothing.
    """
    typed: dict[str, EffectiveRate] = {}
    for text in texts:
        rate = _rate(model, text)
        if rate.action in typed:
            _refuse(text, rate.action, f"`{rate.action}` has a rate already", "give each action one rate")
        typed[rate.action] = rate
    return _own(model, check) | typed


def _own(model: Model, check: Check) -> dict[str, EffectiveRate]:
    """The rates in a check, for actions that the model has."""
    known = {action.name for action in model.actions}
    found: dict[str, EffectiveRate] = {}
    for each in check.rates:
        if each.action in known:
            per_second = each.times / each.every / UNITS[each.unit]
            said = f"{each.times}/{'' if each.every == 1 else each.every}{each.unit}"
            found[each.action] = EffectiveRate(each.action, per_second, said, f"the check {check.name}")
    return found


def _rate(model: Model, text: str) -> EffectiveRate:
    """The rate in a text."""
    parts = _RATE.fullmatch(text)
    if parts is None:
        _refuse(text, text, "a rate is an action, a number and a unit of time", f"such as {_example(model)}")
    name, number, every, unit = (parts[key].strip() for key in ("action", "number", "every", "unit"))
    timed = {action.name for action in model.actions if action.kind is not Kind.ACTION}
    if name not in timed:
        known = {action.name for action in model.actions}
        what = "is neither a fault nor a repair" if name in known else f"is no action of {model.name}"
        near = suggest(name, timed) or f"there are {', '.join(sorted(timed)) or 'none'}"
        _refuse(text, name, f"`{name}` {what}", near)
    if unit not in UNITS:
        _refuse(text, unit, f"there is no unit `{unit}`", f"the units are {', '.join(UNITS)}")
    per_second = _quotient(number, every or "1") / UNITS[unit]
    if not (0 < per_second < math.inf):
        what = f"{number}/{every}" if every else number
        message = f"`{what}` is no rate: it is not a number above 0"
        _refuse(text, what, message, "leave out what never happens")
    return EffectiveRate(name, per_second, f"{number}/{every}{unit}", OPTION)


def _quotient(number: str, every: str) -> float:
    """The number in a quotient; NaN if it is none."""
    try:
        return float(number) / float(every)
    except (ValueError, ZeroDivisionError):
        return math.nan


def _example(model: Model) -> str:
    """An example of a rate, for advice."""
    timed = [action.name for action in model.actions if action.kind is not Kind.ACTION]
    return f"`{timed[0] if timed else 'crash'}=2/y`"


def _refuse(text: str, part: str, message: str, help_: str) -> NoReturn:
    """Raise SpecError for a rate."""
    at = max(0, text.find(part))
    span = Span(at, at + max(1, len(part)))
    raise SpecError([Diagnostic("R0920", Source(OPTION, text), span, message, help=help_)])
