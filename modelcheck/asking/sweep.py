"""Many questions at once: the points of a grid, each answered by a search of its own.

Searches of one thread each take all the cores that there are; where they run is for a `Crew`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import product

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.asking.crew import Crew, Processes
from modelcheck.asking.models import pick_model
from modelcheck.asking.overrides import Overrides, free_check, only, put
from modelcheck.contract.assessment import assess
from modelcheck.contract.engine import Engine, Family, Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import families
from modelcheck.contract.result import Outcome
from modelcheck.engines.registry import engine
from modelcheck.processes.workers import Waits
from spec.diagnostics import mistyped
from spec.frozen import frozen
from spec.model.ir import Check, Model
from spec.model.values import ModelError

MOST_POINTS = 10_000
FAULTS = "faults"  # may be varied as the names of the model may


@frozen
class Axis:
    """A varied name, with its values as typed."""

    name: str
    values: tuple[str, ...]


@frozen
class SweepPoint:
    """A check of a model with one value of each axis."""

    values: tuple[str, ...]
    model: Model
    check: Check


@frozen
class SweepAnswer:
    """The outcome of a search, or why there is none, with the exit code."""

    outcome: Outcome | None
    problem: str = ""
    exit: Exit = Exit.UNKNOWN


@frozen
class Orders:
    """The options for the search of each point."""

    limits: Limits = field(default_factory=Limits)
    symmetry: bool | None = None  # None: as each check says
    at_first: bool = False


def axis(text: str, option: str = "--vary") -> Axis:
    """The axis in `NAME=V,V,…`, where `2..5` means 2,3,4,5. Raises SpecError."""
    name, sign, values = (side.strip() for side in text.partition("="))
    found = tuple(each for part in values.split(",") for each in _range(part.strip(), option))
    if not sign or not name or not all(found) or len(set(found)) < len(found):
        _wrong(text, f"`{text}` is not of the form NAME=VALUE,VALUE,… with each value once", option)
    return Axis(name, found)


def _range(part: str, option: str) -> Sequence[str]:
    """The values in `2..5`, or the single value."""
    first, dots, last = part.partition("..")
    if not dots or not first.isdecimal() or not last.isdecimal():
        return (part,)
    found = range(int(first), int(last) + 1)
    if not 0 < len(found) <= MOST_POINTS:
        _wrong(
            part, f"`{part}` is not from a number to one that is no less, of at most {MOST_POINTS:,}", option
        )
    return [str(number) for number in found]


def points(
    models: tuple[Model, ...],
    checks: Sequence[tuple[Model, Check]],
    axes: Sequence[Axis],
    given: Overrides,
    *,
    of: str | None = None,
    properties: Sequence[str] = (),
) -> list[SweepPoint]:
    """Each check at each point of the grid, the last axis varying fastest; without checks a free one.

    What checks expect is minded where nothing is varied, and forgotten else.
    Raises SpecError for a name that the model does not have, a value that does not fit, and too many points.
    """
    count = max(1, len(checks)) * math.prod(len(each.values) for each in axes)
    if count > MOST_POINTS:
        text = " ".join(each.name for each in axes)
        _wrong(text, f"{count:,} points are too many, more than {MOST_POINTS:,}")
    made = []
    for number in range(max(1, len(checks))):
        model, asked = checks[number] if checks else (pick_model(models, of), None)
        for values in product(*(each.values for each in axes)):
            settings = _settings(model, axes, values, given)
            if asked is None:
                moved, question = model, free_check(model, settings)
            else:
                moved, question = put(models, model, asked, of, settings)
            question = only(moved, question, properties)
            made.append(SweepPoint(values, moved, replace(question, expect=()) if axes else question))
    return made


def _settings(model: Model, axes: Sequence[Axis], values: Sequence[str], given: Overrides) -> Overrides:
    """The changes for all points, with the values of one."""
    switches = {entry.name for entry in model.configs}
    for each, value in zip(axes, values, strict=True):
        if each.name in switches:
            given = replace(given, config=(*given.config, f"{each.name}={value}"))
        elif each.name == FAULTS:
            given = replace(given, faults=value)
        else:
            given = replace(given, scope=(*given.scope, f"{each.name}={value}"))
    return given


def answer(
    point: SweepPoint, orders: Orders, *, engine: Engine | None = None, family: Family | None = None
) -> SweepAnswer:
    """The answer of one search with one thread, by a given engine or the fastest that can."""
    try:
        outcome = check(
            point.model,
            point.check,
            engine=engine,
            limits=orders.limits,
            symmetry=orders.symmetry,
            threads=1,
            family=family,
            at_first=orders.at_first,
        )
    except Unmet as unmet:
        names = ", ".join(each.name for each in unmet.assumes)
        return SweepAnswer(None, f"against the assumption {names}", Exit.EXPECTED)
    except Unsupported as unsupported:
        if engine is not None:
            return answer(point, orders)
        return SweepAnswer(None, str(unsupported), Exit.UNKNOWN)
    except ModelError as error:
        return SweepAnswer(None, f"the model cannot start: {error.message}", Exit.WRONG)
    return SweepAnswer(outcome, exit=assess(outcome).exit)


class PointSearch:
    """Answers points one at a time, by an engine of this process, which keeps what it has compiled."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._engine: Engine | None = None

    def __call__(self, point: SweepPoint, family: Family | None = None) -> SweepAnswer:
        """The answer of one point."""
        self._engine = self._engine or engine("explicit", series=True)
        return answer(point, self._orders, engine=self._engine, family=family)


class Answering:
    """Answers the points of a sweep by index, sharing kernels within a family."""

    def __init__(self, points: Sequence[SweepPoint], orders: Orders) -> None:
        self._points = tuple(points)
        self._families = families([(point.model, point.check) for point in points])
        self._search = PointSearch(orders)

    @property
    def kinds(self) -> list[int]:
        """For each point a number that it has in common with those of its family."""
        return [number if of is None else -id(of) for number, of in enumerate(self._families)]

    def __call__(self, number: int) -> SweepAnswer:
        """The answer of the point with an index."""
        return self._search(self._points[number], self._families[number])

    def failed(self, number: int, problem: str) -> SweepAnswer:  # noqa: ARG002 - whichever it is
        """The answer of a point whose search failed for good."""
        return SweepAnswer(None, problem)


def answers(
    points: Sequence[SweepPoint], orders: Orders, crew: Crew | None = None, waits: Waits = lambda: None
) -> Iterator[tuple[int, SweepAnswer]]:
    """The index and answer of each point, as they are ready; fewer after an interrupt.

    `waits` is called now and then while none comes.
    """
    at_work = crew or Processes()
    orders = replace(orders, limits=at_work.share(orders.limits, len(points)))
    models = list({id(point.model): point.model for point in points}.values())
    yield from at_work.done(Answering(points, orders), len(points), models, waits)


def _wrong(text: str, message: str, option: str = "--vary") -> None:
    """Raise SpecError for an axis."""
    raise mistyped(option, text, message)
