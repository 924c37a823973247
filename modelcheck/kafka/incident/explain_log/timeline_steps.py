"""What steps a timeline takes: how many at least, and which observations one step may explain together."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.explain_log.observations import (
    Back,
    Changed,
    Control,
    Decided,
    Event,
    Gone,
    Registered,
)

MOST_ALONG = 100  # records before one in which those are looked for that it may go with


def steps_needed(events: Sequence[Event]) -> tuple[int, ...]:
    """For each position in the timeline a lower bound on the steps for its remaining events.

    A registration, a return and a change of a setting are each a step, and so is a decision, but for those
    that go with another: members that leave the ISR one after the other, one that stops to be eligible as it
    is registered, a registration just before its return, and those that are eligible no more as a setting
    is changed.
    """
    found = [0]
    for number in reversed(range(len(events))):
        found.append(found[-1] + (not isinstance(events[number], Gone) and not _goes_along(events, number)))
    return tuple(reversed(found))


def _goes_along(events: Sequence[Event], number: int) -> bool:
    """Whether one step may explain a decision together with an adjacent event."""
    event = events[number]
    if not isinstance(event, Decided):
        return _returns_with(event, _behind(events, number))
    before = [each for each in events[max(0, number - MOST_ALONG) : number] if isinstance(each, Decided)][-2:]
    same = bool(before) and before[-1].control[:3] == event.control[:3]
    if same and isinstance(events[number - 1], Changed):
        return True
    if len(before) == 2 and _shrinks(before[0], before[1]) and _shrinks(before[1], event):
        return True
    return same and isinstance(_behind(events, number), Registered | Back)


def _returns_with(event: Event, behind: Event | None) -> bool:
    """Whether an event is a registration, and the one behind it the return of that broker."""
    return isinstance(event, Registered) and isinstance(behind, Back) and behind.broker == event.broker


def are_at_once(event: Event, behind: Event) -> bool:
    """Whether a registration and the return behind it are of one process: it has not gone down between."""
    return _returns_with(event, behind) and isinstance(behind, Back) and behind.restarted is True


def _behind(events: Sequence[Event], number: int) -> Event | None:
    """The event after this one, lost sessions aside."""
    return next((each for each in events[number + 1 :] if not isinstance(each, Gone)), None)


def _shrinks(before: Decided, after: Decided) -> bool:
    """Whether a decision only removes members from the ISR."""
    return before.leader == after.leader and before.epoch == after.epoch and before.isr > after.isr


def leads_on(was: Control, to: Control, now: Control) -> bool:
    """Whether a decided state may lie, unlogged, between two that the files show."""
    leader, epoch, isr, _ = now
    if epoch not in {was[1], to[1]} or leader not in {was[0], to[0]}:
        return False
    return was[2] >= isr >= to[2] or was[2] <= isr <= to[2]
