"""Records that are gone and of which no file remains: from which offset on, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum

from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from spec.frozen import frozen


class Cause(Enum):
    """Why nothing is left of records: a log without its end, or an election after which logs were cut."""

    END = "the last leader's log has lost its end"
    BESIDE = "another log of the last leader's broker has lost its end"
    UNCLEAN = "unclean election"
    DEPOSED = "a leader that answered alone was deposed"


@frozen
class Untraced:
    """An unknown number of records from offset `since` on that may be gone without a trace in any file.

    `number` is the broker whose log it was, or the leader epoch that began with an unclean election.  With
    `all_acks` they may have been acknowledged with acks=all too, else with acks=1 alone.  `epoch` is set
    where the broker led in it without records that others have: then all lost ones may be of that epoch.
    """

    cause: Cause
    number: int
    since: int
    all_acks: bool
    epoch: int | None = None


def untraced(partition: PartitionFiles) -> tuple[Untraced, ...]:
    """What is gone of a partition without a trace, by what is known of its last leader and its elections."""
    return (*_of_leader(partition), *_of_elections(partition))


def _of_leader(partition: PartitionFiles) -> Iterator[Untraced]:
    """The ends that the logs of replicas which may have led last are known to lack."""
    replicas = partition.replicas
    whole = any(
        each.node in partition.in_line and not lacks_end(each) and not each.beside_short
        for each in replicas.values()
    )
    for node in _led_last(partition):
        leader = replicas.get(node)
        if leader is not None and (lacks_end(leader) or leader.beside_short):
            cause = Cause.END if lacks_end(leader) else Cause.BESIDE
            since, epoch = _lacking_since(leader, replicas.values())
            yield Untraced(cause, node, since, not whole, epoch)


def _lacking_since(leader: ReplicaLog, replicas: Collection[ReplicaLog]) -> tuple[int, int | None]:
    """From which offset on a leader that lacks its end may have had more, and its epoch if it began short.

    Its log was as long as any that is here, and as any high watermark: but not where it began its last epoch
    at an offset at which others have records of earlier ones.  Then it had lost its end before, and what it
    wrote in their place has only copies of its own epoch.
    """
    ends = [each.log.end for each in replicas]
    noted = [each.high_watermark or 0 for each in replicas]
    begun = leader.log.begun
    older = [each.log.end_of(begun.epoch - 1) for each in replicas] if begun else []
    if begun is None or all(epoch < 0 or end <= begun.start for epoch, end in older):
        return max((*ends, *noted)), None
    same = [each.log.end for each in replicas if each.log.last_epoch == begun.epoch]
    return max((begun.start, *same)), begun.epoch


def lacks_end(replica: ReplicaLog) -> bool:
    """Whether a replica is known to lack records that it had."""
    return replica.is_short or replica.lost or (replica.absent and replica.high_watermark is not None)


def _led_last(partition: PartitionFiles) -> tuple[int, ...]:
    """The replicas that may have led last: the leader, the last known one, or anyone in line."""
    state = partition.state
    if state is None:
        return tuple(partition.replicas)
    if state.leader >= 0:
        return (state.leader,)
    return state.last_known_elr if len(state.last_known_elr) == 1 else partition.in_line


def _of_elections(partition: PartitionFiles) -> Iterator[Untraced]:
    """The first unclean election that the metadata log has, and the offset at which its leader began."""
    if not partition.unclean_elections:
        return
    epoch, leader = min(partition.unclean_elections)
    logs = {node: replica.log for node, replica in partition.replicas.items()}
    begun = [each.start for log in logs.values() for each in log.epochs if each.epoch >= epoch]
    of_leader = [logs[leader].end] if leader in logs else []
    since = min(begun or of_leader or [max((log.end for log in logs.values()), default=0)])
    yield Untraced(Cause.UNCLEAN, epoch, since, all_acks=True)
