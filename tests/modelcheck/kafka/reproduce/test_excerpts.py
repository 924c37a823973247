"""What is new in the files of a cluster, read in the directories of real ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.reproduce.cluster import CONTROLLER, Cluster
from modelcheck.kafka.reproduce.excerpts import LAST, MOST, NewInFiles

PLACE = TopicPartition("orders", 0)


class Stopped:
    """A cluster of which there are directories only."""

    brokers = (1, 2, 3)

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, node: int) -> Path:
        return self.root / ("controller" if node == CONTROLLER else f"broker{node}")

    def output(self, node: int) -> Path:
        return self.root / f"{node}.log"


def new_in(root: Path) -> NewInFiles:
    return NewInFiles(cast("Cluster", Stopped(root)), PLACE)


@pytest.fixture
def root(copied: Callable[[str], Path]) -> Path:
    return copied("elected_unclean")


def test_the_entries_that_change_the_partition_and_the_brokers_are_told_with_their_offsets(
    root: Path,
) -> None:
    metadata, *logs = new_in(root).read()
    said = "\n".join(metadata.lines)

    assert (metadata.node, metadata.file) == (CONTROLLER, "__cluster_metadata-0")
    assert "· partition: replicas " in said
    assert "· partition changes: leader " in said
    assert "is fenced" in said
    assert "about neither the partition nor a broker" in said
    assert metadata.lines[-1].startswith("so after offset ")
    assert len(metadata.lines) <= MOST + 1
    assert [each.node for each in logs] == [1, 2, 3]
    assert all(each.file == "orders-0" for each in logs)
    assert logs[0].lines[0].startswith("offset 0 · epoch 0 · ")
    assert any(line.startswith("replication-offset-checkpoint: ") for line in logs[0].lines)


def test_only_what_is_new_is_told_again(root: Path) -> None:
    new = new_in(root)
    new.read()
    metadata, *logs = new.read()

    assert len(metadata.lines) == 1
    assert metadata.lines[0].startswith("so after offset ")
    assert logs == []
    shutil.rmtree(root / "broker2")
    assert [(each.node, each.lines) for each in new.read()[1:]] == [(2, ("it has no log",))]


def test_without_files_there_is_nothing(tmp_path: Path) -> None:
    new = new_in(tmp_path)

    assert [each.lines for each in new.read()] == [("it has no log",)] * 3
    assert new.last_lines() == ()


def test_of_what_a_process_wrote_the_last_lines_are_told(tmp_path: Path) -> None:
    (tmp_path / "2.log").write_text("".join(f"line {number}\n" for number in range(100)))
    (found,) = new_in(tmp_path).last_lines()

    assert (found.node, found.file) == (2, "2.log")
    assert found.lines == tuple(f"line {number}" for number in range(100 - LAST, 100))
