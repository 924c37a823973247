"""Asks what partitions that are not well lose from their state, and what each way out of it brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from modelcheck.kafka.questions.answers import Answer, ask_all, ask_mixed
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.questions.today.degraded import can_ask, degraded, with_true_names
from modelcheck.kafka.questions.today.findings import StateFindings, Today, Way, WayOut
from modelcheck.kafka.settings.resolution.partition_states import PartitionState

_ORDER = {guarantee.name: place for place, guarantee in enumerate(GUARANTEES)}


def today(
    asking: Asking, subject: PartitionModel, states: Sequence[PartitionState], faults: int
) -> Today | None:
    """The findings about each state with at most `faults` further faults; None without such a state.

    Costs as much as the review of the settings for each state, and two kernels for all of them.
    """
    if not states:
        return None
    asked = [_findings(asking, subject, each, faults) for each in states if can_ask(each)]
    asked.sort(key=_risk)
    return Today(tuple(asked), tuple(each for each in states if not can_ask(each)))


def worst_today(found: Sequence[Today | None]) -> Today | None:
    """The worst of the findings about the same states in several cases; None if there are none."""
    return min(
        (each for each in found if each is not None),
        key=lambda one: list(map(_risk, one.states)),
        default=None,
    )


def _risk(found: StateFindings) -> tuple[float, ...]:
    """A sort key: what is broken with the fewest faults comes first, the most important guarantee first."""
    mixed = [found.answer(guarantee.name) for guarantee in GUARANTEES]
    with_ = [None if each is None else each.lost_with for each in mixed]
    return tuple(float("inf") if each is None else each for each in with_)


def _findings(asking: Asking, subject: PartitionModel, state: PartitionState, faults: int) -> StateFindings:
    """The findings about one state."""
    worst = degraded(subject, state, kept=False)
    mixed = ask_mixed(asking, worst, faults)
    answers = _named(ask_all(asking, worst, faults, mixed), state)
    kept: tuple[Answer, ...] = ()
    if _may_have_lost(worst, state):
        kept = _mixed(asking, degraded(subject, state, kept=True), state, faults)
    ways = tuple(_ways(asking, subject, state, faults))
    return StateFindings(state, worst, answers, kept, ways)


def _may_have_lost(partition: PartitionModel, state: PartitionState) -> bool:
    """Whether it makes a difference that an offline replica kept its records.

    With acks=all a replica outside an ISR that is too small had what was acknowledged.
    """
    too_few = partition.config["acks"] == "all" and len(state.isr) < int(partition.config["min_isr"])
    return state.leader is None or bool(state.elr) or too_few


def _mixed(
    asking: Asking, partition: PartitionModel, state: PartitionState, faults: int
) -> tuple[Answer, ...]:
    """The answers for any mixture of faults."""
    return _named([a for each in ask_mixed(asking, partition, faults) for a in each], state)


def _named(answers: Sequence[Answer], state: PartitionState) -> tuple[Answer, ...]:
    """The answers with the partition's own brokers in their runs, the most important guarantee first."""
    named = [a if a.loss is None else replace(a, loss=with_true_names(a.loss, state)) for a in answers]
    return tuple(sorted(named, key=lambda each: _ORDER[each.guarantee.name]))


# ------------------------------------------------------------------ ways out


def _ways(asking: Asking, subject: PartitionModel, state: PartitionState, faults: int) -> Iterator[Way]:
    """What can be done from here, with the answers after it, what loses least first."""
    for way, brokers, after in _after(state):
        partition = degraded(subject, after, kept=True, stuck=state.leader is not None)
        yield Way(way, brokers, _mixed(asking, partition, after, faults))
    others = (*state.outside, *(state.elr if state.leader is None else ()))
    if state.leader is None and others:
        allowed = degraded(replace(subject, config={**subject.config, "unclean": True}), state, kept=True)
        found = _mixed(asking, allowed, state, 0)
        yield Way(WayOut.UNCLEAN, others, found)


def _after(state: PartitionState) -> Iterator[tuple[WayOut, tuple[int, ...], PartitionState]]:
    """The ways out with the state after each; all replicas in sync is no such state."""
    if state.leader is None and state.isr:
        yield WayOut.IN_SYNC_RETURN, state.isr, _led(state, state.isr)
    elif state.leader is None and state.elr:
        yield WayOut.ELIGIBLE_RETURN, state.elr, _led(state, state.elr[:1])
    elif state.leader is not None and len(state.isr) + 1 < len(state.replicas):
        back = (*state.elr, *state.outside)
        yield WayOut.ANOTHER_IN_SYNC, back, _led(state, (*state.isr, back[0]))


def _led(state: PartitionState, isr: tuple[int, ...]) -> PartitionState:
    """The state with a leader and these in-sync replicas; the others that run are as they were."""
    leader = isr[0] if state.leader is None else state.leader
    left = tuple(node for node in state.elr if node not in isr)
    part = replace(state.partition, leader=leader, isr=isr, elr=left, last_known_elr=None)
    runs = tuple(node for node in state.running if node not in isr)
    return replace(state, partition=part, running=runs)
