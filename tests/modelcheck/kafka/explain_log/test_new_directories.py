"""Which directories of a registration show that a broker has lost the disk of a replica."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.log import MetadataEntry
from modelcheck.kafka.files.metadata.records import (
    BrokerChanged,
    BrokerRegistered,
    MetadataRecord,
    PartitionCreated,
    TopicCreated,
)
from modelcheck.kafka.incident.explain_log import metadata_timeline
from modelcheck.kafka.incident.explain_log.observations import Registered

TOPIC, UNASSIGNED = UUID(int=1 << 100), UUID(int=1)
A, B, C = (UUID(int=n << 100) for n in (2, 3, 4))


def registered(epoch: int, *directories: UUID) -> BrokerRegistered:
    return BrokerRegistered(
        1, UUID(int=epoch), epoch, fenced=True, shutting_down=False, directories=directories
    )


@pytest.mark.parametrize(
    ("before", "assigned", "after", "is_new"),
    [
        ((A,), UNASSIGNED, (A,), False),
        ((A,), UNASSIGNED, (B,), True),
        ((A,), A, (B,), True),
        ((A,), A, (A, B), False),
        ((A, B), A, (B, C), True),
        ((A, B), B, (B, C), False),
        ((A, B), UNASSIGNED, (B, C), None),
        ((), UNASSIGNED, (A,), None),
    ],
)
def test_the_directory_of_the_replica_decides(
    before: tuple[UUID, ...],
    assigned: UUID,
    after: tuple[UUID, ...],
    *,
    is_new: bool | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records: list[MetadataRecord] = [
        registered(1, *before),
        BrokerChanged(1, 1, fenced=False),
        TopicCreated("t", TOPIC),
        PartitionCreated(0, TOPIC, (1,), (1,), 1, 0, 0, directories=(assigned,)),
        BrokerChanged(1, 1, fenced=True),
        registered(2, *after),
    ]
    path = Path("node/__cluster_metadata-0/00000000000000000000.log")
    found = [MetadataEntry(path, 0, number, 0, record) for number, record in enumerate(records)]
    monkeypatch.setattr(metadata_timeline, "_parts", lambda _: [(path, 0)])
    monkeypatch.setattr(metadata_timeline, "entries", lambda *_: found)
    ((_, spine),) = metadata_timeline.read_spines(path, [TopicPartition("t", 0)], lambda *_: None)
    (seen,) = (event for event in spine.events if isinstance(event, Registered))

    assert seen.new_directory is is_new
    assert ("another log directory" in seen.evidence.says) == (is_new is True)
