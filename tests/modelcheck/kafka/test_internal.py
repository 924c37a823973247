"""Kafka's own topics: reviewed as the brokers make them, whatever producers and other topics have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit

BROKER = """\
min.insync.replicas=2
default.replication.factor=3
unclean.leader.election.enable=true
offsets.topic.replication.factor=1
transaction.state.log.min.isr=3
zookeeper.connect=z:2181
"""
PRODUCER = "bootstrap.servers=a:9092\nkey.serializer=x\nacks=1\n"
SHOWN = """\
Topic: __transaction_state\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=1
\tTopic: __transaction_state\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"server.properties": BROKER, "producer.properties": PRODUCER, "topics.txt": SHOWN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def reviewed(capsys: pytest.CaptureFixture[str], *options: str, kafka: str = "3.7.0") -> Any:  # noqa: ANN401 - JSON
    code = main(["kafka", "review", *options, "--kafka", kafka, "--brokers", "3", "--faults", "0", "--json"])
    out, err = capsys.readouterr()
    assert code == Exit.EXPECTED, err
    return json.loads(out)


def made(review: dict[str, Any]) -> tuple[object, ...]:
    """Replicas, min ISR, acks, and whether a replica out of sync may lead."""
    switches = review["settings"]["switches"]
    names = ("replication_factor", "min_insync_replicas", "acks", "unclean_election")
    return tuple(switches[name]["value"] for name in names)


def test_positions_of_consumers_have_the_brokers_min_isr_and_their_own_replicas(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = (files["server.properties"], files["producer.properties"], "--topic", "__consumer_offsets")
    review = reviewed(capsys, *given)
    assert made(review) == (1, 1, "all", True)  # since 3.7 min ISR counts as at most the replicas
    assert "server.properties:4" in review["settings"]["switches"]["replication_factor"]["reason"]


def test_transactions_never_elect_a_replica_out_of_sync_and_have_a_min_isr_of_their_own(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = (files["server.properties"], files["producer.properties"], "--topic", "__transaction_state")
    assert made(reviewed(capsys, *given)) == (3, 3, "all", False)


def test_what_a_file_shows_of_the_topic_is_believed(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = (files["server.properties"], files["topics.txt"], "--topic", "__transaction_state")
    assert made(reviewed(capsys, *given)) == (2, 1, "all", True)


def test_positions_were_once_acknowledged_as_the_brokers_say(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weaker = tmp_path / "weaker.properties"
    weaker.write_text("min.insync.replicas=1\noffsets.commit.required.acks=1\n")
    given = (str(weaker), "--topic", "__consumer_offsets")
    assert made(reviewed(capsys, *given, kafka="2.8"))[2] == "1"
    assert made(reviewed(capsys, *given, kafka="4.1"))[2] == "all"  # the key is gone


def test_they_stand_beside_the_others_where_brokers_are_shown(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["", "__consumer_offsets", "__transaction_state"]
    brokers = reviewed(capsys, files["server.properties"], "--all-topics")
    assert sorted(each["name"] for each in brokers["topics"]) == [
        "",
        "__consumer_offsets",
        "__transaction_state",
    ]
    producer = reviewed(capsys, files["producer.properties"], "--all-topics")
    assert [each["name"] for each in producer["topics"]] == [""]
    old = reviewed(capsys, files["server.properties"], "--all-topics", kafka="0.8.2")
    assert sorted(each["name"] for each in old["topics"]) == names[:2]


def test_a_topic_that_is_named_like_an_internal_one_is_in_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topics = tmp_path / "topics.sh"
    create = "kafka-topics.sh --bootstrap-server a:9092 --create --replication-factor 1 --topic"
    topics.write_text(f"#!/bin/sh\n{create} t\n{create} __store\n{create} __share_group_state\n")
    found = reviewed(capsys, str(topics), "--all-topics", kafka="4.2")

    assert sorted(each["name"] for each in found["topics"]) == ["__share_group_state", "__store", "t"]


def test_the_state_of_share_groups_has_replicas_and_a_min_isr_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broker = tmp_path / "broker.properties"
    broker.write_text(
        "process.roles=broker\nshare.coordinator.state.topic.min.isr=1\nmin.insync.replicas=3\n"
    )
    found = reviewed(capsys, str(broker), "--topic", "__share_group_state", kafka="4.2")

    assert made(found) == (3, 1, "all", False)


def test_a_release_without_the_topic_says_so(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--kafka", "0.8.2", "--topic", "__transaction_state"]
    assert main(["kafka", "review", files["server.properties"], *options]) == Exit.WRONG
    assert "R0722" in capsys.readouterr().err
