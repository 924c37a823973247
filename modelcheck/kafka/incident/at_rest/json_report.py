"""The answer as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.at_rest.directories import ClusterFiles
from modelcheck.kafka.incident.at_rest.election_outcome import Aftermath
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from modelcheck.kafka.incident.at_rest.report import is_fine
from modelcheck.kafka.incident.at_rest.start_order import Judged, given_up
from modelcheck.kafka.incident.at_rest.understood import is_understood
from modelcheck.kafka.incident.at_rest.wording import answer, basis, command, reasons

FORMAT = "modelcheck at-rest 1"


def as_json(gathered: ClusterFiles, found: Sequence[Judged], order: Sequence[int]) -> dict[str, object]:
    """The whole report as JSON data, including partitions without problems."""
    metadata = gathered.metadata
    known = metadata and {
        "node": gathered.metadata_of,
        "end": metadata.end,
        "epoch": metadata.epoch,
        "features": dict(sorted(metadata.image.features.items())),
        "controller_is_here": gathered.has_controller,
        "majority_is_here": gathered.has_majority,
        "committed": gathered.committed,
        "is_understood": is_understood(metadata),
    }
    return {
        "format": FORMAT,
        "answer": " ".join(answer(found, order)),
        "start": list(order),
        "start_at_once": list(gathered.at_once(order)),
        "given_up": [str(each.partition.place) for each in given_up(found, order)],
        "brokers": list(gathered.brokers),
        "metadata": known,
        "basis": list(basis(gathered)),
        "problems": list(gathered.problems),
        "partitions": [_partition(each) for each in found],
    }


def _partition(each: Judged) -> dict[str, object]:
    """One partition as JSON data."""
    place = each.partition.place
    return {
        "topic": place.topic,
        "partition": place.partition,
        "fine": is_fine(each),
        "state": _state(each.partition),
        "replicas": [_replica(replica) for replica in each.partition.replicas.values()],
        "missing": list(each.partition.missing),
        "leaving": list(each.partition.leaving),
        "only_on_others": dict(each.partition.outsiders),
        "controllers_first": None
        if each.partition.staying is None or not each.partition.dropping
        else list(each.partition.staying),
        "last_leader_awaits": None if each.last_leader is None else list(each.partition.awaited[0]),
        "last_leader_may_be": list(each.partition.may_be_last),
        "unsettled_from": each.partition.unsettled,
        "in_no_copy": each.gone,
        "unknown_from": min((found.since for found in each.untraced), default=None),
        "can_still_be_lost": each.at_stake,
        "outcomes": [_outcome(outcome) for outcome in each.outcomes],
        "wanted": each.wanted.leader if each.wanted is not None else None,
        "by_hand": command(each.partition) if each.by_hand else None,
        "why": list(reasons(each)),
    }


def _state(partition: PartitionFiles) -> dict[str, object] | None:
    """A partition's state in the metadata as JSON data."""
    state = partition.state
    if state is None:
        return None
    return {
        "replicas": list(state.replicas),
        "isr": list(state.isr),
        "elr": list(state.elr),
        "last_known_leader": list(state.last_known_elr),
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "partition_epoch": state.partition_epoch,
    }


def _replica(replica: ReplicaLog) -> dict[str, object]:
    """One replica as JSON data."""
    log = replica.log
    return {
        "node": replica.node,
        "folder": None if replica.absent else str(log.folder),
        "start": log.start,
        "end": log.end,
        "epochs": [{"epoch": each.epoch, "start": each.start} for each in log.epochs],
        "high_watermark": replica.high_watermark,
        "clean_shutdown": replica.clean,
        "lost_disk": replica.lost,
        "lost_its_end": replica.lost_its_end,
    }


def _outcome(outcome: Aftermath) -> dict[str, object]:
    """One outcome as JSON data."""
    return {
        "leader": outcome.leader,
        "how": outcome.way.name.lower().replace("_", "-"),
        "end": outcome.end,
        "lost": outcome.lost,
        "committed": outcome.committed,
        "maybe_acknowledged": outcome.doubtful,
        "cut_back": {str(node): to for node, to in sorted(outcome.cuts.items())},
    }
