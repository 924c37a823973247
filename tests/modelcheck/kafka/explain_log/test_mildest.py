"""A loss of power or of a disk is told only where the files speak for one."""

from __future__ import annotations

from modelcheck.asking.overrides import Overrides, free_check
from modelcheck.kafka.incident.explain_log.configuration import model
from modelcheck.kafka.incident.explain_log.mildest import mildest
from modelcheck.kafka.incident.explain_log.observations import (
    Back,
    Decided,
    Ended,
    Event,
    Gone,
    Interval,
    Left,
    LineObservation,
    Observed,
    Registered,
)
from modelcheck.kafka.incident.explain_log.product import STARTS, ObservationProduct
from modelcheck.kafka.incident.explain_log.run_search import ExplanationLimits, ExplanationResult, fewest
from tests.modelcheck.kafka.explain_log.walks import SAID

LIMITS = ExplanationLimits(states=4_000, faults=2)


def silent(*_: int) -> None:
    pass


def incident(*, new_directory: bool = False) -> Observed:
    """The leader has a record that the other never gets, dies, and comes back; its log ends without it.

    Its log has a line from which it had the record, and one of a start after no clean shutdown.
    """
    events: tuple[Event, ...] = (
        Decided(0, 1, frozenset({0, 1}), frozenset(), SAID),
        Gone(0, SAID),
        Decided(1, 2, frozenset({1}), frozenset(), SAID),
        Registered(0, new_directory, SAID),
        Back(0, new_directory, SAID, restarted=True),
    )
    ends = {n: Ended(n, (1,), 1, Left.CLEAN, True, SAID, SAID, SAID) for n in (0, 1)}  # noqa: FBT003
    log = (
        LineObservation(0, SAID, length=(2, 2), epoch=1),
        LineObservation(0, SAID, up=False, stopped=False, actions=STARTS, ahead=True),
    )
    return Observed(("b1", "b2"), events, ends, (Interval(0, 1), Interval(1, 2)), whole=True, logs=(log,))


def explained(observed: Observed) -> tuple[ExplanationResult, ExplanationResult]:
    """The run with the fewest steps, and the mildest one."""
    bounds = ("Broker=2", "Epoch=2", "Offset=2", "Record=3")
    scope = free_check(model(), Overrides(bounds, ("min_isr=1", "acks=one"), None, "3.9")).scope
    product = ObservationProduct(model(), scope, observed)
    found = fewest(product, LIMITS, silent)
    return found, mildest(product, LIMITS, found, silent)


def faults(found: ExplanationResult) -> list[str]:
    assert found.run is not None
    return [step.action for step in found.run.steps if step.action in model().faults]


def test_a_kill_is_told_as_a_kill_where_one_more_step_explains_as_much() -> None:
    shortest, told = explained(incident())

    assert faults(shortest) == ["power_loss"]
    assert faults(told) == ["crash"]


def test_a_registration_with_another_directory_is_of_a_broker_that_lost_its_disk() -> None:
    _, told = explained(incident(new_directory=True))

    assert faults(told) == ["disk_loss"]
