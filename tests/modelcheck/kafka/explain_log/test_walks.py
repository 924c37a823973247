"""Whatever the model does and files show of it is explained, with no more faults than it had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.incident.explain_log.configuration import model, setting
from modelcheck.kafka.incident.explain_log.evidence import lines_by_step
from modelcheck.kafka.incident.explain_log.explanation import late
from modelcheck.kafka.incident.explain_log.metadata_timeline import TopicSettings
from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Observed
from modelcheck.kafka.incident.explain_log.product import ObservationProduct
from modelcheck.kafka.incident.explain_log.run_search import ExplanationLimits, ExplanationSearch
from spec.meaning.semantics import Step
from tests.modelcheck.kafka.explain_log.walks import (
    CHANGING,
    SAID,
    aged,
    long_history,
    long_log,
    walk,
    with_logs,
)

LIMIT = 4_000  # points; some runs need more, and say nothing here
TWO, THREE = 40, 10
FENCED_WITHOUT_DISK = 37  # the walk in which a broker that is registered loses its disk: a wart


def silent(*_: int) -> None:
    pass


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


def test_every_run_of_two_brokers_is_explained() -> None:
    assert decided(range(TWO)) > TWO * 0.8


def test_every_run_of_three_brokers_is_explained() -> None:
    assert decided(range(1000, 1000 + THREE), brokers=3, length=24) > THREE * 0.5


def test_every_run_with_lines_of_it_is_explained() -> None:
    seeds = [seed for seed in range(TWO) if seed != FENCED_WITHOUT_DISK]
    assert decided(seeds, logs=True) > TWO * 0.6


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
    made = setting(taken, MetadataImage(), TopicSettings(), "all")
    found = ExplanationSearch(
        ObservationProduct(made.model, made.scope, taken), ExplanationLimits(states=LIMIT), silent
    ).run()

    assert len(taken.events) == 301
    assert found.run is not None
    assert _faults(found.run.steps) == 0


def test_a_long_history_with_its_logs_takes_seconds_too() -> None:
    taken = long_log(60)
    made = setting(taken, MetadataImage(), TopicSettings(), "all")
    product = ObservationProduct(made.model, made.scope, taken)
    found = ExplanationSearch(product, ExplanationLimits(states=LIMIT), silent).run()

    assert sum(map(len, taken.logs)) == 420
    assert found.run is not None
    assert [step.action for step in found.run.steps].count("start_again") == 60
    assert sum(map(len, lines_by_step(product, found.run))) == 420


@pytest.mark.parametrize("kinds", [("restart", "follower", "move"), ("restart", "follower", "crash")])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_history_of_an_aged_cluster_takes_few_points(seed: int, kinds: tuple[str, ...]) -> None:
    """Each looks at less than twice as many points as the run has steps."""
    taken = aged(seed, 40, kinds)
    made = setting(taken.observed, MetadataImage(), TopicSettings(min_isr=2), "all")
    product = ObservationProduct(made.model, made.scope, taken.observed)
    found = ExplanationSearch(product, ExplanationLimits(states=LIMIT), silent).run()

    assert taken.observed.epochs > 12
    assert found.run is not None
    assert len(found.run.steps) > 300
    assert found.seen < 2 * len(found.run.steps)


def test_leadership_may_be_moved_any_number_of_times() -> None:
    taken = aged(1, 20, ("move",))
    made = setting(taken.observed, MetadataImage(), TopicSettings(min_isr=2), "all")
    found = ExplanationSearch(
        ObservationProduct(made.model, made.scope, taken.observed), ExplanationLimits(states=LIMIT), silent
    ).run()

    assert found.run is not None
    assert [step.action for step in found.run.steps].count("move") == 20
    assert _faults(found.run.steps) == 0


def test_what_was_before_the_metadata_begins_is_free() -> None:
    two = frozenset({0, 1})
    events = (Decided(1, 1, two, frozenset(), SAID), Decided(1, 1, two | {2}, frozenset(), SAID))
    taken = Observed(("b1", "b2", "b3"), events, {}, (), whole=False)
    made = setting(taken, MetadataImage(), TopicSettings(), "all")
    found = ExplanationSearch(
        ObservationProduct(made.model, made.scope, taken), ExplanationLimits(states=LIMIT), silent
    ).run()

    assert found.run is not None
    assert _faults(found.run.steps) == 1  # nothing says that broker 3 was down: it was cut off
    back = Back(2, new_directory=None, evidence=SAID)
    whole = replace(taken, events=(events[0], back, events[1]))
    found = ExplanationSearch(
        ObservationProduct(made.model, made.scope, whole), ExplanationLimits(states=LIMIT), silent
    ).run()

    assert found.run is not None
    assert [step.action for step in found.run.steps][:2] == ["shut_down", "shrink"]
    assert _faults(found.run.steps) == 0
