"""Records of the metadata log as Kafka writes them, for tests to read back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from uuid import UUID

from modelcheck.kafka.files.metadata.records import (
    BrokerChanged,
    BrokerRegistered,
    ConfigSet,
    FeatureLevel,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
    TransactionMark,
)
from tests.modelcheck.kafka.files.written import uvarint


def text(value: str) -> bytes:
    return uvarint(len(value.encode()) + 1) + value.encode()


def numbers(values: Sequence[int]) -> bytes:
    return uvarint(len(values) + 1) + struct.pack(f">{len(values)}i", *values)


def uuids(values: Sequence[UUID]) -> bytes:
    return uvarint(len(values) + 1) + b"".join(each.bytes for each in values)


def tags(found: dict[int, bytes]) -> bytes:
    parts = (uvarint(tag) + uvarint(len(data)) + data for tag, data in sorted(found.items()))
    return uvarint(len(found)) + b"".join(parts)


def framed(kind: int, version: int, body: bytes) -> bytes:
    return uvarint(1) + uvarint(kind) + uvarint(version) + body


def encoded(record: MetadataRecord) -> bytes:
    match record:
        case TopicCreated(name, topic):
            return framed(2, 0, text(name) + topic.bytes + b"\0")
        case TopicRemoved(topic):
            return framed(9, 0, topic.bytes + b"\0")
        case PartitionCreated():
            lists = numbers(record.replicas) + numbers(record.isr)
            lists += numbers(record.removing) + numbers(record.adding)
            fixed = struct.pack(">iii", record.leader, record.leader_epoch, record.partition_epoch)
            tagged = {0: b"\1"} if record.recovering else {}
            tagged |= {1: numbers(record.elr), 2: numbers(record.last_known_elr)}
            body = struct.pack(">i", record.partition) + record.topic.bytes + lists + fixed
            return framed(3, 2, body + uuids(record.directories) + tags(tagged))
        case PartitionChanged():
            changed = {0: record.isr, 2: record.replicas, 3: record.removing, 4: record.adding}
            changed |= {6: record.elr, 7: record.last_known_elr}
            found = {tag: numbers(each) for tag, each in changed.items() if each is not None}
            found |= {1: struct.pack(">i", record.leader)} if record.leader != -2 else {}
            found |= {5: bytes([record.recovering])} if record.recovering is not None else {}
            return framed(5, 2, struct.pack(">i", record.partition) + record.topic.bytes + tags(found))
        case BrokerRegistered():
            fixed = struct.pack(">ib", record.broker, 0) + record.incarnation.bytes  # not from ZooKeeper
            nothing = uvarint(1) * 2 + uvarint(0)  # no end points, features and rack
            flags = bytes([record.fenced, record.shutting_down])
            found = {0: uuids(record.directories)} if record.directories else {}
            return framed(0, 3, fixed + struct.pack(">q", record.epoch) + nothing + flags + tags(found))
        case BrokerChanged():
            found = {} if record.fenced is None else {0: b"\1" if record.fenced else b"\xff"}
            found |= {1: b"\1"} if record.shutting_down else {}
            return framed(17, 0, struct.pack(">iq", record.broker, record.epoch) + tags(found))
        case FeatureLevel(name, level):
            return framed(12, 0, text(name) + struct.pack(">h", level) + b"\0")
        case ConfigSet(kind, resource, name, value):
            return framed(4, 0, bytes([kind]) + text(resource) + text(name) + text(value or "") + b"\0")
        case TransactionMark(mark):
            return framed({"begin": 23, "end": 24, "abort": 25}[mark], 0, b"\0")
        case _:
            raise NotImplementedError
