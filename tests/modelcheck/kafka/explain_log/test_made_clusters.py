"""Clusters of any age, by their directories: explained with the faults that they had, in few points."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.modelcheck.kafka.files.made_cluster import MadeCluster, aged, without_leader
from tests.modelcheck.kafka.files.written import batch, epochs

NETWORK = ("isolate", "cut_off", "session_loss")


def explained(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> dict[str, Any]:
    assert main(["kafka", "explain-log", str(folder), "--json", *more]) == Exit.EXPECTED
    (found,) = json.loads(capsys.readouterr().out)["partitions"]
    assert isinstance(found, dict)
    return found


def points(found: dict[str, Any]) -> int:
    """How many points were looked at, in the answer's own words."""
    (said,) = (each for each in found["basis"] if each.startswith("Looked at: "))
    return int(said.split()[2].replace(",", ""))


def assert_is_its_history(found: dict[str, Any], cluster: MadeCluster) -> None:
    faults = found["explained"]["faults"]

    assert sum(faults.get(kind, 0) for kind in NETWORK) == cluster.cuts
    assert sum(faults.values()) == cluster.cuts + len(cluster.killed)
    assert points(found) < 8 * len(found["explained"]["steps"])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly), 3])
def test_a_cluster_of_some_days_is_explained(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = aged(tmp_path, epochs_=10, records=2_000, seed=seed)

    assert_is_its_history(explained(capsys, tmp_path), cluster)


def test_replicas_in_another_order_are_the_same_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on Kafka 4.1.0, where no broker led meanwhile: no run of the model begins so."""
    cluster = without_leader()
    cluster.reassign(3, 1, 2)
    cluster.write(tmp_path)
    found = explained(capsys, tmp_path)

    assert sum(found["explained"]["faults"].values()) == 4
    assert not [line for line in found["basis"] if "replicas of" in line]


@pytest.mark.parametrize(("replicas", "faults"), [((3, 1), 3), ((3, 1, 4, 2), 4)])
def test_other_replicas_without_a_leader_begin_with_who_was_struck_before(
    replicas: tuple[int, ...], faults: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two were eligible by min.insync.replicas, and one is: the other has started since, in no file."""
    cluster = without_leader()
    cluster.reassign(*replicas)
    cluster.write(tmp_path)
    found = explained(capsys, tmp_path)

    assert sum(found["explained"]["faults"].values()) == faults


# ------------------------------------------------------------------ what no file has


def test_the_disk_of_a_broker_can_be_lost_after_it_was_shut_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its log says that it came to its end."""
    cluster = MadeCluster()
    cluster.produce(100)
    for broker in (3, 2, 1):
        cluster.stop(broker)
    cluster.write(tmp_path)
    shutil.rmtree(tmp_path / "broker1")
    log = tmp_path / "logs" / "broker1" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "[2026-11-27 16:53:23,146] INFO [Broker id=1] Leader orders-0 with topic id"
        " Some(AAAAAAAAAAAAAAAAAAAABw) starts at leader epoch 0 from offset 0 with partition epoch 0, high"
        " watermark 0, ISR [1,2,3], adding replicas [] and removing replicas [] . Previous leader None and"
        " previous leader epoch was -1. (state.change.logger)\n"
        "[2026-11-27 16:54:18,604] INFO [BrokerServer id=1] Transition from STARTED to SHUTTING_DOWN"
        " (kafka.server.BrokerServer)\n"
        "[2026-11-27 16:54:19,400] INFO [BrokerServer id=1] shut down completed (kafka.server.BrokerServer)\n"
    )
    found = explained(capsys, tmp_path, "--lost", "1")
    steps = [each["name"] for each in found["explained"]["steps"]]

    assert found["explained"]["faults"] == {"stopped_disk_loss": 1}
    assert steps.index("shut_down(broker1)") < steps.index("stopped_disk_loss(broker1)")
    assert found["unknown_from"] == 100


@pytest.mark.parametrize(
    ("acks", "comes_back", "since"), [("1", True, 100), ("1", False, None), ("all", True, None)]
)
def test_what_a_deposed_leader_acknowledged_alone_is_not_known_once_it_has_followed(
    acks: str, since: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, comes_back: bool
) -> None:
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.kill(1)
    cluster.produce(10)
    if comes_back:
        cluster.start(1)
    cluster.write(tmp_path)
    found = explained(capsys, tmp_path, "--acks", acks)

    assert found["explained"]["lost"] == []
    assert found["unknown_from"] == since


@pytest.mark.parametrize(("torn", "beside"), [(True, False), (False, True), (False, False)])
def test_a_log_that_ends_within_a_batch_and_those_beside_it_may_have_had_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, torn: bool, beside: bool
) -> None:
    """The last leader is killed, and no high watermark says that its log was longer."""
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.kill(2)
    cluster.kill(3)
    cluster.produce(10)
    cluster.kill(1)
    cluster.write(tmp_path)
    (tmp_path / "broker1" / "replication-offset-checkpoint").write_text("0\n1\norders 0 100\n")
    if torn:
        segment = next((tmp_path / "broker1" / "orders-0").glob("*.log"))
        segment.write_bytes(segment.read_bytes() + batch(110, [b"more"])[:-20])
    if beside:
        _, quiet = (tmp_path / "broker1" / name for name in ("orders-0", "quiet-0"))
        shutil.copytree(tmp_path / "broker1" / "orders-0", quiet)
        segment = next(quiet.glob("*.log"))
        segment.write_bytes(segment.read_bytes()[:-20])
    found = explained(capsys, tmp_path)

    assert found["explained"]["lost"] == []
    assert found["unknown_from"] == (110 if torn or beside else None)


# ------------------------------------------------------------------ the newest part


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_part_has_the_faults_of_its_time_and_the_losses_of_the_whole(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = aged(tmp_path, epochs_=10, records=2_000, seed=seed)
    whole = explained(capsys, tmp_path)
    before = sum(whole["explained"]["faults"].values())
    for epoch in (1, 4, 7, 10):
        part = explained(capsys, tmp_path, "--from-epoch", str(epoch))
        faults = sum(part["explained"]["faults"].values())

        assert part["from_epoch"] <= epoch
        assert len(cluster.killed) <= faults <= before
        assert part["explained"]["lost"] == whole["explained"]["lost"] == []
        assert len(part["explained"]["steps"]) < len(whole["explained"]["steps"])
        before = faults


def test_a_part_of_an_offset_is_that_of_its_epoch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = aged(tmp_path, epochs_=10, records=2_000, seed=1)
    epoch, start = cluster.logs[1][6]
    by_offset = explained(capsys, tmp_path, "--from-offset", str(start))
    by_epoch = explained(capsys, tmp_path, "--from-epoch", str(epoch))

    assert by_epoch["from_epoch"] is not None
    assert by_offset == by_epoch


def test_what_was_before_a_part_counts_as_acknowledged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last member of the ISR has lost its end, which others have; no file shows what was acknowledged."""
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.move(2)
    cluster.move(1)
    cluster.stop(2)
    cluster.stop(3)
    cluster.kill(1)
    cluster.logs[1], cluster.ends[1] = [(0, 0)], 50
    cluster.write(tmp_path)
    for broker in (1, 2, 3):
        (tmp_path / f"broker{broker}" / "replication-offset-checkpoint").write_text("0\n1\norders 0 50\n")
    whole = explained(capsys, tmp_path)
    part = explained(capsys, tmp_path, "--from-epoch", "2")

    assert whole["explained"]["faults"] == part["explained"]["faults"] == {"power_loss": 1}
    assert whole["explained"]["endangered"] == []
    assert part["explained"]["endangered"] == [{"start": 50, "end": 100}]
    assert any("all below offset 100 count as acknowledged" in each for each in part["basis"])


def test_a_part_begins_before_logs_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Broker 3 has records of epoch 1 that nobody else has: what is behind them begins no part."""
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.move(2)
    cluster.move(1)
    cluster.produce(10)
    cluster.stop(3)
    cluster.stop(2)
    cluster.produce(5)
    cluster.kill(1)
    cluster.write(tmp_path)
    assert explained(capsys, tmp_path, "--from-epoch", "9")["from_epoch"] == 2

    segment = tmp_path / "broker3" / "orders-0" / f"{0:020}.log"
    segment.write_bytes(batch(0, [b"v"] * 100) + batch(100, [b"v"] * 10, epoch=1))
    epochs(segment.parent, (0, 0), (1, 100))
    main(["kafka", "explain-log", str(tmp_path), "--json", "--from-epoch", "9", "--max-states", "300"])
    (found,) = json.loads(capsys.readouterr().out)["partitions"]

    assert found["from_epoch"] == 1


# ------------------------------------------------------------------ old clusters


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_a_cluster_of_fifty_epochs_and_a_million_records_is_explained(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = aged(tmp_path, epochs_=50, records=1_000_000, seed=seed)

    assert cluster.epoch >= 49
    assert max(cluster.ends.values()) >= 1_000_000
    assert_is_its_history(explained(capsys, tmp_path), cluster)
