"""Which parts checks need, for programs."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.trace import Erred
from modelcheck.answers.outcome_json import trace_json
from modelcheck.asking.necessity.search import CheckStanding, NecessityRow

Json = dict[str, object]


def as_json(asked: Sequence[CheckStanding], rows: Sequence[NecessityRow], unanswered: int) -> Json:
    """The checks and the parts as JSON data; `unanswered` is the number of parts without a result."""
    return {
        "checks": [_check(each) for each in asked],
        "parts": [_part(row) for row in rows],
        "unanswered": unanswered,
    }


def _check(asked: CheckStanding) -> Json:
    """A check as JSON data."""
    stands = asked.stands
    return {
        "model": asked.model.name,
        "check": asked.check.name,
        "holds": list(stands.properties),
        "states": stands.states,
        "not_asked": stands.why or None,
    }


def _part(row: NecessityRow) -> Json:
    """A part as JSON data."""
    file, line, column = row.model.source.place(row.part.span.start)
    place = {"file": file, "line": line, "column": column}
    return {
        "part": row.part.name,
        "kind": row.part.kind.name.lower(),
        "mutant": row.part.kind.value,
        **place,
        "needed": row.needed,
        "by": _by(row),
        "held": [each.check.name for each in row.held],
        "same": [each.check.name for each in row.same],
        "unknown": [{"check": each.check.name, "reason": reason} for each, reason in row.unknown],
        "cut": list(row.cut),
        "by_enabled": list(row.by_enabled),
    }


def _by(row: NecessityRow) -> Json | None:
    """The check that needs a part, and the run it prevents, as JSON data."""
    run = row.run
    if run is None or row.needed_by is None:
        return None
    return {
        "model": row.model.name,
        "check": row.needed_by.check.name,
        "property": run.property,
        "error": run.ending.code if isinstance(run.ending, Erred) else None,
        "faults": run.faults,
        "steps": len(run.steps),
        "trace": trace_json(run),
    }
