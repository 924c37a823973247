"""The command with directories of brokers in ill health: what is not understood is said, and not fine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files.fields import uuid_text
from modelcheck.kafka.files.metadata.records import (
    BrokerRegistered,
    ConfigSet,
    FeatureLevel,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicRemoved,
)
from tests.modelcheck.kafka.files.made_cluster import BROKERS, TOPIC, MadeCluster
from tests.modelcheck.kafka.files.metadata_written import encoded
from tests.modelcheck.kafka.files.written import batch, epochs, log, old_record

Asked = Callable[..., tuple[int, dict[str, Any], dict[str, Any]]]
OTHER = UUID(int=8)
QUORUM = {"currentVoters": [{"voterId": node} for node in BROKERS], "data_version": 0}


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """The exit code, the answer, and of it the partition `orders-0`."""

    def ask(*words: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
        code = main(["kafka", "inspect", *(words or [str(tmp_path)]), "--json"])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return code, found, found["partitions"][0]

    return ask


def whole(*records: MetadataRecord) -> MadeCluster:
    """A cluster that has done nothing but write 30 records, and records of the metadata behind that."""
    cluster = MadeCluster()
    cluster.produce(30)
    cluster.records += records
    return cluster


def folders(path: Path) -> list[Path]:
    return [path / f"broker{node}" / "orders-0" for node in BROKERS]


def noted(path: Path, name: str, offset: int) -> None:
    (path / name).write_text(f"0\n1\norders 0 {offset}\n")


# ------------------------------------------------------------------ metadata


@pytest.mark.parametrize("value", [b"\x01\x05\x09", b"\x01\x63\x00", b"\x02\x05\x00"])
def test_nothing_is_fine_for_sure_where_metadata_is_not_known(
    value: bytes, asked: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may have been a change of the ISR: of a newer version, a newer kind, or in a newer frame."""
    cluster = whole()
    cluster.write(tmp_path)
    assert asked()[0] == Exit.EXPECTED
    for path in tmp_path.glob("*/__cluster_metadata-0/*.log"):
        path.write_bytes(path.read_bytes() + batch(len(cluster.records), [value], 1))
    code, found, _ = asked()
    main(["kafka", "inspect", str(tmp_path)])

    assert (code, found["metadata"]["is_understood"]) == (Exit.UNKNOWN, False)
    assert "1 partition is fine, as far as the metadata log can be read.\n" in capsys.readouterr().out


def test_a_level_that_is_not_known_is_said(asked: Asked, tmp_path: Path) -> None:
    whole(FeatureLevel("metadata.version", 99)).write(tmp_path)
    code, found, _ = asked()

    assert code == Exit.UNKNOWN
    assert any("metadata.version is 99, and only levels up to " in each for each in found["basis"])


def quorum(path: Path, nodes: Iterable[int] = BROKERS) -> None:
    """Make voters of nodes."""
    for node in nodes:
        (path / f"broker{node}" / "__cluster_metadata-0" / "quorum-state").write_text(json.dumps(QUORUM))


def ahead(path: Path, node: int, cluster: MadeCluster, record: MetadataRecord) -> None:
    """Give a node a metadata record that the others lack."""
    log_ = path / f"broker{node}" / "__cluster_metadata-0" / f"{0:020}.log"
    log_.write_bytes(log_.read_bytes() + batch(len(cluster.records), [encoded(record)], 1))


def test_what_one_voter_alone_has_may_not_be_committed(asked: Asked, tmp_path: Path) -> None:
    cluster = whole()
    cluster.write(tmp_path)
    quorum(tmp_path)
    ahead(tmp_path, 1, cluster, PartitionChanged(0, TOPIC, isr=(1,), leader=1))
    code, found, orders = asked()

    assert code == Exit.UNKNOWN
    assert orders["unsettled_from"] == found["metadata"]["committed"] == len(cluster.records)
    assert not orders["fine"]
    assert any("Before it 1, 2, 3 were in sync." in each for each in orders["why"])

    ahead(tmp_path, 2, cluster, PartitionChanged(0, TOPIC, isr=(1,), leader=1))
    code, _, orders = asked()
    assert (code, orders["unsettled_from"], orders["fine"]) == (Exit.EXPECTED, None, True)


def test_who_may_lead_by_metadata_that_does_not_count_is_no_hope(asked: Asked, tmp_path: Path) -> None:
    """Broker 2 lacks records, and leads by itself if the controllers forget that it left the ISR."""
    cluster = whole()
    cluster.ends[2] = 20
    cluster.write(tmp_path)
    quorum(tmp_path)
    ahead(tmp_path, 1, cluster, PartitionChanged(0, TOPIC, isr=(1, 3), leader=1))
    code, found, orders = asked()

    assert (code, orders["can_still_be_lost"]) == (Exit.VIOLATED, 10)
    assert "Up to 10 records can still be lost" in found["answer"]


def test_a_broker_that_is_no_voter_makes_nothing_committed(asked: Asked, tmp_path: Path) -> None:
    cluster = whole()
    cluster.write(tmp_path)
    alone = {"currentVoters": [{"voterId": 1}], "data_version": 0}
    for node in BROKERS:
        state = tmp_path / f"broker{node}" / "__cluster_metadata-0" / "quorum-state"
        state.write_text(json.dumps(alone))
    for node in (2, 3):
        ahead(tmp_path, node, cluster, PartitionChanged(0, TOPIC, isr=(1,), leader=1))

    assert asked()[2]["unsettled_from"] == len(cluster.records)


def test_what_decides_nothing_of_a_partition_leaves_it_settled(asked: Asked, tmp_path: Path) -> None:
    cluster = whole()
    cluster.write(tmp_path)
    quorum(tmp_path)
    ahead(tmp_path, 1, cluster, ConfigSet(2, "orders", "retention.ms", "1"))
    code, found, orders = asked()

    assert (code, orders["unsettled_from"]) == (Exit.EXPECTED, None)
    assert found["metadata"]["committed"] == len(cluster.records) == found["metadata"]["end"] - 1


def test_without_a_majority_the_others_may_know_more(asked: Asked, tmp_path: Path) -> None:
    whole().write(tmp_path)
    quorum(tmp_path)
    _, all_here, _ = asked()
    _, found, _ = asked(str(tmp_path / "broker1"))

    assert (all_here["metadata"]["majority_is_here"], found["metadata"]["majority_is_here"]) == (True, False)
    assert any("Of the controllers 1, 2, 3 no majority is here: 2, 3" in each for each in found["basis"])


# ------------------------------------------------------------------ directories


@pytest.mark.parametrize("failed", [False, True])
def test_a_replica_in_a_directory_that_is_not_here_has_no_empty_log(
    asked: Asked, tmp_path: Path, *, failed: bool
) -> None:
    """It would be advised to elect another one uncleanly, and the log is on a disk that was not given.

    A directory that has failed is not among those that its broker registers.
    """
    here, other = UUID(int=1 << 70), UUID(int=1 << 71)
    registered = (here,) if failed else (here, other)
    at = (other, UUID(int=1 << 72), UUID(int=1 << 73))
    cluster = whole(
        BrokerRegistered(1, UUID(int=9), 9, fenced=True, shutting_down=False, directories=registered),
        PartitionCreated(0, TOPIC, BROKERS, (1,), 1, 0, 0, directories=at),
    )
    cluster.write(tmp_path)
    with (tmp_path / "broker1" / "meta.properties").open("a") as file:
        file.write(f"directory.id={uuid_text(here)}\n")
    folder = tmp_path / "broker1" / "orders-0"
    folder.rename(tmp_path / "orders-0.away")
    _, found, orders = asked()

    assert orders["missing"] == [1]
    assert [each["node"] for each in orders["replicas"]] == [2, 3]
    named = f"Not here: log directory {uuid_text(other)} of broker 1 (--lost 1:{uuid_text(other)} "
    assert any(each.startswith(named) for each in found["basis"])

    lost = asked(str(tmp_path), "--lost", f"1:{uuid_text(other)}")[2]
    assert lost["replicas"][0]["lost_disk"]
    assert lost["missing"] == []


def test_a_folder_of_a_topic_that_the_metadata_does_not_know_may_be_newer(
    asked: Asked, tmp_path: Path
) -> None:
    """The topic was deleted and created again, which these brokers' metadata has not yet."""
    whole().write(tmp_path)
    for folder in folders(tmp_path):
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {uuid_text(OTHER)}\n")
    code, found, orders = asked()

    assert (code, orders["fine"]) == (Exit.UNKNOWN, False)
    assert all("or created after the end of the metadata log here" in each for each in found["problems"])
    assert found["answer"].startswith(
        "Nothing that is here can still be lost, whoever starts first, but not all of it is whole."
    )


def test_a_folder_of_a_topic_whose_deletion_is_in_the_metadata_is_older(asked: Asked, tmp_path: Path) -> None:
    whole(TopicRemoved(OTHER)).write(tmp_path)
    for folder in folders(tmp_path):
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {uuid_text(OTHER)}\n")
    _, found, orders = asked()

    assert all(each.endswith("deleted before; left out") for each in found["problems"])
    assert orders["fine"]


@pytest.mark.parametrize(
    ("kind", "stays", "told"),
    [("stray", False, 1), ("stray", True, 1), ("future", False, 1), ("future", True, 0), ("delete", True, 0)],
)
def test_what_a_broker_set_aside_may_have_records(
    kind: str, told: int, asked: Asked, tmp_path: Path, *, stays: bool
) -> None:
    whole().write(tmp_path)
    folder = folders(tmp_path)[0]
    aside = folder.with_name(f"orders-0.5a3c-{kind}")
    if stays:
        log(aside, [(0, 0)])
    else:
        folder.rename(aside)
    _, found, _ = asked()

    assert [str(aside) in each for each in found["problems"]] == [True] * told


def test_a_broker_does_not_start_with_a_directory_whose_epochs_it_cannot_read(
    asked: Asked, tmp_path: Path
) -> None:
    whole().write(tmp_path)
    (folders(tmp_path)[0] / "leader-epoch-checkpoint").write_text("1\n1\n0 0\n")
    code, found, _ = asked()

    assert code == Exit.UNKNOWN
    assert "a broker takes the whole directory offline when it starts" in found["problems"][0]
    assert not any(each.startswith("Not here") for each in found["basis"])


# ------------------------------------------------------------------ logs


def test_records_of_an_old_format_can_be_lost_too(asked: Asked, tmp_path: Path) -> None:
    cluster = whole()
    cluster.write(tmp_path)
    for node, folder in zip(BROKERS, folders(tmp_path), strict=True):
        (folder / "leader-epoch-checkpoint").unlink()
        data = b"".join(old_record(n) for n in range(20 if node == 2 else 30))
        (folder / f"{0:020}.log").write_bytes(data)
        for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
            noted(folder.parent, name, 20)
    code, _, orders = asked()

    assert code == Exit.VIOLATED
    assert [(each["leader"], each["lost"]) for each in orders["outcomes"]] == [(1, 0), (3, 0), (2, 10)]


@pytest.mark.parametrize("flushed", [True, False])
def test_a_log_that_lacks_what_its_broker_had_flushed_or_begun_is_not_fine(
    asked: Asked, tmp_path: Path, *, flushed: bool
) -> None:
    """The high watermark is written every few seconds, and is lower than what was lost."""
    whole().write(tmp_path)
    for folder in folders(tmp_path):
        (folder.parent / ".kafka_cleanshutdown").unlink()
        noted(folder.parent, "replication-offset-checkpoint", 10)
        noted(folder.parent, "recovery-point-offset-checkpoint", 25 if flushed else 0)
        epochs(folder, (0, 0), *([] if flushed else [(4, 25)]))
        log(folder, [(n, 0) for n in range(20)])
    code, _, orders = asked()

    assert code == Exit.VIOLATED
    assert (orders["fine"], orders["unknown_from"]) == (False, 20)
    assert all(each["lost_its_end"] for each in orders["replicas"])
    assert any("noted that all before 25 was in it" in each for each in orders["why"])


@pytest.mark.parametrize(("setting", "told"), [(None, 1), (("remote.storage.enable", "true"), 0)])
def test_a_first_segment_that_is_missing_is_told(
    setting: tuple[str, str] | None, told: int, asked: Asked, tmp_path: Path
) -> None:
    """With tiered storage the broker has deleted it here alone."""
    whole(*([ConfigSet(2, "orders", *setting)] if setting else [])).write(tmp_path)
    folder = folders(tmp_path)[0]
    (folder / f"{0:020}.log").unlink()
    log(folder, [(n, 0) for n in range(20, 30)], segment=20)
    code, found, orders = asked()

    assert [f"{folder}: no segment has offsets 0 to 19" in each for each in found["problems"]] == [
        True
    ] * told
    assert (code, orders["fine"]) == ((Exit.UNKNOWN, False) if told else (Exit.EXPECTED, True))


def test_a_log_whose_start_lies_behind_its_end_is_told(asked: Asked, tmp_path: Path) -> None:
    whole().write(tmp_path)
    noted(tmp_path / "broker1", "log-start-offset-checkpoint", 50)
    code, found, orders = asked()

    assert (code, orders["fine"]) == (Exit.UNKNOWN, False)
    assert "its records end at 30: the broker deletes them all" in found["problems"][0]
    assert not any("are on broker 1 alone" in each for each in orders["why"])


def test_records_are_here_whatever_a_checkpoint_of_epochs_says(asked: Asked, tmp_path: Path) -> None:
    cluster = whole()
    cluster.move(2)
    cluster.produce(10)
    cluster.move(3)
    cluster.produce(10)
    cluster.write(tmp_path)
    epochs(folders(tmp_path)[0], (0, 0), (2, 40))
    code, found, orders = asked()

    assert code == Exit.UNKNOWN
    assert [each["lost"] for each in orders["outcomes"]] == [0, 0, 0]
    assert "does not say that epoch 1 began at 30" in found["problems"][0]


def test_an_epoch_that_no_record_has_is_told(asked: Asked, tmp_path: Path) -> None:
    whole().write(tmp_path)
    epochs(folders(tmp_path)[0], (0, 0), (2, 10))
    code, found, _ = asked()

    assert code == Exit.UNKNOWN
    assert "says that epoch 2 began at 10, where the records are of another one" in found["problems"][0]


def test_compaction_that_was_interrupted_leaves_all_whole(asked: Asked, tmp_path: Path) -> None:
    whole(ConfigSet(2, "orders", "cleanup.policy", "compact")).write(tmp_path)
    for folder in folders(tmp_path):
        swapped = log(folder, [(n, 0) for n in range(0, 30, 3)] + [(29, 0)])
        swapped.rename(swapped.with_suffix(".log.swap"))
    code, _, orders = asked()

    assert code == Exit.EXPECTED
    assert [(each["start"], each["end"]) for each in orders["replicas"]] == [(0, 30)] * 3


def test_a_follower_that_lost_its_log_is_not_fine_though_it_leads_nobody(
    asked: Asked, tmp_path: Path
) -> None:
    cluster = whole()
    cluster.stop(3)
    cluster.write(tmp_path)
    (folders(tmp_path)[2] / f"{0:020}.log").write_bytes(b"")
    (folders(tmp_path)[2] / "leader-epoch-checkpoint").unlink()
    code, _, orders = asked()

    assert (code, orders["fine"]) == (Exit.EXPECTED, False)
    assert any("Broker 3's log ends at 0, though" in each for each in orders["why"])


def test_without_high_watermarks_less_is_seen(asked: Asked, tmp_path: Path) -> None:
    whole().write(tmp_path)
    (tmp_path / "broker2" / "replication-offset-checkpoint").unlink()
    _, found, _ = asked()

    assert any(each.startswith("No high watermark of broker 2 is here ") for each in found["basis"])
