"""The clean stops of a run that the files allow to be kills: the fewest faults are of a run with stops."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from modelcheck.kafka.incident.explain_log.observations import Gone
from modelcheck.kafka.incident.explain_log.product import ObservationProduct, Point
from modelcheck.kafka.incident.explain_log.run_search import Explained
from spec.frozen import frozen
from spec.meaning.semantics import Step

STARTS_OF_KILLED = {"start_again": "restart", "register_again": "register"}


@frozen
class Kills:
    """Steps of a run, counted from 0, that are clean stops and can be kills.

    Of those in `likely` the broker led, and the metadata log has no shutdown of it: it lost its session.
    """

    allowed: tuple[int, ...]
    likely: tuple[int, ...]


def kills(product: ObservationProduct, run: Explained) -> Kills:
    """The clean stops of a run that the files allow to be kills.

    Takes the run again from each of them on, up to where it is as it was.
    """
    stops = [number for number, step in enumerate(run.steps) if step.action == "shut_down"]
    allowed = tuple(number for number in stops if with_kills(product, run, {number}) is not None)
    return Kills(allowed, tuple(number for number in allowed if not _is_announced(product, run, number)))


def with_kills(product: ObservationProduct, run: Explained, numbers: Collection[int]) -> Explained | None:
    """The same run with kills in place of some clean stops; None if the files do not allow it."""
    if not numbers:
        return None
    first = min(numbers)
    ways: list[tuple[Point, tuple[tuple[Step, Point], ...]]] = [(run.points[first], ())]
    killed: set[int] = set()
    for number in range(first, len(run.steps)):
        if not killed and number > max(numbers) and any(point == run.points[number] for point, _ in ways):
            taken = next(way for point, way in ways if point == run.points[number])
            return _joined(run, first, taken, number)
        action, broker = run.steps[number].action, (run.steps[number].args or (None,))[0]
        if number in numbers and broker is not None:
            action = "crash"
            killed.add(broker)
        elif broker in killed and action in STARTS_OF_KILLED:
            action = STARTS_OF_KILLED[action]
            killed.discard(broker)
        ways = list(_taken(product, ways, action, run.steps[number]))
        if not ways:
            return None
    ended = next((way for point, way in ways if product.is_end(point)), None)
    return None if ended is None else _joined(run, first, ended, len(run.steps))


def _taken(
    product: ObservationProduct,
    ways: list[tuple[Point, tuple[tuple[Step, Point], ...]]],
    action: str,
    step: Step,
) -> Iterator[tuple[Point, tuple[tuple[Step, Point], ...]]]:
    """The ways with one more step, of an action with the arguments of a step; each point once."""
    found: set[Point] = set()
    for point, way in ways:
        for taken, after in product.next(point, frozenset({action})):
            if taken.args == step.args and after not in found:
                found.add(after)
                yield after, (*way, (taken, after))


def _joined(run: Explained, first: int, way: tuple[tuple[Step, Point], ...], number: int) -> Explained:
    """The run with another way from one of its points to a later one."""
    points = (*run.points[: first + 1], *(point for _, point in way), *run.points[number + 1 :])
    steps = (*run.steps[:first], *(step for step, _ in way), *run.steps[number:])
    return Explained(points, steps)


def _is_announced(product: ObservationProduct, run: Explained, number: int) -> bool:
    """Whether nothing speaks against a clean stop: a leader's is written down before it ends its session."""
    point, (broker, *_) = run.points[number], run.steps[number].args
    if point.state[product.at("leader")] != broker:
        return True
    following = product.events[point.position :]
    gone = next((each for each in following if isinstance(each, Gone) and each.broker == broker), None)
    return gone is None or gone.announced
