"""Whatever the model does and files show of it is explained, with no more faults than it had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from modelcheck.kafka.incident.explain_log.configuration import model
from modelcheck.kafka.incident.explain_log.evidence import lines_by_step
from modelcheck.kafka.incident.explain_log.explanation import late
from modelcheck.kafka.incident.explain_log.metadata_timeline import TopicSettings
from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Observed
from modelcheck.kafka.incident.explain_log.product import ObservationProduct, Point
from modelcheck.kafka.incident.explain_log.run_search import ExplanationLimits, ExplanationSearch
from spec.meaning.semantics import Step
from tests.modelcheck.kafka.explain_log.walks import (
    CHANGING,
    LIMIT,
    SAID,
    aged,
    long_history,
    long_log,
    searched,
    silent,
    walk,
    with_logs,
)

TWO, THREE = 40, 10
PROVEN = (
    3001,
    3023,
    3033,
    3036,
    3069,
    3075,
    3086,
    3099,
    3101,
    3110,
    3111,
    3116,
)  # walks with faults of the network that the timeline proves
MIN_ISR = TopicSettings(min_isr=2)


def decided(seeds: Iterable[int], *, logs: bool = False, changing: bool = False, **shape: int) -> int:
    """How many walks are searched to the end; each of those is explained, with no more faults than it has."""
    count = 0
    for seed in seeds:
        taken = walk(seed, changing=changing, **shape)
        observed = with_logs(taken, seed) if logs else taken.observed
        product = ObservationProduct(model(CHANGING) if changing else model(), taken.scope, observed)
        found = ExplanationSearch(product, ExplanationLimits(states=LIMIT, faults=taken.faults), silent).run()
        if found.run is None and not found.complete:
            continue
        count += 1

        assert found.run is not None, f"walk({seed}): {[product.machine.name(step) for step in taken.steps]}"
        assert _faults(found.run.steps) <= taken.faults
    return count


class WithoutBounds(ObservationProduct):
    """A product that knows of no fault that is still to come."""

    def due(self, point: Point) -> int:  # noqa: ARG002 - as its base class has it
        return 0


def test_every_run_of_two_brokers_is_explained() -> None:
    assert decided(range(TWO)) > TWO * 0.8


def test_every_run_of_three_brokers_is_explained() -> None:
    assert decided(range(1000, 1000 + THREE), brokers=3, length=24) > THREE * 0.5


def test_every_run_with_lines_of_it_is_explained() -> None:
    assert decided(range(TWO), logs=True) > TWO * 0.6


def test_every_run_with_settings_that_change_is_explained() -> None:
    assert decided(range(2000, 2000 + TWO), changing=True) > TWO * 0.8


def test_a_run_made_late_is_a_run_with_the_same_steps() -> None:
    for seed in range(12):
        taken = walk(seed)
        product = ObservationProduct(model(), taken.scope, taken.observed)
        found = ExplanationSearch(product, ExplanationLimits(states=LIMIT), silent).run().run
        if found is None:
            continue
        made = late(product, found)

        assert sorted(map(repr, made.steps)) == sorted(map(repr, found.steps))
        assert (made.points[0], made.points[-1]) == (found.points[0], found.points[-1])
        for before, step, after in zip(made.points, made.steps, made.points[1:], strict=False):
            assert (step, after) in list(product.next(before, frozenset({step.action})))


def _faults(steps: tuple[Step, ...]) -> int:
    return sum(step.action in model().faults for step in steps)


def test_a_long_history_takes_seconds() -> None:
    taken = long_history(60)
    _, found = searched(taken)

    assert len(taken.events) == 301
    assert found.run is not None
    assert _faults(found.run.steps) == 0


def test_a_long_history_with_its_logs_takes_seconds_too() -> None:
    taken = long_log(60)
    product, found = searched(taken)

    assert sum(map(len, taken.logs)) == 420
    assert found.run is not None
    assert [step.action for step in found.run.steps].count("start_again") == 60
    assert sum(map(len, lines_by_step(product, found.run))) == 420


@pytest.mark.parametrize(
    "kinds",
    [
        ("restart", "follower", "move"),
        ("restart", "follower", "crash"),
        ("restart", "follower", "move", "cut", "cut_off", "crash"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_history_of_an_aged_cluster_takes_few_points(seed: int, kinds: tuple[str, ...]) -> None:
    """Each looks at less than twice as many points as the run has steps."""
    taken = aged(seed, 40, kinds)
    _, found = searched(taken.observed, MIN_ISR)

    assert taken.observed.epochs > 10
    assert found.run is not None
    assert len(found.run.steps) > 300
    assert found.seen < 2 * len(found.run.steps)


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_the_history_of_an_aged_cluster_with_logs_takes_few_points(seed: int) -> None:
    taken = aged(seed, 25, ("restart", "follower", "move", "cut", "cut_off", "crash"))
    observed = with_logs(taken, seed)
    _, found = searched(observed, MIN_ISR)

    assert sum(map(len, observed.logs)) > 150
    assert found.run is not None
    assert _faults(found.run.steps) == taken.faults
    assert found.seen < 4 * len(found.run.steps)


@pytest.mark.parametrize("kind", ["cut", "cut_off"])
def test_each_fault_of_the_network_is_known_before_the_search(kind: str) -> None:
    taken = aged(1, 12, (kind,))
    product, found = searched(taken.observed, MIN_ISR)

    assert max(map(product.due, product.starts())) == taken.faults == 12
    assert found.run is not None
    assert _faults(found.run.steps) == 12


def test_what_is_known_of_faults_still_to_come_leads_past_no_better_run() -> None:
    for seed in PROVEN:
        taken = walk(seed, faults=4)
        found = []
        for product in (
            ObservationProduct(model(), taken.scope, taken.observed),
            WithoutBounds(model(), taken.scope, taken.observed, look_ahead=False),
        ):
            limits = ExplanationLimits(states=3 * LIMIT, faults=taken.faults)  # without bounds it takes more
            found.append(ExplanationSearch(product, limits, silent).run())

        assert all(each.run is not None for each in found)
        assert found[0].faults == found[1].faults


def test_leadership_may_be_moved_any_number_of_times() -> None:
    _, found = searched(aged(1, 20, ("move",)).observed, MIN_ISR)

    assert found.run is not None
    assert [step.action for step in found.run.steps].count("move") == 20
    assert _faults(found.run.steps) == 0


def test_what_was_before_the_metadata_begins_is_free() -> None:
    two = frozenset({0, 1})
    events = (Decided(1, 1, two, frozenset(), SAID), Decided(1, 1, two | {2}, frozenset(), SAID))
    taken = Observed(("b1", "b2", "b3"), events, {}, (), whole=False)
    _, found = searched(taken)

    assert found.run is not None
    assert _faults(found.run.steps) == 1  # nothing says that broker 3 was down: it was cut off
    back = Back(2, new_directory=None, evidence=SAID)
    _, found = searched(replace(taken, events=(events[0], back, events[1])))

    assert found.run is not None
    assert [step.action for step in found.run.steps][:2] == ["shut_down", "shrink"]
    assert _faults(found.run.steps) == 0
