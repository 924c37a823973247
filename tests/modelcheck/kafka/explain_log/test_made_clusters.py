"""Clusters of any age, by their directories: explained with the faults that they had, in few points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.modelcheck.kafka.files.made_cluster import MadeCluster, aged
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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cluster_of_some_days_is_explained(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = aged(tmp_path, epochs_=10, records=2_000, seed=seed)

    assert_is_its_history(explained(capsys, tmp_path), cluster)


# ------------------------------------------------------------------ the newest part


@pytest.mark.parametrize("seed", [1, 2])
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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cluster_of_fifty_epochs_and_a_million_records_is_explained(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = aged(tmp_path, epochs_=50, records=1_000_000, seed=seed)

    assert cluster.epoch >= 49
    assert max(cluster.ends.values()) >= 1_000_000
    assert_is_its_history(explained(capsys, tmp_path), cluster)
