"""Where no run explains files: the first observation that none does, and the actions that come nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from counterexamples.nearest import guard_text, refusing, why_not
from modelcheck.kafka.incident.explain_log.configuration import Setting
from modelcheck.kafka.incident.explain_log.observations import (
    Back,
    Decided,
    Ended,
    Event,
    Evidence,
    Left,
    Observed,
    Registered,
)
from modelcheck.kafka.incident.explain_log.product import BEGINS, RETURNS, ObservationProduct, Point
from modelcheck.kafka.incident.explain_log.run_search import (
    ExplanationLimits,
    ExplanationResult,
    ExplanationSearch,
    OnProgress,
)
from spec.frozen import frozen
from spec.meaning.semantics import CutOff

POINTS, MOST_NAMED = 50, 3  # points that are looked at, and actions that are named


@frozen
class Unexplained:
    """The first observation that no run explains with those before it, and the nearest steps.

    `nearest` are sentences.
    """

    evidence: Evidence
    nearest: tuple[str, ...]


def of_log_alone(
    setting: Setting, observed: Observed, limits: ExplanationLimits, on_progress: OnProgress
) -> ExplanationResult:
    """The search for a run that explains the metadata log alone, as a cheap first test."""
    return ExplanationSearch(_product(setting, _of_spine(observed)), limits, on_progress).run()


def first_unexplained(
    setting: Setting,
    observed: Observed,
    alone: ExplanationResult,
    limits: ExplanationLimits,
    on_progress: OnProgress,
) -> Unexplained | None:
    """The first observation that no run explains: in the metadata log, then by directory.

    Then of one log after the other, line by line.  `alone` is the search for the metadata log alone; costs
    one more for each part of a directory and each log, and some for the log that none explains.
    None where a search did not finish, so that the answer is not known.
    """
    if alone.run is None:
        return _in_spine(setting, _of_spine(observed), limits, on_progress)
    for part, evidence in _parts(_of_spine(observed), observed.ends):
        result = ExplanationSearch(_product(setting, part), limits, on_progress).run()
        if result.run is None:
            return Unexplained(evidence, ()) if result.complete else None
    return _in_logs(setting, observed, limits, on_progress)


def _of_spine(observed: Observed) -> Observed:
    """The observations of the metadata log alone."""
    return replace(observed, ends={}, logs=(), starts={})


def _in_logs(
    setting: Setting, observed: Observed, limits: ExplanationLimits, on_progress: OnProgress
) -> Unexplained | None:
    """The first line that no run explains with all before it, found by bisection."""

    def explained(number: int, count: int) -> bool | None:
        logs = (*observed.logs[:number], observed.logs[number][:count])
        starts = {broker: log for broker, log in observed.starts.items() if log < number}
        result = ExplanationSearch(
            _product(setting, replace(observed, logs=logs, starts=starts)), limits, on_progress
        ).run()
        return True if result.run is not None else False if result.complete else None

    for number, log in enumerate(observed.logs):
        good, bad = 0, len(log)
        if explained(number, bad) is not False:
            continue
        while bad - good > 1:
            half = (good + bad) // 2
            answer = explained(number, half)
            if answer is None:
                return None
            good, bad = (half, bad) if answer else (good, half)
        evidence = next((each.evidence for each in log[bad - 1 :] if each.evidence is not None), None)
        return None if evidence is None else Unexplained(evidence, ())
    return None


def _product(setting: Setting, observed: Observed) -> ObservationProduct:
    """The product of the model and the observations."""
    return ObservationProduct(setting.model, setting.scope, observed)


def _parts(spine: Observed, all_ends: Mapping[int, Ended]) -> Iterator[tuple[Observed, Evidence]]:
    """Growing sets of observations: the metadata log, then part by part of each directory."""
    ends: dict[int, Ended] = {}
    for broker, end in all_ends.items():
        bare = replace(end, log=None, mark=0, left=Left.UNKNOWN, folder=False)
        steps = (
            (replace(bare, left=end.left), end.left_evidence),
            (replace(bare, left=end.left, log=end.log, folder=end.folder), end.log_evidence),
            (end, end.mark_evidence),
        )
        for part, evidence in steps:
            ends[broker] = part
            yield replace(spine, ends=dict(ends)), evidence


def _in_spine(
    setting: Setting, spine: Observed, limits: ExplanationLimits, on_progress: OnProgress
) -> Unexplained | None:
    """The first unexplained event of the metadata log, by the points that got furthest."""
    product = ObservationProduct(setting.model, setting.scope, spine, look_ahead=False)
    result = ExplanationSearch(product, limits, on_progress).run()
    if not result.furthest or not result.complete:
        return None
    position = result.furthest[0].position
    event = product.events[position]
    nearest = dict.fromkeys(
        sentence for point in result.furthest[:POINTS] for sentence in _nearest(product, point, event)
    )
    return Unexplained(event.evidence, tuple(nearest)[:MOST_NAMED])


def _nearest(product: ObservationProduct, point: Point, event: Event) -> Iterator[str]:
    """The steps that would explain an event, and the guards that refuse them, in sentences."""
    machine = product.machine
    for found in machine.unguarded(point.state):
        if isinstance(found, CutOff) or not _does(
            product, found.step.action, found.step.args, found.state, event
        ):
            continue
        guard = refusing(machine, found.step, point.state)
        if guard is None:
            continue
        name = machine.name(found.step)
        try:
            because = why_not(machine, guard, found.step, point.state)
        except Exception:  # noqa: BLE001 - the reason is one more help, and the guard is shown without it
            because = f"{guard_text(machine, guard)} is false"
        yield f"{name} would do it, but its {because}"


def _does(
    product: ObservationProduct,
    action: str,
    args: tuple[object, ...],
    after: tuple[object, ...],
    event: Event,
) -> bool:
    """Whether a step explains an event."""
    match event:
        case Decided():
            return product.control(after) == event.control
        case Back(broker):
            return action in RETURNS and args[0] == broker
        case Registered(broker):
            return action in BEGINS and args[0] == broker
        case _:
            return False
