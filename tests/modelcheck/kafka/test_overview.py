"""Every topic of a cluster in one table: the same answers as each topic alone, the worst on top."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())
TOPICS = """\
Topic: payments\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=2
\tTopic: payments\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
Topic: logs\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:
\tTopic: logs\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1
Topic: audit\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:
\tTopic: audit\tPartition: 0\tLeader: 2\tReplicas: 2\tIsr: 2
"""
OPTIONS = ("--kafka", "3.7", "--faults", "1")


@pytest.fixture
def topics(tmp_path: Path) -> str:
    path = tmp_path / "topics.txt"
    path.write_text(TOPICS)
    return str(path)


def answered(capsys: pytest.CaptureFixture[str], *options: str) -> Any:  # noqa: ANN401 - JSON
    assert main(["kafka", "review", *options, *OPTIONS, "--json"]) == Exit.EXPECTED
    return json.loads(capsys.readouterr().out)


def without_time(review: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in review.items() if key != "seconds"}


def test_each_topic_is_answered_as_it_is_alone(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, topics, "--all-topics")

    assert [each["name"] for each in found["topics"]] == ["audit", "logs", "payments"]
    for each in found["topics"]:
        jsonschema.validate(each["review"], SCHEMA)
        alone = answered(capsys, topics, "--topic", each["name"])
        assert without_time(each["review"]) == without_time(alone)


def test_the_table_and_the_page_say_the_same(
    topics: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["kafka", "review", topics, "--all-topics", *OPTIONS, "--html", str(page)]) == Exit.EXPECTED
    out = capsys.readouterr().out.splitlines()
    html = page.read_text()
    rows = {row.split()[0]: row.split()[1:] for row in out[3:6]}

    assert out[0] == "Kafka 3.7: 3 topics of 2 brokers, those that survive least first"
    assert list(rows) == ["audit", "logs", "payments"]
    assert rows["audit"][:5] == ["1", "1", "all", "no", "0"]
    assert rows["payments"][:5] == ["2", "2", "all", "no", "1+"]
    assert "one partition of topic audit" in "\n".join(out)
    for name, cells in rows.items():
        row = re.search(rf"<th[^>]*>\s*{name}\s*</th>(.*?)</tr>", html, re.DOTALL)
        assert row is not None
        assert re.findall(r">\s*([\w+<?]+)\s*<", row[1]) == cells
    assert "modelcheck kafka review" in html
    assert "--all-topics" in html


def test_a_requirement_that_one_topic_breaks_is_broken(
    topics: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["kafka", "review", topics, "--all-topics", *OPTIONS, "--require", "durable:1"]) == Exit.VIOLATED
    )
    assert "required durable:1: NOT met" in capsys.readouterr().out


def test_one_topic_and_all_of_them_cannot_both_be_asked_for(
    topics: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kafka", "review", topics, "--all-topics", "--topic", "logs"]) == Exit.WRONG
    assert "not allowed with" in capsys.readouterr().err
