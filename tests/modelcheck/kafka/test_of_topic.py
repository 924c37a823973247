"""Of many topics each is resolved from its own part of what files say, with the same result."""

from __future__ import annotations

from dataclasses import replace

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.of_topic import ReadingsOfTopics
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.source import Source
from tests.cpu_time import cpu_seconds

BROKER = "broker.id=1\nmin.insync.replicas=2\ndefault.replication.factor=3\n"
CONFIGS = "Dynamic configs for topic t1 are:\n  min.insync.replicas=1 sensitive=false synonyms={}\n"


def described(count: int) -> str:
    """Topics as kafka-topics describes them, each on its own three of six brokers."""
    lines = []
    for n in range(count):
        replicas = ",".join(str((n + k) % 6 + 1) for k in range(3))
        own = f"min.insync.replicas={n % 3 + 1}"
        lines += [f"Topic: t{n}\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: {own}"]
        lines += [
            f"\tTopic: t{n}\tPartition: 0\tLeader: {replicas[0]}\tReplicas: {replicas}\tIsr: {replicas}"
        ]
    return "\n".join(lines) + "\n"


def readings(*texts: str) -> list[Reading]:
    return [read_text(Source(f"f{at}", text)) for at, text in enumerate(texts)]


def test_a_topic_has_the_same_settings_by_its_own_part() -> None:
    consumers = "Topic: __consumer_offsets\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:\n"
    consumers += "\tTopic: __consumer_offsets\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    whole = readings(BROKER, described(9) + consumers, CONFIGS)
    parts = ReadingsOfTopics(whole)

    for n in range(9):
        by_all, by_own = (resolve(each, kafka="3.7", topic=f"t{n}") for each in (whole, parts.of(f"t{n}")))
        assert replace(by_own, topics=by_all.topics) == by_all
        assert by_own.brokers.value == 6


def test_a_broker_that_is_in_sync_in_another_topic_runs() -> None:
    ill = "Topic: ill\tPartitionCount: 1\tReplicationFactor: 3\tConfigs:\n"
    ill += "\tTopic: ill\tPartition: 0\tLeader: 1\tReplicas: 1,2,9\tIsr: 1\n"
    whole = readings(BROKER, described(3) + ill)

    for each in (whole, ReadingsOfTopics(whole).of("ill")):
        (state,) = resolve(each, kafka="3.7", topic="ill").states
        assert state.running == (2,)


def test_ten_times_as_many_topics_take_some_ten_times_as_long() -> None:
    def seconds(count: int) -> float:
        read = readings(BROKER, described(count))

        def split() -> None:
            parts = ReadingsOfTopics(read)
            for n in range(count):
                resolve(parts.of(f"t{n}"), kafka="3.7", topic=f"t{n}")

        return cpu_seconds(split)

    assert seconds(600) < 30 * seconds(60)  # 100 times, if it were quadratic
