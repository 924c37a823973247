"""The metadata log: what is written is read back; what records come to, with snapshots and transactions."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelcheck.kafka.files.batches import Batch, read_batches
from modelcheck.kafka.files.checkpoints import EpochStart, TopicPartition
from modelcheck.kafka.files.fields import ShortError
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import read_metadata
from modelcheck.kafka.files.metadata.records import (
    BrokerChanged,
    BrokerRegistered,
    ControllerRegistered,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TransactionMark,
    UnknownRecord,
    decode,
)
from tests.modelcheck.kafka.files import written
from tests.modelcheck.kafka.files.metadata_written import encoded, framed
from tests.modelcheck.kafka.files.written import batch

CLUSTERS = Path(__file__).parent / "clusters"
TOPIC = UUID(int=7)
BROKERS = st.lists(st.integers(0, 9), max_size=4, unique=True).map(tuple)
MAYBE = st.none() | BROKERS


PARTITIONS = st.builds(
    PartitionCreated,
    partition=st.integers(0, 9),
    topic=st.just(TOPIC),
    replicas=BROKERS,
    isr=BROKERS,
    leader=st.integers(-1, 9),
    leader_epoch=st.integers(0, 9),
    partition_epoch=st.integers(0, 9),
    recovering=st.booleans(),
    elr=BROKERS,
    last_known_elr=BROKERS,
    directories=st.just(()),
)
CHANGES = st.builds(
    PartitionChanged,
    partition=st.integers(0, 9),
    topic=st.just(TOPIC),
    isr=MAYBE,
    leader=st.integers(-2, 9),
    replicas=MAYBE,
    recovering=st.none() | st.booleans(),
    elr=MAYBE,
    last_known_elr=MAYBE,
    directories=st.none(),
)


@settings(max_examples=50)
@given(PARTITIONS | CHANGES)
def test_what_is_written_is_read_back(record: MetadataRecord) -> None:
    assert decode(encoded(record)) == record


@settings(max_examples=50)
@given(PARTITIONS | CHANGES, st.data())
def test_a_record_that_is_cut_off_is_no_other_record(record: MetadataRecord, data: st.DataObject) -> None:
    whole = encoded(record)
    cut = data.draw(st.integers(0, len(whole) - 1))

    with pytest.raises(ShortError):
        decode(whole[:cut])


@given(st.binary(max_size=60))
def test_no_bytes_are_too_odd(junk: bytes) -> None:
    with suppress(ShortError):
        decode(b"\1" + junk)


def test_kinds_and_versions_that_are_not_known_are_told() -> None:
    assert decode(framed(3, 3, b"")) == UnknownRecord(3, 3)
    assert decode(framed(77, 0, b"")) == UnknownRecord(77, 0)


# As MetadataRecordSerde of Kafka 4.3.1 writes them at metadata.version 4.3-IV0, with a directory that is
# cordoned (KIP-1066): broker 3, epoch 41.
REGISTERED = """
    0100040000000300000000000000000500000000000000060000000000000029020a504c41494e544558
    540262238400000002116d657461646174612e76657273696f6e0007001e000272010002001102000000
    0000000001000000000000000201110200000000000000030000000000000004
"""
UNFENCED = "011103000000030000000000000029020001ff03110200000000000000030000000000000004"
SHUTTING_DOWN = "01110300000003000000000000002901010101"


def test_records_of_brokers_with_cordoned_directories_are_read() -> None:
    incarnation, directory = UUID(int=(5 << 64) + 6), UUID(int=(1 << 64) + 2)
    registered = BrokerRegistered(
        3, incarnation, 41, fenced=True, shutting_down=False, directories=(directory,)
    )

    assert decode(bytes.fromhex(REGISTERED)) == registered
    assert decode(bytes.fromhex(UNFENCED)) == BrokerChanged(3, 41, fenced=False)
    assert decode(bytes.fromhex(SHUTTING_DOWN)) == BrokerChanged(3, 41, shutting_down=True)


# As MetadataRecordSerde of Kafka 4.4.0 writes it: controller 3000.
UNREGISTERED = "011d0000000bb800"


def test_a_controller_that_is_unregistered_is_none_any_more() -> None:
    image = MetadataImage()
    for record in (
        ControllerRegistered(3000),
        ControllerRegistered(3001),
        decode(bytes.fromhex(UNREGISTERED)),
    ):
        image.apply(record)

    assert image.controllers == {3001}


def test_a_controller_of_4_4_begins_with_a_snapshot_and_has_its_log_behind_it(tmp_path: Path) -> None:
    folder = CLUSTERS / "power_loss_newer" / "controller" / "__cluster_metadata-0"
    begin = folder / "00000000000000000000-0000000000.checkpoint"
    shutil.copy(begin, tmp_path)
    whole, formatted = read_metadata(folder), read_metadata(tmp_path)

    assert (whole.snapshot, whole.end > 0, len(whole.image.topics)) == (begin, True, 2)
    assert (formatted.end, formatted.image.topics) == (0, {})
    assert whole.image.features == formatted.image.features
    assert formatted.image.features["metadata.version"] == 33


FIRST = PartitionCreated(0, TOPIC, (1, 2, 3), (1, 2, 3), 1, 5, 9)


def state(image: MetadataImage) -> PartitionCreated:
    return image.by_place()[TopicPartition("t", 0)]


def image(*records: MetadataRecord) -> MetadataImage:
    made = MetadataImage()
    for each in (TopicCreated("t", TOPIC), FIRST, *records):
        made.apply(each)
    return made


def test_the_leader_epoch_rises_where_a_leader_is_named_and_the_partition_epoch_always() -> None:
    shrunk = state(image(PartitionChanged(0, TOPIC, isr=(1,))))
    led = state(image(PartitionChanged(0, TOPIC, leader=1)))

    assert (shrunk.isr, shrunk.leader_epoch, shrunk.partition_epoch) == ((1,), 5, 10)
    assert (led.isr, led.leader_epoch, led.partition_epoch) == ((1, 2, 3), 6, 10)


def test_what_a_reassignment_takes_away_and_brings_is_read() -> None:
    moved = PartitionChanged(0, TOPIC, replicas=(1, 2, 3, 4), removing=(3,), adding=(4,))
    whole = PartitionCreated(0, TOPIC, (1, 2, 3, 4), (1,), 1, 0, 0, removing=(3,), adding=(4,))
    after = state(image(moved))

    assert (decode(encoded(moved)), decode(encoded(whole))) == (moved, whole)
    assert (after.replicas, after.removing, after.adding) == ((1, 2, 3, 4), (3,), (4,))
    assert state(image(moved, PartitionChanged(0, TOPIC, removing=(), adding=()))).removing == ()


def test_a_transaction_counts_when_it_ends() -> None:
    begin, change = TransactionMark("begin"), PartitionChanged(0, TOPIC, isr=(1,))

    assert state(image(begin, change)).isr == (1, 2, 3)
    assert state(image(begin, change, TransactionMark("end"))).isr == (1,)
    assert state(image(begin, change, TransactionMark("abort"))).isr == (1, 2, 3)


def test_what_comes_behind_a_snapshot_is_added_to_it(tmp_path: Path) -> None:
    snapshot = [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)]
    written.snapshot(tmp_path, 10, 2, snapshot)
    old = batch(0, [encoded(PartitionChanged(0, TOPIC, isr=(9,)))] * 10, 2)
    new = batch(10, [encoded(PartitionChanged(0, TOPIC, isr=(3,)))], 4)
    (tmp_path / f"{0:020}.log").write_bytes(old + new)
    found = read_metadata(tmp_path)

    assert (found.end, found.epoch) == (11, 4)
    assert (state(found.image).isr, state(found.image).partition_epoch) == ((3,), 10)


@pytest.mark.parametrize(("snapshot", "missing"), [(None, "0 to 11"), (10, "10 to 11"), (12, None)])
def test_what_no_snapshot_reaches_over_is_told(
    snapshot: int | None, missing: str | None, tmp_path: Path
) -> None:
    """Kafka does not start so (KafkaMetadataLog: Inconsistent snapshot state); a copy may be."""
    if snapshot is not None:
        whole = [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)]
        written.snapshot(tmp_path, snapshot, 2, whole)
    change = batch(12, [encoded(PartitionChanged(0, TOPIC, isr=(3,)))], 4)
    (tmp_path / f"{12:020}.log").write_bytes(change)

    found = [each.what.split(" are")[0] for each in read_metadata(tmp_path).damaged]

    assert found == ([] if missing is None else [f"metadata records {missing}"])


def test_a_snapshot_that_lacks_its_end_is_told(tmp_path: Path) -> None:
    """It has the cluster's state only as a whole, and a copy may end anywhere, between batches too."""
    path = written.snapshot(tmp_path, 10, 2, [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)])
    (first, _) = read_batches(path)
    assert isinstance(first, Batch)
    assert not read_metadata(tmp_path).damaged

    for size in (first.size, 0):
        path.write_bytes(path.read_bytes()[:size])
        (damage,) = read_metadata(tmp_path).damaged
        assert (damage.position, damage.what) == (size, "the snapshot's end is missing")


def test_what_a_follower_drops_for_a_snapshot_does_not_count(tmp_path: Path) -> None:
    """It fetched the snapshot of a later epoch, and died before `truncateToLatestSnapshot`."""
    written.snapshot(tmp_path, 10, 3, [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)])
    dropped = batch(0, [encoded(PartitionChanged(0, TOPIC, isr=(3,)))] * 12, 2)
    (tmp_path / f"{0:020}.log").write_bytes(dropped)
    found = read_metadata(tmp_path)

    assert (found.end, found.epoch, state(found.image)) == (10, 3, FIRST)


def test_metadata_is_read_up_to_an_offset(tmp_path: Path) -> None:
    records = [encoded(PartitionChanged(0, TOPIC, isr=(n,))) for n in range(4)]
    begins = [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)]
    (tmp_path / f"{0:020}.log").write_bytes(batch(0, begins, 1) + batch(2, records, 2))
    found = read_metadata(tmp_path, until=4)

    assert state(found.image).isr == (1,)
    assert found.epochs == (EpochStart(1, 0), EpochStart(2, 2))


def test_metadata_that_is_damaged_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    good = batch(0, [encoded(TopicCreated("t", TOPIC)), encoded(FIRST)], 1)
    (tmp_path / f"{0:020}.log").write_bytes(good + b"\0\0\0")
    found = read_metadata(tmp_path)

    assert (found.end, len(found.damaged), state(found.image)) == (2, 1, FIRST)
