"""Records of the metadata log as typed values.

The fields are those of Kafka's `common/metadata/*.json`.  Kinds that decide nothing about who
may lead are `Other`, by their number; a version newer than known is `UnknownRecord`.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from modelcheck.kafka.files.fields import FieldReader
from spec.frozen import frozen

UNCHANGED = -2  # a leader that stays
NOBODY = -1


@frozen
class TopicCreated:
    """A topic has a name and an id."""

    name: str
    id: UUID


@frozen
class TopicRemoved:
    """A topic is no more."""

    id: UUID


@frozen
class PartitionCreated:
    """A partition as it is written whole, in a snapshot too."""

    partition: int
    topic: UUID
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    recovering: bool = False
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    directories: tuple[UUID, ...] = ()


@frozen
class PartitionChanged:
    """What changes of a partition; None stays as it is, and so does the leader that is `UNCHANGED`."""

    partition: int
    topic: UUID
    isr: tuple[int, ...] | None = None
    leader: int = UNCHANGED
    replicas: tuple[int, ...] | None = None
    recovering: bool | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    directories: tuple[UUID, ...] | None = None


@frozen
class BrokerRegistered:
    """A broker has registered; `epoch` is that of this registration."""

    broker: int
    incarnation: UUID
    epoch: int
    fenced: bool
    shutting_down: bool
    directories: tuple[UUID, ...] = ()


@frozen
class BrokerChanged:
    """What changes of a broker's registration; None stays as it is."""

    broker: int
    epoch: int
    fenced: bool | None = None
    shutting_down: bool | None = None


@frozen
class BrokerRemoved:
    """A broker is unregistered."""

    broker: int


@frozen
class ControllerRegistered:
    """A node is a controller."""

    controller: int


@frozen
class ControllerRemoved:
    """A node is a controller no more, as an operator said (Kafka 4.4)."""

    controller: int


@frozen
class FeatureLevel:
    """A feature has a level; 0 is none."""

    name: str
    level: int


@frozen
class ConfigSet:
    """A setting of a topic (2), a broker (4) or all brokers (4, without a name); None deletes it."""

    kind: int
    resource: str
    name: str
    value: str | None


@frozen
class ElrCleared:
    """The eligible leader replicas of a topic, or of all (no name), are forgotten."""

    topic: str


@frozen
class TransactionMark:
    """Records of the metadata log that count together begin, end, or are taken back."""

    mark: str


@frozen
class Other:
    """A kind of record that is known and decides nothing here."""

    name: str


@frozen
class UnknownRecord:
    """A kind or version of record that this reader does not know."""

    kind: int
    version: int


MetadataRecord = (
    TopicCreated
    | TopicRemoved
    | PartitionCreated
    | PartitionChanged
    | BrokerRegistered
    | BrokerChanged
    | BrokerRemoved
    | ControllerRegistered
    | ControllerRemoved
    | FeatureLevel
    | ConfigSet
    | ElrCleared
    | TransactionMark
    | Other
    | UnknownRecord
)

OTHERS = {
    10: "delegation token",
    11: "SCRAM credential",
    14: "client quota",
    15: "producer ids",
    18: "access control entry",
    19: "access control entry removed",
    20: "no-op",
    21: "ZooKeeper migration",
    22: "SCRAM credential removed",
    26: "delegation token removed",
}
FRAME = 1  # the version of the frame around every record


def decode(value: bytes) -> MetadataRecord:
    """The record that bytes encode; raises `ShortError` where its bytes do not fit its kind."""
    fields = FieldReader(value)
    frame = fields.uvarint()
    kind, version = fields.uvarint(), fields.uvarint()
    if frame != FRAME:
        return UnknownRecord(kind, version)
    if kind in OTHERS:
        return Other(OTHERS[kind])
    known = DECODERS.get(kind)
    if known is None or version > known[0]:
        return UnknownRecord(kind, version)
    return known[1](fields, version)


def _broker_registered(fields: FieldReader, version: int) -> MetadataRecord:
    broker = fields.int32()
    if version >= 2:
        fields.bool()  # migrating from ZooKeeper
    incarnation, epoch = fields.uuid(), fields.int64()
    fields.list(lambda: _end_point(fields))
    fields.list(lambda: _feature(fields))
    fields.nullable_text()  # rack
    fenced = fields.bool()
    shutting_down = fields.bool() if version >= 1 else False
    tagged = fields.tagged()
    directories = _uuids(tagged[0]) if version >= 3 and 0 in tagged else ()
    return BrokerRegistered(broker, incarnation, epoch, fenced, shutting_down, directories)


def _end_point(fields: FieldReader) -> None:
    fields.text(), fields.text(), fields.int16(), fields.int16(), fields.tagged()


def _feature(fields: FieldReader) -> None:
    fields.text(), fields.int16(), fields.int16(), fields.tagged()


def _broker_changed(fields: FieldReader, _version: int) -> MetadataRecord:
    broker, epoch = fields.int32(), fields.int64()
    tagged = fields.tagged()
    fenced = tagged[0].int8() if 0 in tagged else 0
    shutting = tagged[1].int8() if 1 in tagged else 0
    return BrokerChanged(broker, epoch, _sign(fenced), True if shutting > 0 else None)


def _sign(value: int) -> bool | None:
    return None if value == 0 else value > 0


def _partition(fields: FieldReader, version: int) -> MetadataRecord:
    partition, topic = fields.int32(), fields.uuid()
    replicas, isr = _numbers(fields), _numbers(fields)
    _numbers(fields), _numbers(fields)  # what a reassignment removes and adds
    leader, leader_epoch, partition_epoch = fields.int32(), fields.int32(), fields.int32()
    directories = _uuids(fields) if version >= 1 else ()
    tagged = fields.tagged()
    return PartitionCreated(
        partition,
        topic,
        replicas,
        isr,
        leader,
        leader_epoch,
        partition_epoch,
        recovering=0 in tagged and tagged[0].int8() == 1,
        elr=_tagged_numbers(tagged.get(1)) or (),
        last_known_elr=_tagged_numbers(tagged.get(2)) or (),
        directories=directories,
    )


def _partition_changed(fields: FieldReader, _version: int) -> MetadataRecord:
    partition, topic = fields.int32(), fields.uuid()
    tagged = fields.tagged()
    recovery = tagged[5].int8() if 5 in tagged else -1
    return PartitionChanged(
        partition,
        topic,
        isr=_tagged_numbers(tagged.get(0)),
        leader=tagged[1].int32() if 1 in tagged else UNCHANGED,
        replicas=_tagged_numbers(tagged.get(2)),
        recovering=None if recovery < 0 else recovery == 1,
        elr=_tagged_numbers(tagged.get(6)),
        last_known_elr=_tagged_numbers(tagged.get(7)),
        directories=_uuids(tagged[8]) if 8 in tagged else None,
    )


def _numbers(fields: FieldReader) -> tuple[int, ...]:
    return fields.list(fields.int32)


def _tagged_numbers(fields: FieldReader | None) -> tuple[int, ...] | None:
    return None if fields is None else fields.nullable_list(fields.int32)


def _uuids(fields: FieldReader) -> tuple[UUID, ...]:
    return fields.list(fields.uuid)


Decoder = Callable[[FieldReader, int], MetadataRecord]
DECODERS: dict[int, tuple[int, Decoder]] = {  # by kind: the newest version that is known
    0: (4, _broker_registered),
    1: (0, lambda fields, _: BrokerRemoved(fields.int32())),
    2: (0, lambda fields, _: TopicCreated(fields.text(), fields.uuid())),
    3: (2, _partition),
    4: (0, lambda f, _: ConfigSet(f.int8(), f.text(), f.text(), f.nullable_text())),
    5: (2, _partition_changed),
    7: (0, lambda fields, _: BrokerChanged(fields.int32(), fields.int64(), fenced=True)),
    8: (0, lambda fields, _: BrokerChanged(fields.int32(), fields.int64(), fenced=False)),
    9: (0, lambda fields, _: TopicRemoved(fields.uuid())),
    12: (0, lambda fields, _: FeatureLevel(fields.text(), fields.int16())),
    17: (3, _broker_changed),
    23: (0, lambda _f, _v: TransactionMark("begin")),
    24: (0, lambda _f, _v: TransactionMark("end")),
    25: (0, lambda _f, _v: TransactionMark("abort")),
    27: (0, lambda fields, _: ControllerRegistered(fields.int32())),
    28: (0, lambda fields, _: ElrCleared(fields.text())),
    29: (0, lambda fields, _: ControllerRemoved(fields.int32())),
}
