"""A run is found of metadata that may not count, or was not understood: the answer has that beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.kafka.files.metadata.records import FeatureLevel, PartitionChanged
from tests.modelcheck.kafka.files.made_cluster import BROKERS, TOPIC, MadeCluster
from tests.modelcheck.kafka.files.metadata_written import encoded
from tests.modelcheck.kafka.files.written import batch, snapshot


def asked(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    main(["kafka", "explain-log", str(path), "--partition", "orders-0", "--max-states", "5000", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found, found["partitions"][0]


def test_what_one_voter_alone_has_is_not_settled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = MadeCluster()
    cluster.produce(30)
    cluster.write(tmp_path)
    voters = {"currentVoters": [{"voterId": node} for node in BROKERS], "data_version": 0}
    for node in BROKERS:
        folder = tmp_path / f"broker{node}" / "__cluster_metadata-0"
        (folder / "quorum-state").write_text(json.dumps(voters))
    _, before = asked(capsys, tmp_path)
    alone = tmp_path / "broker1" / "__cluster_metadata-0" / f"{0:020}.log"
    change = encoded(PartitionChanged(0, TOPIC, isr=(1, 2)))
    alone.write_bytes(alone.read_bytes() + batch(len(cluster.records), [change], 1))
    _, after = asked(capsys, tmp_path)

    told = f"what the metadata has from offset {len(cluster.records)} on is not on a majority"
    assert [any(told in each for each in found["basis"]) for found in (before, after)] == [False, True]


def test_a_level_that_is_not_known_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = MadeCluster()
    cluster.records.append(FeatureLevel("metadata.version", 99))
    cluster.write(tmp_path)
    found, _ = asked(capsys, tmp_path)

    assert any(each.startswith("metadata.version is 99, and only levels") for each in found["problems"])


def test_a_snapshot_beyond_the_end_of_the_log_is_what_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A node that lagged far fetched it, and had no time to drop its log."""
    cluster = MadeCluster()
    cluster.produce(30)
    cluster.write(tmp_path)
    cluster.records.append(PartitionChanged(0, TOPIC, isr=(2,), leader=2))
    for node in BROKERS:
        folder = tmp_path / f"broker{node}" / "__cluster_metadata-0"
        snapshot(folder, 90, 2, [encoded(each) for each in cluster.records])
    _, found = asked(capsys, tmp_path)

    evidence = [each for step in found["explained"]["steps"] for each in step["evidence"]]
    assert any("broker 2 leads in epoch 1, in sync [2]" in str(each) for each in evidence)
