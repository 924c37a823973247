"""What is due before a timeline begins is never more than what a run does there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from modelcheck.kafka.incident.explain_log.earlier_starts import EarlierStarts, earlier_starts
from modelcheck.kafka.incident.explain_log.observations import Decided
from modelcheck.kafka.incident.explain_log.product import BEGINS, FALLS
from spec.meaning.semantics import State
from tests.modelcheck.kafka.explain_log.walks import NAMES, SAID, Walk, walk

WALKS = 150


def decided(state: State) -> Decided:
    leader, epoch, isr, eligible = (state[NAMES[name]] for name in ("leader", "epoch", "isr", "eligible"))
    return Decided(leader, epoch, isr, eligible, SAID)


def beginning(taken: Walk, number: int) -> EarlierStarts | None:
    """What lies before a timeline that begins with a state of a walk, to which the ISR has only shrunk."""
    before = [decided(state) for state in taken.states[: number + 1]]
    if any(each.epoch > 1 for each in before) or any(
        not one.isr >= other.isr for one, other in pairwise(before)
    ):
        return None
    first = before[-1]
    return earlier_starts(replace(taken.observed, events=(first,), whole=False), taken.scope)


def test_what_is_due_before_a_timeline_is_never_more_than_what_a_run_does() -> None:
    tight = 0
    for seed in range(WALKS):
        taken = walk(seed, brokers=3, faults=5)
        for number in range(1, len(taken.states)):
            earlier = beginning(taken, number)
            if earlier is None:
                continue
            for begin, state in enumerate(taken.states[: number + 1]):
                up = [
                    runs or broker in state[NAMES["registered"]]
                    for broker, runs in enumerate(state[NAMES["Broker.up"]])
                ]
                strikes, falls = earlier.due(decided(state).control, up)
                steps = taken.steps[begin:number]
                controls = [decided(each).control for each in taken.states[begin : number + 1]]
                done = sum(
                    step.action in BEGINS and earlier.strikes(step.args[0], was, now)
                    for step, (was, now) in zip(steps, pairwise(controls), strict=True)
                )

                assert strikes <= done
                assert falls <= sum(step.action in FALLS - {"shut_down"} for step in steps)
                tight += falls > 0

    assert tight > 10


def test_nothing_is_due_before_a_timeline_that_begins_with_the_partition() -> None:
    taken = walk(0, brokers=3)

    assert earlier_starts(taken.observed, taken.scope) is None
