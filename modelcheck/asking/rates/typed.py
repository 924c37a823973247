"""Rates as they are typed: `crash=2/y`, `restart=4/h`, each for a fault or a repair of the model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.ir import Kind, Model
from spec.source import Source, Span

DAY = 86_400.0
YEAR = 365.25 * DAY
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": DAY, "y": YEAR}
OPTION = "--rate"
_RATE = re.compile(r"(?P<action>[^=]*)=(?P<number>[^/]*)/(?P<unit>.*)", re.DOTALL)


@frozen
class Rate:
    """How often a fault or a repair happens, for each of its parameters apart, and as it was typed."""

    action: str
    per_second: float
    said: str


def rates_of(model: Model, texts: Iterable[str]) -> Mapping[str, Rate]:
    """The rates by the names of their actions. Raises SpecError for one that is none, or of nothing."""
    found: dict[str, Rate] = {}
    for text in texts:
        rate = _rate(model, text)
        if rate.action in found:
            _refuse(text, rate.action, f"`{rate.action}` has a rate already", "give each action one rate")
        found[rate.action] = rate
    return found


def _rate(model: Model, text: str) -> Rate:
    parts = _RATE.fullmatch(text)
    if parts is None:
        _refuse(text, text, "a rate is an action, a number and a unit of time", f"such as {_example(model)}")
    name, number, unit = (parts[key].strip() for key in ("action", "number", "unit"))
    timed = {action.name for action in model.actions if action.kind is not Kind.ACTION}
    if name not in timed:
        known = {action.name for action in model.actions}
        what = "is neither a fault nor a repair" if name in known else f"is no action of {model.name}"
        near = suggest(name, timed) or f"there are {', '.join(sorted(timed)) or 'none'}"
        _refuse(text, name, f"`{name}` {what}", near)
    if unit not in UNITS:
        _refuse(text, unit, f"there is no unit `{unit}`", f"the units are {', '.join(UNITS)}")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (0 < value < math.inf):
        _refuse(
            text, number, f"`{number}` is no rate: it is not a number above 0", "leave out what never happens"
        )
    return Rate(name, value / UNITS[unit], f"{number}/{unit}")


def _example(model: Model) -> str:
    timed = [action.name for action in model.actions if action.kind is not Kind.ACTION]
    return f"`{timed[0] if timed else 'crash'}=2/y`"


def _refuse(text: str, part: str, message: str, help_: str) -> NoReturn:
    at = max(0, text.find(part))
    span = Span(at, at + max(1, len(part)))
    raise SpecError([Diagnostic("R0920", Source(OPTION, text), span, message, help=help_)])
