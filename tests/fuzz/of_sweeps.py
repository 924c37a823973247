"""What Python programs are told of many questions at once, and each of these questions asked alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Self
from unittest.mock import patch

from modelcheck.asking.sweep_rows import Row
from modelcheck.contract.wording import verdict_name
from modelcheck.python_api import Value, sweep
from spec.model.ir import Budget, Check
from spec.model.types import Bool
from tests.agreement import Found
from tests.fuzz.cases import Case
from tests.fuzz.findings import Differences
from tests.fuzz.of_runs import runs_in

COLUMNS = ("property", "verdict", "run_faults", "run_steps", "states", "transitions")


class Here:
    """Work that is done in this process: to start another one takes longer than these searches."""

    ended = ""

    def __init__(self, work: Callable[[int], Any], *_: object) -> None:
        self._work = work

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def each(self, count: int, _: object = None) -> Iterator[tuple[int, Any]]:
        """Every job with its result."""
        return self.some(range(count))

    def some(self, numbers: Iterable[int], _: object = None) -> Iterator[tuple[int, Any]]:
        """The jobs of these numbers, each with its result."""
        return ((number, self._work(number)) for number in numbers)


def swept(case: Case) -> Differences | None:
    """Every row of a sweep."""
    vary = _vary(case)
    if not vary:
        return None
    asked = replace(case.asked, expect=())
    points = list(product(*vary.values()))
    alone = [_rows(case.by_reference(_at(asked, dict(zip(vary, point, strict=True))))) for point in points]
    with patch("modelcheck.asking.crew.Workers", Here):
        rows = sweep(replace(case.model, checks=(asked,)), vary=vary)
    found: dict[str, tuple[object, object]] = {}
    for point, expected in zip(points, alone, strict=True):
        told = [row for row in rows if tuple(row[name] for name in vary) == point]
        found[f"{dict(zip(vary, point, strict=True))}"] = expected, [_told(row) for row in told]
    return found


def _vary(case: Case) -> dict[str, list[Value]]:
    """One or two names, each with two values."""
    chance, model, scope = case.random("sweep"), case.model, case.asked.scope
    values: dict[str, list[Value]] = {name: [bound, max(0, bound - 1)] for name, bound in scope.nats.items()}
    values |= {name: [0, bound or 1] for name, bound in scope.networks.items()}
    values |= {entry.name: [True, False] for entry in model.configs if isinstance(entry.type, Bool)}
    if case.asked.budget.kinds is None and model.faults:
        values["faults"] = [1, 0]
    names = [name for name, each in values.items() if len(set(each)) == len(each)]
    return {name: values[name] for name in chance.sample(names, min(2, len(names)))}


def _at(asked: Check, settings: dict[str, Value]) -> Check:
    """The check with other settings, put there by hand."""
    scope, budget = asked.scope, asked.budget
    nats = {name: int(settings.get(name, bound)) for name, bound in scope.nats.items()}
    networks = {name: int(settings.get(name, bound)) for name, bound in scope.networks.items()}
    config = {name: settings.get(name, value) for name, value in scope.config.items()}
    if "faults" in settings:
        budget = Budget(int(settings["faults"]))
    return replace(asked, scope=replace(scope, nats=nats, networks=networks, config=config), budget=budget)


def _rows(found: Found) -> list[tuple[object, ...]]:
    """What there is to tell of a question, a row for each property."""
    if found.findings is None:
        return [(None, "unknown", None, None, None, None)]
    stats, runs = found.findings.stats, runs_in(found.findings)
    rows: list[tuple[object, ...]] = []
    for result in found.findings.results:
        run = runs.get(result.property)
        cost = (None, None) if run is None else (run.faults, len(run.steps))
        rows.append((result.property, verdict_name(result.verdict), *cost, stats.states, stats.transitions))
    return rows


def _told(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in COLUMNS)
