"""Every topic as CSV: what a spreadsheet or a program reads of it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.report.topics_csv import COLUMNS

ROOT = Path(__file__).parents[3]
TOPICS = """\
Topic: orders\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1
\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,1\tIsr: 2,1
Topic: -1+cmd\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:
\tTopic: -1+cmd\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1
"""
POLICY = """\
[[require]]
topics = "*"
guarantees = ["durable:1", "writable:1:crash"]
owner = "core"
why = 'a "pair", of crashes; or one'

[[except]]
topics = "-1*"
guarantees = "durable:1"
until = 2999-12-31
why = "@home"
"""
Rows = dict[str, dict[str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text(TOPICS)
    Path("policy.toml").write_text(POLICY)
    return tmp_path


def rows(*options: str) -> Rows:
    command = ["kafka", "review", "topics.txt", "--kafka", "3.7", "--faults", "1", "--csv", "t.csv"]
    assert main([*command, *options]) == Exit.VIOLATED
    with Path("t.csv").open(newline="") as file:
        found = list(csv.DictReader(file, strict=True))
    assert all(None not in row and None not in row.values() for row in found)
    return {row["topic"]: row for row in found}


@pytest.mark.usefixtures("folder")
def test_each_topic_has_a_row_with_settings_answers_state_and_policy() -> None:
    found = rows("--all-topics", "--policy", "policy.toml")
    orders, other = found["orders"], found["'-1+cmd"]

    assert list(found) == ["orders", "'-1+cmd"]
    assert orders["replicas"] == orders["min_insync_replicas"] == "2"
    assert orders["min_insync_replicas_from"] == "min.insync.replicas=2 (topic at topics.txt:1)"
    assert [orders[name] for name in ("durable", "writable", "faults_tried")] == ["kept", "1", "1"]
    assert orders["today"] == "0: leader 1, ISR 1 of 1,2"
    assert [orders[f"today_{name}"] for name in ("durable", "writable")] == ["1", "0"]
    assert (other["today"], other["today_writable"]) == ("in sync", "")
    assert other["worst_loss"].startswith("durable: with 1 fault acknowledged records can be lost")
    assert orders["policy"] == other["policy"] == "not met"
    by = 'policy.toml:1, core: a "pair", of crashes; or one'
    assert orders["required"] == f"durable:1 ({by}); writable:1:crash ({by})"
    assert other["not_met"] == f"writable:1:crash ({by})"
    assert other["exempted"] == "durable:1 until 2999-12-31 (policy.toml:7: @home)"
    assert orders["complete"] == "yes"


@pytest.mark.usefixtures("folder")
def test_no_cell_is_a_formula_and_lines_end_as_the_standard_has_it() -> None:
    rows("--all-topics", "--policy", "policy.toml")
    data = Path("t.csv").read_bytes()

    assert data.count(b"\r\n") == data.count(b"\n") == 3
    cells = [cell for row in csv.reader(data.decode().splitlines()) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


@pytest.mark.usefixtures("folder")
def test_one_topic_is_one_row_and_the_file_is_known_as_ours() -> None:
    assert list(rows("--topic", "orders")) == ["orders"]
    assert list(rows("--topic", "orders")) == ["orders"]  # written over
    Path("t.csv").write_text("topic,kafka\nmine,3.7\n")
    command = ["kafka", "review", "topics.txt", "--kafka", "3.7", "--faults", "0", "--csv", "t.csv"]

    assert main([*command, "--topic", "orders"]) == Exit.WRONG


def test_the_columns_are_those_that_the_guide_lists() -> None:
    guide = (ROOT / "docs/how-to/review-kafka.md").read_text()
    table = guide.partition("| columns |")[2].partition("\n\n")[0]
    listed = re.findall(r"`([a-z_]+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    settings = {name for name in COLUMNS if f"{name}_from" in COLUMNS}
    named = {name for name in COLUMNS if not name.endswith("_from") and not name.startswith("today_")}

    assert settings < named
    assert set(listed) - {"today_durable", "today_consistent"} == named
