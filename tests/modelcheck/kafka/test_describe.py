"""What Kafka's tools print, old and new."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.kafka.settings.readers.describe import read_configs, read_topics
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.readings import FileKind, Partition, SettingLayer
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.source import Source

INPUTS = Path(__file__).parent / "inputs"


def test_topics_of_4_0_with_eligible_leaders() -> None:
    (reading,) = read_files([str(INPUTS / "topics-4.0.txt")])
    (topic,) = reading.topics

    assert reading.kind is FileKind.TOPICS
    assert (topic.name, topic.replication_factor, topic.partition_count) == ("payments", 3, 2)
    assert topic.partitions == (
        Partition(0, 2, (2, 3, 1), (2, 3), (), ()),
        Partition(1, None, (3, 1, 2), (), (1,), (3,)),
    )
    assert [(g.key, g.value, g.layer, g.entity) for g in reading.given] == [
        ("min.insync.replicas", "2", SettingLayer.TOPIC, "payments"),
        ("cleanup.policy", "compact,delete", SettingLayer.TOPIC, "payments"),
    ]


def test_topics_of_1_0_without_blanks_after_colons() -> None:
    (reading,) = read_files([str(INPUTS / "topics-1.0.txt")])
    (topic,) = reading.topics

    assert (topic.name, topic.replication_factor) == ("clicks", 3)
    assert topic.partitions == (Partition(0, 101, (101, 102, 103), (101,)),)
    assert [(g.key, g.value) for g in reading.given] == [
        ("unclean.leader.election.enable", "true"),
        ("retention.ms", "1000"),
    ]


def test_topics_of_0_8_0_have_no_heading() -> None:
    (reading,) = read_files([str(INPUTS / "topics-0.8.0.txt")])
    (topic,) = reading.topics

    assert (topic.replication_factor, topic.partition_count) == (3, 2)
    assert [partition.leader for partition in topic.partitions] == [1, None]


def test_a_column_that_is_not_available_is_none() -> None:
    text = "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: N/A\tLastKnownElr: N/A\n"

    (topic,) = read_topics(Source("t", text)).topics

    assert topic.partitions == (Partition(0, 1, (1,), (1,)),)


def test_adding_replicas_are_not_replicas() -> None:
    text = (
        "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1"
        "\tAdding Replicas: 2\tRemoving Replicas: \n"
    )

    (topic,) = read_topics(Source("t", text)).topics

    assert topic.partitions == (Partition(0, 1, (1, 2), (1,)),)


def test_configs_keep_every_layer_that_is_shown() -> None:
    (reading,) = read_files([str(INPUTS / "configs-3.7.txt")])

    assert [(g.key, g.value, str(g.layer), g.entity) for g in reading.given] == [
        ("min.insync.replicas", "2", "topic", "payments"),
        ("min.insync.replicas", "1", "broker static", ""),
        ("min.insync.replicas", "1", "default shown by the cluster", ""),
        ("log.cleaner.threads", "2", "broker dynamic", "2"),
        ("log.cleaner.threads", "1", "default shown by the cluster", ""),
        ("unclean.leader.election.enable", "true", "cluster default", ""),
        ("unclean.leader.election.enable", "false", "default shown by the cluster", ""),
    ]
    for one in reading.given:
        assert reading.source.at(one.key_span) == one.key
        assert reading.source.at(one.value_span) == one.value


def test_configs_of_zookeeper_times_stand_on_one_line() -> None:
    (reading,) = read_files([str(INPUTS / "configs-1.0.txt")])

    assert [(g.key, g.value, g.entity) for g in reading.given] == [
        ("unclean.leader.election.enable", "false", "clicks"),
        ("cleanup.policy", "compact,delete", "clicks"),
        ("min.insync.replicas", "2", "clicks"),
    ]
    assert reading.notes == ("settings of user-principal alice are not about replication",)


@pytest.mark.parametrize(
    ("heading", "layer"),
    [
        ("Configs for topic 'a' are:", "topic"),
        ("Configs for topics:a are acks.x=1", "topic"),
        ("All configs for topic a are:", "topic"),
        ("Configs for broker 1 are:", "broker dynamic"),
        ("Default config for brokers in the cluster are:", "cluster default"),
        ("Default configs for brokers in the cluster are:", "cluster default"),
    ],
)
def test_every_heading_gives_its_layer(heading: str, layer: str) -> None:
    reading = read_configs(Source("t", f"{heading}\n  min.insync.replicas=2 sensitive=false synonyms={{}}\n"))

    assert str(reading.given[-1].layer) == layer


def test_a_line_that_was_cut_out_of_the_output_still_tells_its_layers() -> None:
    text = "  min.insync.replicas=1 sensitive=false synonyms={DEFAULT_CONFIG:min.insync.replicas=1}\n"

    (one,) = read_configs(Source("t", text)).given

    assert one.layer is SettingLayer.DEFAULT


def test_features_tell_the_level_and_the_release() -> None:
    (reading,) = read_files([str(INPUTS / "features-4.1.txt")])

    assert [(g.key, g.value) for g in reading.given] == [
        ("eligible.leader.replicas.version", "0"),
        ("metadata.version", "4.0-IV3"),
    ]
    assert [fact.value for fact in reading.facts] == ["4.1"]


def test_a_partition_that_is_being_moved_is_said() -> None:
    line = (
        "\tTopic: a\tPartition: {}\tLeader: 2\tReplicas: 2,1,0\tIsr: 2,1"
        "\tAdding Replicas: {}\tRemoving Replicas: {}"
    )
    head = "Topic: a\tPartitionCount: 3\tReplicationFactor: 3\tConfigs:"
    text = "\n".join([head, line.format(0, "", ""), line.format(1, "0", "3,4"), line.format(2, "0", "")])

    (told,) = read_topics(Source("t", text)).notes

    assert told.startswith(
        "partition 1 of a is being moved (adding 0, removing 3,4), and the review is of one that stays: "
        "until it is over, an unclean election may choose a replica that has nothing yet"
    )


def test_a_partition_that_stays_is_not() -> None:
    text = "Topic: a\tPartition: 0\tLeader: 2\tReplicas: 2\tIsr: 2\tAdding Replicas: \tRemoving Replicas: \n"

    assert read_topics(Source("t", text)).notes == ()


def test_a_topic_has_the_fewest_replicas_of_its_partitions() -> None:
    """The heading has those of the first (TopicCommand), whatever a reassignment did to others."""
    text = (
        "Topic: t\tTopicId: x\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: \n"
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
        "\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,3\tIsr: 2,3\n"
    )
    reading = read_topics(Source("topics.txt", text))

    assert [topic.replication_factor for topic in reading.topics] == [2]
    (note,) = reading.notes
    assert note.startswith("partition 1 of t has 2 replicas, and 3 in the heading are those of the first;")


MIN_ISR = "min.insync.replicas"


def described(broker: int, *layers: tuple[str, int]) -> str:
    """What `kafka-configs --describe --all` prints of a broker: its id, and min.insync.replicas by layer."""
    shown = ", ".join(f"{layer}_CONFIG:{MIN_ISR}={value}" for layer, value in (*layers, ("DEFAULT", 1)))
    value = layers[0][1] if layers else 1
    return (
        f"All configs for broker {broker} are:\n"
        f"  {MIN_ISR}={value} sensitive=false synonyms={{{shown}}}\n"
        f"  node.id={broker} sensitive=false synonyms={{STATIC_BROKER_CONFIG:node.id={broker}}}\n"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("STATIC_BROKER", 1)], [("STATIC_BROKER", 2)]),
        ([], [("STATIC_BROKER", 2)]),
        ([("STATIC_BROKER", 1)], [("DYNAMIC_BROKER", 2), ("STATIC_BROKER", 1)]),
        ([], [("DYNAMIC_BROKER", 2)]),
        ([("DYNAMIC_DEFAULT_BROKER", 1)], [("DYNAMIC_BROKER", 2), ("DYNAMIC_DEFAULT_BROKER", 1)]),
    ],
)
def test_of_brokers_that_are_described_together_the_worst_counts(
    one: list[tuple[str, int]], other: list[tuple[str, int]]
) -> None:
    """The one shown last counted for all, and so did what is set for one of them while it runs."""
    text = described(1, *one) + described(2, *other)

    found = resolve([read_configs(Source("configs.txt", text))], kafka="3.7")

    assert found.value(MIN_ISR).value == 1
    assert [warning.code for warning in found.warnings] == ["R0724"]


def test_what_is_set_for_every_broker_while_it_runs_counts() -> None:
    text = described(1, ("DYNAMIC_BROKER", 2)) + described(2, ("DYNAMIC_BROKER", 2), ("STATIC_BROKER", 1))

    found = resolve([read_configs(Source("configs.txt", text))], kafka="3.7", brokers=2)

    assert found.value(MIN_ISR).value == 2
    assert [warning.code for warning in found.warnings] == ["R0716"]  # of a topic with one replica
    assert found.notes == ()


def test_what_is_set_for_one_broker_alone_is_told() -> None:
    text = (
        "Dynamic configs for broker 7 are:\n  " + described(7, ("DYNAMIC_BROKER", 2)).splitlines()[1].strip()
    )

    found = resolve([read_configs(Source("configs.txt", text))], kafka="3.7")

    assert found.value(MIN_ISR).value == 2
    assert found.notes == (
        f"{MIN_ISR} (configs.txt:2) is set for broker 7, and the others are taken to be set like that",
    )
