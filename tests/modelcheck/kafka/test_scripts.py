"""What the commands of Kafka's tools in a script change."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError


def review(text: str, *, kafka: str) -> Settings:
    return resolve([read_bytes("run.sh", text.encode())], kafka=kafka)


def script(*commands: str) -> str:
    return "\n".join(["#!/bin/sh", *commands, ""])


CREATED = "kafka-topics.sh --bootstrap-server a:9092 --create --topic orders --replication-factor 3"
OF_ORDERS = "kafka-configs.sh --bootstrap-server a:9092 --alter --entity-type topics --entity-name orders"


def test_a_topic_that_a_script_alters_is_one_of_the_files() -> None:
    """It was left out, and its settings with it, without a word."""
    found = review(script(f"{OF_ORDERS} --add-config min.insync.replicas=2"), kafka="3.6")

    assert [topic.name for topic in found.topics] == ["orders"]
    assert found.value("min.insync.replicas").value == 2


@pytest.mark.parametrize(
    "deletion",
    [
        f"{OF_ORDERS} --delete-config min.insync.replicas,retention.ms",
        "kafka-topics.sh --zookeeper a:2181 --alter --topic orders --delete-config min.insync.replicas",
    ],
)
def test_what_a_script_deletes_does_not_count(deletion: str) -> None:
    created = f"{CREATED} --config min.insync.replicas=2"
    found = review(script(created, deletion), kafka="2.8")

    assert found.value("min.insync.replicas").origin is None
    assert any("`min.insync.replicas` of topic orders is deleted in line 3" in note for note in found.notes)
    again = review(script(created, deletion, f"{OF_ORDERS} --add-config min.insync.replicas=3"), kafka="2.8")
    assert again.value("min.insync.replicas").value == 3


def test_what_is_deleted_of_a_topic_without_a_name_is_not_read() -> None:
    deletion = OF_ORDERS.replace("orders", '"$t"') + " --delete-config min.insync.replicas"

    text = script(f"{CREATED} --config min.insync.replicas=2", deletion)

    with pytest.raises(SpecError) as caught:
        review(text, kafka="3.7")
    assert "R0734" in [diagnostic.code for diagnostic in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("kafka-features.sh --bootstrap-server a:9092 upgrade --metadata 4.0-IV0", False),
        ("kafka-features.sh --bootstrap-server a:9092 upgrade --feature metadata.version=22", False),
        ("kafka-features.sh disable --feature eligible.leader.replicas.version", False),
        ("kafka-features.sh upgrade --dry-run --metadata 4.0-IV0 --bootstrap-server a:9092", True),
        ("kafka-storage.sh format --release-version 4.0 --feature eligible.leader.replicas.version=1", True),
        ("kafka-storage.sh format -t X -c server.properties --release-version 4.0", False),
    ],
)
def test_features_that_a_script_sets(command: str, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    """Those of a cluster that is formatted, or changed, as FeatureCommand and StorageTool take them."""
    made = review(script(CREATED, command), kafka="4.1").switches

    assert made.eligible_leader_replicas.value is expected
