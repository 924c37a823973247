"""What can be seen of a cluster in its directories, and what is cut from a log."""

from __future__ import annotations

import shutil
from pathlib import Path

from modelcheck.asking.models import pick_checks
from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.partition_log import read_log
from modelcheck.kafka.reproduce.observed_state import (
    RECORD,
    SeenPartition,
    View,
    cut_log,
    high_watermark,
    image,
    named,
    records,
    unfenced,
)
from spec.load import load
from tests.modelcheck.conftest import CLUSTERS
from tests.modelcheck.kafka.files.written import batch

PLACE = TopicPartition("orders", 0)


def test_the_controllers_directory_says_who_leads_and_who_has_a_session() -> None:
    found = image(CLUSTERS / "eligible" / "controller")

    assert found is not None
    partition = found.at(PLACE)
    assert partition is not None
    assert set(partition.replicas) == {1, 2, 3}
    assert unfenced(found) <= {1, 2, 3}


def test_there_is_nothing_in_a_folder_without_a_log(tmp_path: Path) -> None:
    assert image(tmp_path) is None
    assert list(records(tmp_path, PLACE)) == []


def test_only_records_of_the_model_have_names() -> None:
    found = [named(value) for value in (f"{RECORD}12".encode(), b"other traffic", b"record x", None)]

    assert found == [12, None, None, None]


def test_a_log_is_cut_at_an_offset(tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    shutil.copytree(CLUSTERS / "eligible" / "broker1" / "orders-0", folder)
    before = read_log(folder).end
    cut_log(folder, 10)

    assert before > 10
    assert read_log(folder).end == 10
    cut_log(folder, 0)
    assert read_log(folder).end == 0


def test_two_looks_differ_in_their_parts_only() -> None:
    model, check = pick_checks(load("kafka"), ["acks_one"])[0]
    view = View(model, check.scope)
    both = frozenset({0, 1})
    one = SeenPartition(0, both, frozenset(), both, both, ((1,), ()), frozenset({1}))
    other = SeenPartition(1, both, frozenset(), both, both, ((1,), (1,)), frozenset({1}))
    found = [(each.part, each.model, each.cluster) for each in view.differences(one, other)]

    assert found == [("leader", "A", "B"), ("log of B", "empty", "1")]


def test_a_high_watermark_is_counted_in_records_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    values = [b"other traffic", f"{RECORD}1".encode(), b"other traffic", f"{RECORD}2".encode()]
    (tmp_path / "orders-0" / f"{0:020}.log").write_bytes(batch(0, values))
    found = [high_watermark(tmp_path, PLACE)]
    for mark in (1, 2, 3, 4):
        (tmp_path / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {mark}\n")
        found.append(high_watermark(tmp_path, PLACE))

    assert found == [0, 0, 1, 1, 2]
