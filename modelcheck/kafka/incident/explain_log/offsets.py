"""Offsets abstracted to those that matter: each interval between two of them is one record of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from modelcheck.kafka.files.partition_log import PartitionLog
from modelcheck.kafka.incident.at_rest.partitions import ReplicaLog
from modelcheck.kafka.incident.explain_log.line_observations import PartitionLines, offsets, seen
from modelcheck.kafka.incident.explain_log.metadata_timeline import Spine
from modelcheck.kafka.incident.explain_log.observations import Ended, Evidence, Interval, Left, Observed


def observed(
    spine: Spine,
    replicas: Mapping[int, ReplicaLog],
    *,
    copies: bool = False,
    lost: frozenset[int] = frozenset(),
    logs: Sequence[PartitionLines] = (),
) -> Observed:
    """All observations of a partition, from its timeline, the given replicas and lines of logs.

    `copies` is whether the directories may be of brokers that kept running; the disks of brokers in `lost`
    are gone for good.
    """
    here = {node: replica for node, replica in replicas.items() if node in spine.brokers and node not in lost}
    begins = 0 if spine.begins is None else spine.begins.offset
    intervals = _intervals(list(here.values()), offsets(logs), begins)
    ends = {
        spine.brokers.index(node): _ended(spine, replica, intervals, copies=copies)
        for node, replica in sorted(here.items())
    }
    for node in sorted(lost):
        number = spine.brokers.index(node)
        ends[number] = _lost(number, node)
    names = tuple(f"broker{node}" for node in spine.brokers)
    lines = [(log, found) for log in logs if (found := seen(log, spine, intervals))]
    starts = {
        spine.brokers.index(log.node): number
        for number, (log, _) in enumerate(lines)
        if log.starts and log.node in spine.brokers
    }
    said = tuple(each for _, each in lines)
    promised = 0 if spine.begins is None else sum(each.start < spine.begins.promised for each in intervals)
    return Observed(names, spine.events, ends, intervals, spine.whole, said, spine.sessions, starts, promised)


def _intervals(replicas: Sequence[ReplicaLog], said: Sequence[int], begins: int) -> tuple[Interval, ...]:
    """The offset intervals that become records: cut at log ends, epochs, high watermarks, and in lines.

    Epochs and lines from `begins` on alone: what was before is one history.
    """
    present = [each.log for each in replicas if not each.absent]
    first = min((log.start for log in present), default=0)
    places = {first, *(each for each in said if each >= begins)}
    for replica in replicas:
        log = replica.log
        places |= (
            {log.start, log.end, *(each.start for each in log.epochs if each.start >= begins)}
            if not replica.absent
            else set()
        )
        places |= {replica.high_watermark} if replica.high_watermark is not None else set()
    return tuple(Interval(*each) for each in pairwise(sorted(place for place in places if place >= first)))


def _ended(spine: Spine, replica: ReplicaLog, intervals: Sequence[Interval], *, copies: bool) -> Ended:
    """The observation of a broker's directory."""
    log, node = replica.log, replica.node
    mark = sum(each.end <= (replica.high_watermark or 0) for each in intervals)
    left = Left.CLEAN if replica.clean else Left.UNKNOWN if copies else Left.UNCLEAN
    folder = log.folder.parent.name
    says = "there is a .kafka_cleanshutdown" if replica.clean else "there is no .kafka_cleanshutdown"
    return Ended(
        spine.brokers.index(node),
        tuple(_epoch(spine, log, each) for each in intervals if each.end <= log.end),
        mark,
        left,
        folder=not replica.absent,
        log_evidence=Evidence(f"{folder}/{log.folder.name}", _log_words(replica)),
        mark_evidence=Evidence(
            f"{folder}/replication-offset-checkpoint", f"high watermark {replica.high_watermark or 0:,}"
        ),
        left_evidence=Evidence(folder, says),
    )


def _epoch(spine: Spine, log: PartitionLog, interval: Interval) -> int | None:
    """The model's epoch that wrote an interval; None before the start of the log."""
    if interval.start < log.start:
        return None
    wrote = [each.epoch for each in log.epochs if each.start <= interval.start]
    return spine.epoch_of(wrote[-1]) if wrote else None


def _log_words(replica: ReplicaLog) -> str:
    """A replica's log in words."""
    if replica.absent:
        return "there is no folder of the partition"
    log = replica.log
    epochs = ", ".join(f"epoch {each.epoch} from {each.start:,}" for each in log.epochs)
    return f"the log ends at {log.end:,}{f' ({epochs})' if epochs else ''}"


def _lost(number: int, node: int) -> Ended:
    """The observation of a broker whose disk was lost."""
    said = Evidence(f"--lost {node}", f"the directory of broker {node} is gone")
    return Ended(
        number, (), 0, Left.UNCLEAN, folder=False, log_evidence=said, mark_evidence=said, left_evidence=said
    )
