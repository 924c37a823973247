"""The outcome for a partition if a certain replica leads: the followers cut back and the records lost.

A follower is cut back by the leader epochs of both logs, as KIP-101 and KIP-279 have it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from modelcheck.kafka.files.partition_log import PartitionLog
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from spec.frozen import frozen


class Succession(Enum):
    """The ways in which a replica becomes leader, the easiest first."""

    IN_SYNC = "in sync, automatic"
    ELIGIBLE = "eligible, automatic"
    LAST_KNOWN = "last known leader, automatic"
    UNCLEAN = "unclean, automatic"
    BY_HAND = "unclean, by hand"
    UNKNOWN = "not known"

    @property
    def by_itself(self) -> bool:
        """Whether the controller elects the replica automatically."""
        return self not in {Succession.BY_HAND, Succession.UNKNOWN}

    @property
    def is_clean(self) -> bool:
        """Whether the controller assumes that such a leader has all committed records."""
        return self in {Succession.IN_SYNC, Succession.ELIGIBLE}


@frozen
class Aftermath:
    """The consequences if `leader` becomes leader: truncations and lost records.

    `cuts` has the followers that are cut back, and the offset each is cut back to.  `lost` counts
    offsets of records that a copy here has and the leader has not, `committed` those of them that
    a broker had noted as committed, `doubtful` those that may have been acknowledged with acks=all.
    """

    leader: int
    way: Succession
    end: int
    cuts: Mapping[int, int]
    lost: int
    committed: int
    doubtful: int

    @property
    def badness(self) -> tuple[int, int, int]:
        """A key to compare outcomes by; the loss of surely acknowledged records counts first."""
        return (self.committed, self.doubtful, self.lost)


def outcomes(partition: PartitionFiles) -> tuple[Aftermath, ...]:
    """The outcome for each replica given as leader, best first."""
    found = [_outcome(partition, each) for each in partition.replicas.values()]
    order = list(Succession)
    return tuple(sorted(found, key=lambda each: (each.badness, order.index(each.way), each.leader)))


def way(partition: PartitionFiles, node: int) -> Succession:
    """How a replica becomes leader if it is the first of its partition to start."""
    state = partition.state
    if state is None:
        return Succession.UNKNOWN
    if node in partition.electable:
        return Succession.IN_SYNC if node in state.isr else Succession.ELIGIBLE
    if node == partition.last_known_leader:
        return Succession.LAST_KNOWN
    return Succession.UNCLEAN if partition.unclean_by_itself else Succession.BY_HAND


def cut(follower: ReplicaLog, leader: PartitionLog) -> int:
    """The offset that a follower truncates its log to; its log's end if it truncates nothing.

    Asks the leader again and again for the end of an epoch, with one round for each epoch that
    one has and the other has not.
    """
    log, leader = follower.log.as_remembered, leader.as_remembered
    if not log.epochs:
        return min(log.end, max(follower.high_watermark or 0, log.start))
    end, epoch = log.end, log.last_epoch
    while True:
        theirs, their_end = _epoch_and_end(leader, epoch)
        ours, our_end = _epoch_and_end(log, theirs)
        if ours == theirs:
            return min(end, our_end, their_end)
        end, epoch = min(end, our_end), ours


def _epoch_and_end(log: PartitionLog, epoch: int) -> tuple[int, int]:
    """The largest epoch of a log up to this one, and its end (the answer to OffsetsForLeaderEpoch).

    For an epoch older than all in a log Kafka answers with the start of the log's first epoch.
    """
    found, end = log.end_of(epoch)
    if found >= 0:
        return found, end
    return epoch, log.epochs[0].start if log.epochs else log.end


def _outcome(partition: PartitionFiles, leader: ReplicaLog) -> Aftermath:
    """The outcome of one replica becoming leader."""
    comes = way(partition, leader.node)
    others = [each for each in partition.replicas.values() if each.node != leader.node]
    cuts = {each.node: cut(each, leader.log) for each in others}
    lost = _size(_missing_on_leader([(each.log, each.log.end) for each in others], leader.log))
    committed = _size(
        _missing_on_leader([(each.log, each.high_watermark or 0) for each in others], leader.log)
    )
    doubtful = (
        0
        if _is_sound(partition, comes) and not leader.lost_its_end and not leader.absent
        else lost - committed
    )
    return Aftermath(
        leader.node,
        comes,
        leader.log.end,
        {node: to for node, to in cuts.items() if to < partition.replicas[node].log.end},
        lost,
        committed,
        doubtful,
    )


def _is_sound(partition: PartitionFiles, comes: Succession) -> bool:
    """Whether a leader elected in this way has all committed records, unless its disk lost some."""
    return comes.is_clean and partition.state is not None and not partition.state.recovering


def in_no_other(log: PartitionLog, others: Collection[PartitionLog]) -> int:
    """The number of offsets of a log that none of the others has, above where the first of these begins."""
    start = min((each.start for each in others), default=0)
    has: dict[int, tuple[int, int]] = {}
    for epoch, begins, ends in (span for each in others for span in _spans(each, each.end)):
        from_, to = has.get(epoch, (begins, ends))
        has[epoch] = min(begins, from_), max(ends, to)
    return _size(_missing([(log, log.end)], has, start))


NO_EPOCH = -1  # of records of an old format
Spans = Mapping[int, list[tuple[int, int]]]  # by epoch: offsets from and to


def _spans(log: PartitionLog, end: int) -> Iterable[tuple[int, int, int]]:
    """The epochs of a log with their first and end offsets, up to `end`; -1 for records of an old format."""
    if log.start < min(log.old_end, end):
        yield NO_EPOCH, log.start, min(log.old_end, end)
    following = (*(each.start for each in log.epochs[1:]), log.end)
    for each, until in zip(log.epochs, following, strict=False):
        if each.start < min(until, end):
            yield each.epoch, each.start, min(until, end)


def _missing_on_leader(others: Iterable[tuple[PartitionLog, int]], leader: PartitionLog) -> Spans:
    """The offsets, by epoch, that other logs have and the leader's lacks."""
    has = {epoch: (begins, ends) for epoch, begins, ends in _spans(leader, leader.end)}
    return _missing(others, has, leader.start)


def _missing(
    logs: Iterable[tuple[PartitionLog, int]], has: Mapping[int, tuple[int, int]], start: int
) -> Spans:
    """The offsets from `start` on, by epoch, that logs have up to an end and that are not in `has`."""
    found: dict[int, list[tuple[int, int]]] = {}
    for log, end in logs:
        for epoch, begins, ends in _spans(log, end):
            from_, to = has.get(epoch, (ends, ends))
            for a, b in ((begins, min(ends, from_)), (max(begins, to), ends)):
                if max(a, start) < b:
                    found.setdefault(epoch, []).append((max(a, start), b))
    return found


def _size(spans: Spans) -> int:
    """The number of offsets in spans, each epoch's counted once."""
    total = 0
    for each in spans.values():
        reached = -1
        for begins, ends in sorted(each):
            total += max(0, ends - max(begins, reached))
            reached = max(reached, ends)
    return total
