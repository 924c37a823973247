"""Records that a deposed leader may have acknowledged alone (acks=1): cut off, they are in no directory."""

from __future__ import annotations

from collections.abc import Iterator

from modelcheck.kafka.incident.at_rest.untraced import Cause, Untraced
from modelcheck.kafka.incident.explain_log.observations import (
    Back,
    Decided,
    Gone,
    Left,
    Observed,
    Registered,
)


def deposed(observed: Observed) -> Untraced | None:
    """From where on acknowledged records may be gone with a leader that was deposed and then followed.

    None if no leader was deposed, or only brokers that never followed since: their logs are as they were.
    """
    found = next(_elections(observed), None)
    if found is None:
        return None
    leader, epoch = found
    logs = [end.log or () for end in observed.ends.values()]
    begun = (n for log in logs for n, each in enumerate(log) if each is not None and each >= epoch)
    place = min(begun, default=max(map(len, logs), default=0))
    intervals = observed.intervals
    since = intervals[place].start if place < len(intervals) else intervals[-1].end if intervals else 0
    return Untraced(Cause.DEPOSED, leader, since, all_acks=False)


def _elections(observed: Observed) -> Iterator[tuple[int, int]]:
    """Who was deposed by the election of another leader, and followed since, with the epoch of that."""
    led: int | None = None
    for number, event in enumerate(observed.events):
        if not isinstance(event, Decided) or event.leader is None:
            continue
        if led not in {None, event.leader} and not _stays_down(observed, led, number):
            yield int(observed.brokers[led].removeprefix("broker")), event.epoch
        led = event.leader


def _stays_down(observed: Observed, broker: int, number: int) -> bool:
    """Whether a broker that an election took out of the ISR fell before, and has not come back since."""
    end, event = observed.ends.get(broker), observed.events[number]
    if end is None or end.left is not Left.UNCLEAN or not end.folder or not observed.sessions:
        return False
    if isinstance(event, Decided) and broker in event.isr:
        return False
    starts = [
        n
        for n, each in enumerate(observed.events)
        if isinstance(each, Registered | Back) and each.broker == broker
    ]
    last = max(starts, default=-1)
    announced = any(
        isinstance(each, Gone) and each.broker == broker and each.announced
        for each in observed.events[last + 1 :]
    )
    return last < number and not announced
