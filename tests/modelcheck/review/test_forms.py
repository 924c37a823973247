"""What real files of each form say, and what must not be made of it."""

from __future__ import annotations

import pytest

from modelcheck.review.found import Reading
from modelcheck.review.read import read_text
from modelcheck.review.settings import Settings, resolve
from spec.diagnostics import SpecError
from spec.source import Source


def read(text: str, name: str = "f") -> Reading:
    reading = read_text(Source(name, text))
    if reading.problems:
        raise SpecError(reading.problems)
    return reading


def settings(text: str, name: str = "f") -> Settings:
    return resolve([read(text, name)])


@pytest.mark.parametrize(
    "data",
    [
        "  num.partitions: '3'\n  log.retention.hours: '168'\n",
        "  server.properties: |\n    num.partitions=3\n    log.retention.hours=168\n",
        "  kafka.conf: num.partitions=3\n",
    ],
)
def test_a_config_map_of_keys_without_influence_is_read_as_a_file_of_them_is(data: str) -> None:
    config_map = settings(f"kind: ConfigMap\nmetadata: {{name: kafka}}\ndata:\n{data}")
    file = settings("num.partitions=3\nlog.retention.hours=168\n")

    assert {one.given.key for one in config_map.ignored} <= {one.given.key for one in file.ignored}
    assert config_map.ignored
    assert config_map.switches.as_json() == file.switches.as_json()


def test_a_slip_in_a_text_of_a_config_map_is_seen_beside_keys_without_influence() -> None:
    text = "  server.properties: |\n    broker.id=1\n    min.insync.replica=2\n"

    with pytest.raises(SpecError) as caught:
        settings(f"kind: ConfigMap\nmetadata: {{name: kafka}}\ndata:\n{text}")
    assert [told.code for told in caught.value.diagnostics] == ["R0712"]


@pytest.mark.parametrize(
    "topic",
    [
        'resource "kafka_topic" "t" {\n  name = "t"\n  replication_factor = -1\n  partitions = -1\n}\n',
        "- hosts: a\n  tasks:\n  - kafka_lib: {name: t, partitions: -1, replica_factor: -1}\n",
        "topics:\n- {name: t, partitions: 6, replicationFactor: -1}\n",
    ],
)
def test_a_topic_may_leave_its_replicas_to_the_brokers(topic: str) -> None:
    brokers = read("default.replication.factor=3\n", "server.properties")

    left = resolve([read(topic), brokers], kafka="2.4").switches.replication_factor
    assert (left.value, "which topic t takes by -1 at f:" in left.reason) == (3, True)
    assert resolve([read(topic)], kafka="3.7").switches.replication_factor.value == 1
    with pytest.raises(SpecError) as caught:
        resolve([read(topic), brokers], kafka="2.3")
    assert [told.code for told in caught.value.diagnostics] == ["R0741"]


def test_an_operator_takes_no_replicas_of_minus_one() -> None:
    with pytest.raises(SpecError) as caught:
        read("kind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: -1}\n")
    assert [told.code for told in caught.value.diagnostics] == ["R0728"]


TWICE = {
    "resources": "kind: KafkaTopic\nmetadata: {{name: t}}\nspec: {{replicas: {0}, config: {{"
    "min.insync.replicas: {1}}}}}\n---\n",
    "Terraform": 'resource "kafka_topic" "t{0}" {{\n  name = "t"\n  replication_factor = {0}\n'
    '  partitions = 1\n  config = {{\n    "min.insync.replicas" = "{1}"\n  }}\n}}\n',
    "kafka-topics": "Topic: t\tPartitionCount: 1\tReplicationFactor: {0}\tConfigs: min.insync.replicas={1}\n",
}


@pytest.mark.parametrize("form", TWICE)
def test_of_a_topic_that_is_described_twice_the_last_counts_and_both_are_told(form: str) -> None:
    found = settings(TWICE[form].format(3, 2) + TWICE[form].format(2, 1))
    same = settings(TWICE[form].format(3, 2) * 2)
    made = found.switches

    assert (made.replication_factor.value, made.min_insync_replicas.value) == (2, 1)
    assert [told.message for told in found.warnings] == [
        "topic t is described twice, and the last number of its replicas counts: 2",
        "`min.insync.replicas` is given twice, and the last one counts",
    ]
    assert same.warnings == ()


def test_a_number_of_replicas_that_stands_twice_is_told() -> None:
    found = settings("kind: KafkaTopic\nmetadata: {name: t}\nspec:\n  replicas: 3\n  replicas: 2\n")

    assert found.switches.replication_factor.value == 2
    assert [told.message for told in found.warnings] == ["`replicas` is given twice, and the last one counts"]


def test_acks_among_the_settings_of_brokers_are_told_to_have_no_effect_there() -> None:
    found = settings("kind: Kafka\nspec: {kafka: {replicas: 3, config: {acks: 1}}}\n")

    assert (found.switches.acks.value, [told.code for told in found.warnings]) == ("1", ["R0723"])
