"""The step of a run with which each log line is shown: one where it is true, near its cause if possible."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.explain_log.observations import Evidence, LineObservation
from modelcheck.kafka.incident.explain_log.product import ObservationProduct
from modelcheck.kafka.incident.explain_log.run_search import Explained

NEVER = -1  # a line cannot be placed there


def lines_by_step(product: ObservationProduct, run: Explained) -> tuple[tuple[Evidence, ...], ...]:
    """For each step of a run the log lines shown with it.

    The lines of a log keep their order, each is placed at a state in which it is true, and as many as
    possible at the steps that usually write them.  Costs lines times steps.
    """
    found: list[list[Evidence]] = [[] for _ in run.steps]
    for log in product.observed.logs:
        for seen, point in zip(log, _points(product, run, log), strict=True):
            if seen.evidence is not None and found:
                step = point + 1 if seen.ahead and point < len(run.steps) else point
                found[max(0, step - 1)].append(seen.evidence)
    return tuple(map(tuple, found))


def _points(product: ObservationProduct, run: Explained, log: Sequence[LineObservation]) -> list[int]:
    """For each line of a log the index of the point of the run at which it is shown."""
    scores: list[list[int]] = []  # of the best way to place all lines up to this one, this one up to a point
    for number, seen in enumerate(log):
        row: list[int] = []
        before = scores[number - 1] if number else [0] * len(run.points)
        best = NEVER
        for point, here in enumerate(run.points):
            if before[point] != NEVER and product.says(seen, here.state, here.position):
                best = max(best, before[point] + _fits(run, seen, point))
            row.append(best)
        scores.append(row)
    found: list[int] = []
    end = len(run.points) - 1
    for number in reversed(range(len(log))):
        row = scores[number]
        end = next(point for point in range(end + 1) if row[point] == row[end])
        found.append(end)
    return found[::-1]


def _fits(run: Explained, seen: LineObservation, point: int) -> int:
    """How well a step fits a line: whether it writes such a line, or leads to the state reported."""
    step = point if seen.ahead else point - 1
    if 0 <= step < len(run.steps) and seen.actions:
        taken = run.steps[step]
        return int(taken.action in seen.actions and bool(taken.args) and taken.args[0] == seen.broker)
    if point and not seen.actions and seen.position:
        return int(run.points[point - 1].position < seen.position)
    return 0
