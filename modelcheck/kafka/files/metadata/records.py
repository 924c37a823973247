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
    """A topic was created, with a name and an id."""

    name: str
    id: UUID


@frozen
class TopicRemoved:
    """A topic was deleted."""

    id: UUID


@frozen
class PartitionCreated:
    """The complete state of a partition, as at its creation and in snapshots.

    `removing` and `adding` are the replicas that a reassignment takes away and brings; `replicas` has both.
    """

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
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()


@frozen
class PartitionChanged:
    """A change of a partition; a field that is None (a leader: `UNCHANGED`) keeps its value."""

    partition: int
    topic: UUID
    isr: tuple[int, ...] | None = None
    leader: int = UNCHANGED
    replicas: tuple[int, ...] | None = None
    recovering: bool | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    directories: tuple[UUID, ...] | None = None
    removing: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None


@frozen
class BrokerRegistered:
    """A broker registered; `epoch` is that of the registration."""

    broker: int
    incarnation: UUID
    epoch: int
    fenced: bool
    shutting_down: bool
    directories: tuple[UUID, ...] = ()


@frozen
class BrokerChanged:
    """A change of a broker's registration; a field that is None keeps its value."""

    broker: int
    epoch: int
    fenced: bool | None = None
    shutting_down: bool | None = None


@frozen
class BrokerRemoved:
    """A broker was unregistered."""

    broker: int


@frozen
class ControllerRegistered:
    """A node registered as a controller."""

    controller: int


@frozen
class ControllerRemoved:
    """An operator removed a controller's registration (Kafka 4.4)."""

    controller: int


@frozen
class FeatureLevel:
    """The level of a feature; 0 for one that is off."""

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
    """The eligible leader replicas of a topic, or of all (no name), were cleared."""

    topic: str


@frozen
class TransactionMark:
    """A transaction of metadata records begins, ends or is aborted."""

    mark: str


@frozen
class Other:
    """A record of a known kind that has no effect here."""

    name: str


@frozen
class UnknownRecord:
    """A record of a kind or version that this reader does not know."""

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
    """The record that bytes encode; raises `ShortError` where they do not fit its kind."""
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
    """Decode a RegisterBrokerRecord."""
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
    """Skip an end point of a registration."""
    fields.text(), fields.text(), fields.int16(), fields.int16(), fields.tagged()


def _feature(fields: FieldReader) -> None:
    """Skip a feature of a registration."""
    fields.text(), fields.int16(), fields.int16(), fields.tagged()


def _broker_changed(fields: FieldReader, _version: int) -> MetadataRecord:
    """Decode a BrokerRegistrationChangeRecord."""
    broker, epoch = fields.int32(), fields.int64()
    tagged = fields.tagged()
    fenced = tagged[0].int8() if 0 in tagged else 0
    shutting = tagged[1].int8() if 1 in tagged else 0
    return BrokerChanged(broker, epoch, _sign(fenced), True if shutting > 0 else None)


def _sign(value: int) -> bool | None:
    """The change of a flag that a sign encodes: 1 set, -1 cleared, 0 unchanged."""
    return None if value == 0 else value > 0


def _partition(fields: FieldReader, version: int) -> MetadataRecord:
    """Decode a PartitionRecord."""
    partition, topic = fields.int32(), fields.uuid()
    replicas, isr = _numbers(fields), _numbers(fields)
    removing, adding = _numbers(fields), _numbers(fields)
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
        removing=removing,
        adding=adding,
    )


def _partition_changed(fields: FieldReader, _version: int) -> MetadataRecord:
    """Decode a PartitionChangeRecord."""
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
        removing=_tagged_numbers(tagged.get(3)),
        adding=_tagged_numbers(tagged.get(4)),
    )


def _numbers(fields: FieldReader) -> tuple[int, ...]:
    """Decode an array of 32-bit numbers."""
    return fields.list(fields.int32)


def _tagged_numbers(fields: FieldReader | None) -> tuple[int, ...] | None:
    """Decode an array of 32-bit numbers in a tagged field; None if that is absent."""
    return None if fields is None else fields.nullable_list(fields.int32)


def _uuids(fields: FieldReader) -> tuple[UUID, ...]:
    """Decode an array of UUIDs."""
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
