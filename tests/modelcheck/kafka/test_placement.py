"""Files that contradict each other, and replicas where none should stand: a message with the line."""

from __future__ import annotations

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import render
from spec.source import Source

TOPIC = (
    "Topic: a\tPartitionCount: 1\tReplicationFactor: 2\tConfigs:\n"
    "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,7\tIsr: 1,7\n"
)


def review(*texts: str, brokers: int | None = None) -> Settings:
    return resolve([read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)], brokers=brokers)


OF_TWO = (  # what Kafka keeps for itself fits two brokers
    "offsets.topic.replication.factor=2\n"
    "transaction.state.log.replication.factor=2\n"
    "transaction.state.log.min.isr=1\n"
)


def broker(number: int, rack: str = "") -> str:
    return f"broker.id={number}\n" + (f"broker.rack={rack}\n" if rack else "") + OF_TWO


def warnings(settings: Settings) -> list[str]:
    return [render(warning, level="warning") for warning in settings.warnings]


def test_two_releases_are_a_contradiction() -> None:
    found = review(
        "services:\n  a: {image: 'apache/kafka:3.7.0'}\n  b: {image: 'apache/kafka:4.1.0'}\n",
    )

    assert str(found.version.value) == "3.7"
    (told,) = warnings(found)
    assert told == (
        "f0:2:14: warning[R0736]: the files do not agree on the Kafka version; it is reviewed as Kafka 3.7\n"
        "    2 |   a: {image: 'apache/kafka:3.7.0'}\n"
        "      |              ^^^^^^^^^^^^^^^^^^^^\n"
        "f0:3:14: note: here it is 4.1.0 (image apache/kafka:4.1.0)\n"
        "    3 |   b: {image: 'apache/kafka:4.1.0'}\n"
        "      |              ^^^^^^^^^^^^^^^^^^^^"
    )


def test_patches_of_one_release_are_none() -> None:
    found = review(
        "services:\n  a: {image: 'apache/kafka:3.7.0'}\n  b: {image: 'apache/kafka:3.7.2'}\n",
    )

    assert found.warnings == ()


def test_two_numbers_of_brokers_are_a_contradiction_and_do_not_add_up() -> None:
    found = review(
        "kind: Kafka\nspec: {kafka: {replicas: 3}}\n",
        "CurrentVoters: [9]\nCurrentObservers: [0,1,2,3]\n",
    )

    assert found.brokers.value == 3
    assert [warning.code for warning in found.warnings] == ["R0736"]


def test_a_replica_on_a_broker_that_no_file_tells_of() -> None:
    (told,) = warnings(review(broker(1), broker(2), TOPIC))

    assert told == (
        "f2:2:44: warning[R0737]: broker 7 holds a replica, and its own settings are not known\n"
        "    2 |  Topic: a Partition: 0 Leader: 1 Replicas: 1,7 Isr: 1,7\n"
        "      |                                            ^^^\n"
        "  help: those of brokers 1, 2 are; the review assumes a broker like these"
    )


def test_replicas_on_more_brokers_than_there_are() -> None:
    three = TOPIC.replace("1,7", "1,7,8")

    (told,) = review(three, brokers=2).warnings

    assert told.code == "R0737"
    assert told.message == "replicas are on brokers 1, 7, 8, and there are 2 (as asked for)"


def test_all_replicas_in_one_rack() -> None:
    (told,) = warnings(review(broker(1, "east"), broker(7, "east"), TOPIC))

    assert told.startswith("f2:2:44: warning[R0738]: all replicas of partition 0 are in rack `east`")
    assert "f0:2:13: note: this broker's rack" in told


def test_two_racks_are_fine() -> None:
    assert review(broker(1, "east"), broker(7, "west"), TOPIC).warnings == ()


def test_eligible_leader_replicas_at_an_old_level() -> None:
    features = (
        "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
        "FinalizedVersionLevel: 1\tEpoch: 9\n"
        "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
        "FinalizedVersionLevel: 3.9-IV0\tEpoch: 9\n"
    )
    found = review(features)

    assert [warning.code for warning in found.warnings] == ["R0739"]
    assert found.switches.eligible_leader_replicas.value is False
