"""The state that the records of a metadata log add up to: topics, partitions, brokers, features, settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypeVar, assert_never
from uuid import UUID

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.records import (
    UNCHANGED,
    BrokerChanged,
    BrokerRegistered,
    BrokerRemoved,
    ConfigSet,
    ControllerRegistered,
    ControllerRemoved,
    ElrCleared,
    FeatureLevel,
    MetadataRecord,
    Other,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
    TransactionMark,
    UnknownRecord,
)

T = TypeVar("T")
TOPIC, BROKER = 2, 4  # kinds of resources that have settings


class MetadataImage:
    """The state of a cluster after the metadata records applied so far."""

    def __init__(self) -> None:
        self.topics: dict[UUID, str] = {}
        self._named: dict[str, UUID] = {}  # the same, by name
        self.removed: set[UUID] = set()  # topics, as far as the log goes back
        self.partitions: dict[tuple[UUID, int], PartitionCreated] = {}
        self.brokers: dict[int, BrokerRegistered] = {}
        self.controllers: set[int] = set()
        self.features: dict[str, int] = {}
        self.settings: dict[tuple[int, str, str], str] = {}
        self.unclean_elections: dict[tuple[UUID, int], list[tuple[int, int]]] = {}  # epoch and leader
        self.unknown: Counter[tuple[int, int]] = Counter()
        self.applied = 0
        self._pending: list[MetadataRecord] | None = None

    def apply(self, record: MetadataRecord) -> None:
        """Apply the next record; those of a transaction take effect at its end."""
        match record:
            case TransactionMark(mark):
                pending, self._pending = self._pending or [], [] if mark == "begin" else None
                for each in pending if mark == "end" else ():
                    self._apply(each)
            case _ if self._pending is not None:
                self._pending.append(record)
            case _:
                self._apply(record)

    def by_place(self) -> dict[TopicPartition, PartitionCreated]:
        """The partitions by topic name and number."""
        return {
            TopicPartition(self.topics[topic], number): partition
            for (topic, number), partition in self.partitions.items()
            if topic in self.topics
        }

    def at(self, place: TopicPartition) -> PartitionCreated | None:
        """One partition by topic name and number, without building the whole mapping."""
        topic = self._named.get(place.topic)
        return None if topic is None else self.partitions.get((topic, place.partition))

    def setting(self, topic: str, name: str) -> str | None:
        """The value of a topic's setting in the records: its own, or the default of all brokers."""
        own = self.settings.get((TOPIC, topic, name))
        return own if own is not None else self.settings.get((BROKER, "", name))

    def _apply(self, record: MetadataRecord) -> None:  # noqa: C901 - one case for each kind
        """Apply a record that is not part of an open transaction."""
        self.applied += 1
        match record:
            case TopicCreated(name, topic):
                self.topics[topic] = name
                self._named[name] = topic
            case TopicRemoved(topic):
                self.removed.add(topic)
                self._named.pop(self.topics.pop(topic, ""), None)
                self.partitions = {key: each for key, each in self.partitions.items() if key[0] != topic}
            case PartitionCreated():
                self.partitions[record.topic, record.partition] = record
            case PartitionChanged():
                before = self.partitions.get((record.topic, record.partition))
                if before is not None:
                    after = self.partitions[record.topic, record.partition] = changed(before, record)
                    if record.leader >= 0 and record.leader not in {*before.isr, *before.elr}:
                        found = self.unclean_elections.setdefault((record.topic, record.partition), [])
                        found.append((after.leader_epoch, record.leader))
            case BrokerRegistered():
                self.brokers[record.broker] = record
            case BrokerChanged():
                self._change_broker(record)
            case BrokerRemoved(broker):
                self.brokers.pop(broker, None)
            case ControllerRegistered(controller):
                self.controllers.add(controller)
            case ControllerRemoved(controller):
                self.controllers.discard(controller)
            case FeatureLevel(name, level):
                self.features[name] = level
            case ConfigSet(kind, resource, name, value):
                if value is None:
                    self.settings.pop((kind, resource, name), None)
                else:
                    self.settings[kind, resource, name] = value
            case ElrCleared(topic):
                for key, each in self.partitions.items():
                    if topic in {"", self.topics.get(key[0])}:
                        self.partitions[key] = replace(each, elr=(), last_known_elr=())
            case UnknownRecord(kind, version):
                self.unknown[kind, version] += 1
            case Other() | TransactionMark():
                pass
            case _:
                assert_never(record)

    def _change_broker(self, record: BrokerChanged) -> None:
        """Apply a change of a broker's registration."""
        before = self.brokers.get(record.broker)
        if before is not None and before.epoch == record.epoch:
            self.brokers[record.broker] = replace(
                before,
                fenced=before.fenced if record.fenced is None else record.fenced,
                shutting_down=before.shutting_down or record.shutting_down is True,
            )


def changed(before: PartitionCreated, change: PartitionChanged) -> PartitionCreated:
    """The partition after a change record; its epochs are incremented as Kafka does."""

    def of(new: T | None, old: T) -> T:
        return old if new is None else new

    return replace(
        before,
        replicas=of(change.replicas, before.replicas),
        isr=of(change.isr, before.isr),
        leader=before.leader if change.leader == UNCHANGED else change.leader,
        leader_epoch=before.leader_epoch + (change.leader != UNCHANGED),
        partition_epoch=before.partition_epoch + 1,
        recovering=of(change.recovering, before.recovering),
        elr=of(change.elr, before.elr),
        last_known_elr=of(change.last_known_elr, before.last_known_elr),
        directories=of(change.directories, before.directories),
        removing=of(change.removing, before.removing),
        adding=of(change.adding, before.adding),
    )
