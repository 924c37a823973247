"""Records that are gone and of which no file remains: from which offset on, and why."""

from __future__ import annotations

from collections.abc import Iterator
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
    `all_acks` they may have been acknowledged with acks=all too, else with acks=1 alone.
    """

    cause: Cause
    number: int
    since: int
    all_acks: bool


def untraced(partition: PartitionFiles) -> tuple[Untraced, ...]:
    """What is gone of a partition without a trace, by what is known of its last leader and its elections."""
    return (*_of_leader(partition), *_of_elections(partition))


def _of_leader(partition: PartitionFiles) -> Iterator[Untraced]:
    """The ends that the logs of replicas which may have led last are known to lack."""
    replicas = partition.replicas.values()
    ends = [replica.log.end for replica in replicas]
    noted = [replica.high_watermark or 0 for replica in replicas]
    since = max((*ends, *noted), default=0)
    led = _led_last(partition)
    whole = any(
        each.node in partition.in_line and not lacks_end(each) and not each.beside_short for each in replicas
    )
    for node in led:
        if node in partition.replicas and lacks_end(partition.replicas[node]):
            yield Untraced(Cause.END, node, since, not whole)
        elif node in partition.replicas and partition.replicas[node].beside_short:
            yield Untraced(Cause.BESIDE, node, since, not whole)


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
