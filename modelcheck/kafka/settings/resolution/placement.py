"""The placement of replicas: on brokers that are in no file, or all in one rack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import Given, Partition, Reading, SettingLayer, Topic
from spec.diagnostics import Diagnostic, Note
from spec.frozen import frozen
from spec.source import Span


@frozen
class KnownBroker:
    """A broker in the files: its id, and its rack if given."""

    id: str
    rack: Given | None


def known_brokers(readings: Sequence[Reading]) -> tuple[KnownBroker, ...]:
    """The brokers whose own settings are given, by id; controllers only are left out."""
    found: dict[str, KnownBroker] = {}
    for reading in readings:
        own: dict[str, dict[str, Given]] = {}
        for one in reading.given:
            if one.layer is SettingLayer.BROKER_STATIC:
                own.setdefault(one.entity, {})[one.key] = one
        for settings in own.values():
            number = settings.get("node.id", settings.get("broker.id"))
            roles = settings.get("process.roles")
            if number is not None and number.value.strip() != "-1" and _is_broker(roles):
                id_ = number.value.strip()
                found[id_] = KnownBroker(id_, settings.get("broker.rack"))
    return tuple(found.values())


def _is_broker(roles: Given | None) -> bool:
    """Whether `process.roles` includes broker; also if it is not set."""
    return roles is None or "broker" in roles.value


def find_misplaced(
    readings: Sequence[Reading], brokers: Stated[int], topic: Topic | None, findings: ResolutionDiagnostics
) -> None:
    """Warn about replicas on unknown brokers (R0737), or all in one rack (R0738)."""
    known = {broker.id: broker for broker in known_brokers(readings)}
    if topic is not None:
        _on_unknown_brokers(topic, known, brokers, findings)
        _in_one_rack(topic, known, findings)


def together(readings: Sequence[Reading], brokers: int, topic: Topic | None, replicas: int) -> Stated[int]:
    """The greatest number of a partition's replicas in one rack.

    Where files show the racks of all brokers, and not where replicas are, they are spread evenly, as
    Kafka spreads them; where racks are not known, two are assumed in one.
    """
    racks = {
        broker.id: broker.rack.value.strip() for broker in known_brokers(readings) if broker.rack is not None
    }
    shown = [] if topic is None else [tuple(map(str, part.replicas)) for part in topic.partitions]
    if shown and all(id_ in racks for replicas_ in shown for id_ in replicas_):
        counts = (Counter(racks[id_] for id_ in replicas_) for replicas_ in shown)
        return Stated(max(max(each.values(), default=1) for each in counts), "by broker.rack")
    if len(racks) >= brokers:
        even = -(-replicas // len(set(racks.values())))
        return Stated(even, "by broker.rack, and spread evenly", assumed=True)
    return Stated(min(2, replicas), "no file has the racks of the replicas", assumed=True)


def _on_unknown_brokers(
    topic: Topic, known: Mapping[str, KnownBroker], brokers: Stated[int], findings: ResolutionDiagnostics
) -> None:
    """Warn about replicas of the topic on unknown brokers."""
    ids = sorted({id_ for partition in topic.partitions for id_ in partition.replicas})
    if len(ids) > brokers.value:
        shown = ", ".join(map(str, ids))
        message = f"replicas are on brokers {shown}, and there are {brokers.value} ({brokers.reason})"
        advice = "some of them may be gone for good; the review takes every replica for one that can live"
        findings.warnings.append(
            Diagnostic("R0737", topic.source, _at(topic, topic.partitions[0]), message, help=advice)
        )
        return
    for partition in topic.partitions:
        strangers = [id_ for id_ in partition.replicas if str(id_) not in known]
        if strangers and len(known) > 1:
            message = f"broker {strangers[0]} holds a replica, and its own settings are not known"
            advice = f"those of brokers {', '.join(known)} are; the review assumes a broker like these"
            findings.warnings.append(
                Diagnostic("R0737", topic.source, _at(topic, partition), message, help=advice)
            )
            return


def _in_one_rack(topic: Topic, known: Mapping[str, KnownBroker], findings: ResolutionDiagnostics) -> None:
    """Warn about partitions with all replicas in one rack."""
    for partition in topic.partitions:
        racks = [broker.rack for id_ in partition.replicas if (broker := known.get(str(id_))) is not None]
        named = [rack for rack in racks if rack is not None]
        names = {rack.value.strip() for rack in named}
        if len(named) < len(partition.replicas) or len(named) < 2 or len(names) > 1:
            continue
        message = f"all replicas of partition {partition.number} are in rack `{names.pop()}`"
        advice = (
            "what takes the rack takes all of them at once; "
            "the review has faults of one broker at a time, so it is optimistic; --also racks asks about it"
        )
        notes = (Note(named[0].source, named[0].span, "this broker's rack"),)
        where = _at(topic, partition)
        findings.warnings.append(Diagnostic("R0738", topic.source, where, message, help=advice, notes=notes))
        return


def _at(topic: Topic, partition: Partition) -> Span:
    """The place of a partition's description."""
    return partition.span or topic.span
