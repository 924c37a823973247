"""The newest part of a timeline, from a state on of which the files say what it was.

NOTE(newest): a part begins where the controller has all replicas in sync, each with a session, and none
eligible beyond them, in an epoch below whose first offset no log here has other records than the rest have.
What the model then begins with is what was: all brokers up, and one history.  How much of it each broker had
is free, as it is in no file.  Which records of it were acknowledged is in no file either, so all that may
have been written by then count as acknowledged and as committed: a loss among them is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from modelcheck.kafka.files.checkpoints import EpochStart
from modelcheck.kafka.files.partition_log import PartitionLog
from modelcheck.kafka.incident.explain_log.metadata_timeline import Beginning, Spine, TopicSettings
from modelcheck.kafka.incident.explain_log.observations import (
    ALLOWS,
    SETS_MIN_ISR,
    SETTING,
    Back,
    Changed,
    Decided,
    Event,
    Gone,
    Registered,
)


def beginnings(spine: Spine, logs: Sequence[PartitionLog]) -> Iterator[Beginning]:
    """The states with which a part of a timeline begins that can be explained alone: one of each epoch.

    None without sessions, as where the timeline is from lines of logs.
    """
    if not spine.sessions:
        return
    agreed = _agreed(logs)
    epoch_of = {number: epoch for epoch, number in spine.epochs}
    found: set[int] = set()
    for index in _whole_states(spine):
        event = spine.events[index]
        if not isinstance(event, Decided) or event.epoch in found or (spine.whole and index == 0):
            continue
        epoch = epoch_of[event.epoch]
        offset = _end_of(epoch - 1, logs)
        if offset <= agreed and not any(each.start < offset for each in _since(epoch, logs)):
            found.add(event.epoch)
            earlier = (each for each in reversed(spine.events[:index]) if isinstance(each, Decided))
            before = next(earlier, None)
            has_begun = before is None or before.epoch == event.epoch
            promised = _end_of(epoch, logs) if has_begun else offset
            yield Beginning(index, epoch, offset, promised, event.evidence)


def assumed(begins: Beginning) -> str:
    """What an answer is of, and what it assumes of the state with which that begins, in sentences."""
    return (
        f"Explained from leader epoch {begins.epoch} on ({begins.evidence}), with all replicas in sync and"
        " one history before, which is shown as if it were written then: the answer and its faults are of"
        " what came after that. These files do not show which records were acknowledged by then, so all below"
        f" offset {begins.promised:,} count as acknowledged and committed."
    )


def epoch_at(offset: int, logs: Sequence[PartitionLog]) -> int | None:
    """The leader epoch of the record at an offset, in the log that reaches furthest; None if none has it."""
    longest = max(logs, key=lambda log: log.end, default=None)
    if longest is None or not longest.start <= offset < longest.end:
        return None
    return max((each.epoch for each in longest.epochs if each.start <= offset), default=None)


def newest_part(spine: Spine, begins: Beginning) -> Spine:
    """The timeline from a state on."""
    first = spine.events[begins.index]
    assert isinstance(first, Decided)
    shift = first.epoch - 1
    return replace(
        spine,
        events=tuple(_shifted(event, shift) for event in spine.events[begins.index :]),
        epochs=tuple((epoch, number - shift) for epoch, number in spine.epochs if number > shift),
        versions={
            version: count - begins.index for version, count in spine.versions.items() if count > begins.index
        },
        whole=False,
        first=_settings(spine.first, spine.events[: begins.index]),
        begins=begins,
    )


def _shifted(event: Event, shift: int) -> Event:
    """An event, with leader epochs that begin with 1."""
    return replace(event, epoch=event.epoch - shift) if isinstance(event, Decided) else event


def _settings(first: TopicSettings, events: Sequence[Event]) -> TopicSettings:
    """The topic's settings behind these events."""
    now = first
    for event in events:
        if not isinstance(event, Changed):
            continue
        if event.action == SETS_MIN_ISR:
            now = replace(now, min_isr=event.args[0])
        elif event.action in SETTING:
            now = replace(now, unclean=event.action == ALLOWS)
    return now


def _whole_states(spine: Spine) -> Iterator[int]:
    """The indexes of the decisions with all replicas in sync, and a session of each."""
    out: set[int] = set()
    everyone = frozenset(range(len(spine.brokers)))
    for number, event in enumerate(spine.events):
        match event:
            case Gone(broker) | Registered(broker):
                out.add(broker)
            case Back(broker):
                out.discard(broker)
            case Decided() if not out and event.leader is not None:
                following = spine.events[number + 1] if number + 1 < len(spine.events) else None
                at_once = isinstance(following, Gone) and following.evidence == event.evidence
                if event.isr == everyone and not event.eligible and not at_once:
                    yield number
            case _:
                pass


def _end_of(epoch: int, logs: Sequence[PartitionLog]) -> int:
    """The offset up to which logs have records of leader epochs up to this one."""
    return max((log.end_of(epoch)[1] for log in logs), default=0)


def _since(epoch: int, logs: Sequence[PartitionLog]) -> Iterator[EpochStart]:
    """The leader epochs in logs from this one on, each with its first offset."""
    return (each for log in logs for each in log.epochs if each.epoch >= epoch)


def _agreed(logs: Sequence[PartitionLog]) -> int:
    """The offset up to which no log has another record than the others."""
    longest = max((log.end for log in logs), default=0)
    return min((longest, *(_common(*two) for two in combinations(logs, 2))))


def _common(log: PartitionLog, other: PartitionLog) -> int:
    """The offset up to which two logs have the same epochs; where one only ends before, the other's end."""
    until, longer = min(log.end, other.end), max(log.end, other.end)
    begin = max(log.start, other.start)
    mine, others = (_epochs_of(each, begin, until) for each in (log, other))
    if mine == others:
        return longer
    differing = {each.start for each in mine} ^ {each.start for each in others}
    differing |= {one.start for one, two in zip(mine, others, strict=False) if one != two}
    return min(differing)


def _epochs_of(log: PartitionLog, begin: int, until: int) -> list[EpochStart]:
    """The epochs of a log's records between two offsets; the first one begins at `begin`."""
    before = [each for each in log.epochs if each.start <= begin]
    first = [EpochStart(before[-1].epoch, begin)] if before and begin < until else []
    return [*first, *(each for each in log.epochs if begin < each.start < until)]
