"""Topics that Kafka and products make for themselves, in the review of another topic."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.keys.products import OWN_TOPICS
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.source import Source

OWN = frozenset({"R0745", "R0746", "R0747"})
BROKER = "broker.id=1\ndefault.replication.factor=3\n"
COMPOSE = """\
services:
  kafka:
    image: {image}
    environment:
      KAFKA_ZOOKEEPER_CONNECT: z:2181
{more}"""
CP = "confluentinc/cp-kafka:7.5.0"


def found(
    *texts: str, kafka: str | None = "3.6", brokers: int | None = 3, topic: str | None = None
) -> list[tuple[str, str]]:
    """The codes of the warnings about own topics, with the words at their places."""
    readings = [read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)]
    settings = resolve(readings, kafka=kafka, brokers=brokers, topic=topic)
    warnings = [warning for warning in settings.warnings if warning.code in OWN]
    assert all(warning.span is not None for warning in warnings)
    return [
        (one.code, one.source.text.splitlines()[one.source.position(one.span.start)[0] - 1].strip())
        for one in warnings
        if one.span is not None
    ]


@pytest.mark.parametrize(
    ("lines", "kafka", "code"),
    [
        ("min.insync.replicas=2\noffsets.topic.replication.factor=1", "3.6", "R0746"),
        ("min.insync.replicas=2\noffsets.topic.replication.factor=1", "3.7", "R0747"),
        ("min.insync.replicas=2\noffsets.topic.replication.factor=1", None, "R0746"),
        ("min.insync.replicas=2\noffsets.topic.replication.factor=2", "4.1", "R0746"),
        ("min.insync.replicas=2\noffsets.topic.replication.factor=3", "3.6", None),
        ("offsets.topic.replication.factor=1", "3.6", "R0747"),
        ("offsets.topic.replication.factor=5", "3.6", "R0745"),
        ("offsets.topic.replication.factor=5", "0.10.2", None),  # fewer brokers got fewer replicas
        ("transaction.state.log.replication.factor=1", "3.6", "R0746"),  # its own minimum is 2
        ("transaction.state.log.min.isr=1\ntransaction.state.log.replication.factor=1", "3.6", "R0747"),
        ("# offsets.topic.replication.factor=1", "3.6", None),
        ("", "3.6", None),
    ],
)
def test_topics_of_the_brokers_are_told_at_their_lines(
    lines: str, kafka: str | None, code: str | None
) -> None:
    expected = [] if code is None else [(code, lines.splitlines()[-1])]

    assert found(f"{BROKER}{lines}\n", kafka=kafka) == expected


def test_three_replicas_by_default_are_not_made_on_one_broker() -> None:
    """Confluent's images take Kafka's defaults; others begin with a file that has one replica."""
    told = [("R0745", "kafka:"), ("R0745", "kafka:")]

    assert found(COMPOSE.format(image=CP, more=""), brokers=None, kafka=None) == told
    assert found(COMPOSE.format(image="bitnami/kafka:3.5.0", more=""), brokers=None, kafka=None) == []
    more = (
        "      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1\n"
        "      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1\n"
        "      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1\n"
    )
    assert found(COMPOSE.format(image=CP, more=more), brokers=None, kafka=None) == []


def test_what_the_topic_itself_shows_counts() -> None:
    shown = (
        "Topic: __consumer_offsets\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
        "\tTopic: __consumer_offsets\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    )
    broker = BROKER + "offsets.topic.replication.factor=3\n"

    assert [code for code, _ in found(broker, shown)] == ["R0747"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("      CONNECT_CONFIG_STORAGE_REPLICATION_FACTOR: '1'\n", "'1'"),
        ("      - CONNECT_OFFSET_STORAGE_REPLICATION_FACTOR=1\n", "=1"),
        ('      - name: CONNECT_STATUS_STORAGE_REPLICATION_FACTOR\n        value: "1"\n', 'value: "1"'),
        ("    config:\n      config.storage.replication.factor: 1\n", ": 1"),
        ("      SCHEMA_REGISTRY_KAFKASTORE_TOPIC_REPLICATION_FACTOR: ${RF:-1}\n", "{RF:-1}"),
        ("      KSQL_KSQL_INTERNAL_TOPIC_REPLICAS: 1\n", ": 1"),
        ("      ksql.streams.replication.factor: 1\n", ": 1"),
    ],
)
def test_topics_of_products_are_told_in_every_form(text: str, place: str) -> None:
    broker = "broker.id=1\nmin.insync.replicas=2\n"
    file = f"services:\n  k:\n    image: {CP}\n    environment:\n      KAFKA_BROKER_ID: 1\n  p:\n{text}"
    ((code, line),) = found(broker, file, kafka="3.6")

    assert code == "R0746"
    assert line.endswith(place)


def test_a_worker_without_the_keys_has_three_replicas() -> None:
    worker = "group.id=c\nkey.converter=x\noffset.storage.topic=o\nplugin.path=p\n"
    broker = "broker.id=1\noffsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"

    assert {line for code, line in found(broker, worker, brokers=1) if code == "R0745"} == {"group.id=c"}


def test_a_review_of_such_a_topic_does_not_tell_of_itself() -> None:
    text = f"{BROKER}offsets.topic.replication.factor=1\n"

    assert found(text, topic="__consumer_offsets") == []


def test_each_own_topic_says_what_stops_without_it() -> None:
    assert all(each.stops and each.keys for each in OWN_TOPICS)
    assert len({each.name for each in OWN_TOPICS}) == len(OWN_TOPICS)
