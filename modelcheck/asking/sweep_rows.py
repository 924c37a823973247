"""The answers of a sweep as rows of a table, one for each property at each point."""

from __future__ import annotations

from collections.abc import Iterator

from modelcheck.asking.sweep import SweepAnswer, SweepPoint
from modelcheck.contract.result import Unknown
from modelcheck.contract.wording import verdict_name

Row = dict[str, str | int | float | bool | None]


def rows_of(point: SweepPoint, values: Row, answer: SweepAnswer) -> Iterator[Row]:
    """A row for each property; one without a property if there is no outcome."""
    where: Row = {"model": point.model.name, "check": point.check.name, **values}
    outcome = answer.outcome
    if outcome is None:
        nothing = dict.fromkeys(("run_faults", "run_steps", "states", "transitions", "seconds"))
        yield {**where, "property": None, "verdict": "unknown", **nothing, "problem": answer.problem}
        return
    stats = outcome.findings.stats
    counts = {"states": stats.states, "transitions": stats.transitions, "seconds": round(stats.seconds, 3)}
    for result in outcome.findings.results:
        run = outcome.trace(result.property)
        yield {
            **where,
            "property": result.property,
            "verdict": verdict_name(result.verdict),
            "run_faults": None if run is None else run.faults,
            "run_steps": None if run is None else len(run.steps),
            **counts,
            "problem": result.verdict.reason if isinstance(result.verdict, Unknown) else None,
        }
