"""Whose a setting is: a topic's is that topic's, a client's that client's, and no broker has either."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError
from tests.configurations import read, settings

PROVISIONED = """\
replicaCount: 3
provisioning:
  topics:
    - name: clicks
    - name: orders
      config: {min.insync.replicas: 2, unclean.leader.election.enable: true}
"""


def of_topic(text: str, topic: str) -> Settings:
    return resolve([read(text, "values.yaml")], kafka="3.9", topic=topic)


def decided(found: Settings) -> tuple[object, object]:
    keys = ("min.insync.replicas", "unclean.leader.election.enable")
    return (found.value(keys[0]).value, found.value(keys[1]).value)


def test_what_a_chart_sets_of_one_topic_no_other_topic_has() -> None:
    assert decided(of_topic(PROVISIONED, "orders")) == (2, True)
    assert decided(of_topic(PROVISIONED, "clicks")) == (1, False)
    assert decided(of_topic(PROVISIONED, "__consumer_offsets")) == (1, False)


def test_a_topic_that_a_chart_provisions_without_a_number_has_the_charts() -> None:
    plain = of_topic("extraConfig: |\n  default.replication.factor=3\n" + PROVISIONED, "clicks")
    given = of_topic(PROVISIONED.replace("  topics", "  replicationFactor: 2\n  topics"), "clicks")

    assert plain.switches.replication_factor.value == 1
    assert "topic clicks has no number of replicas here; what provisions it takes 1" in str(plain.notes)
    assert given.switches.replication_factor.value == 2


TOPICS = {
    "a list": "topics:\n- {name: a, partitions: 1, CONFIG}\n- {name: b, partitions: 1}\n",
    "a mapping": "topics:\n  a: {partitions: 1, CONFIG}\n  b: {partitions: 1}\n",
    "in an application": "app: {kafka: {topics: {a: {partitions: 1, CONFIG}, b: {partitions: 1}}}}\n",
}
CONFIGS = [
    "config: {min.insync.replicas: 2}",
    "configs: {min_insync_replicas: '2'}",
    "settings: {minInsyncReplicas: 2}",
    "config: 'cleanup.policy=compact,delete,min.insync.replicas=2'",
    "config: ['min.insync.replicas=2']",
    "configs: [{name: min.insync.replicas, value: 2}]",
    "min.insync.replicas: 2",
]


@pytest.mark.parametrize("form", TOPICS)
@pytest.mark.parametrize("config", CONFIGS)
def test_a_topics_settings_are_its_own_in_every_form(form: str, config: str) -> None:
    text = TOPICS[form].replace("CONFIG", config)

    assert [decided(of_topic(text, name))[0] for name in ("a", "b")] == [2, 1]


def test_settings_of_topics_that_are_not_known_no_broker_has() -> None:
    with pytest.raises(SpecError) as caught:
        settings("min.insync.replicas: 1\ntopicConfig: {default: {min.insync.replicas: 2}}\n", "values.yaml")
    assert [told.code for told in caught.value.diagnostics] == ["R0734"]


# ------------------------------------------------------------------ clients beside a cluster

KAFKA = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: prod}
spec: {kafka: {version: 3.9.0, replicas: 3, config: {default.replication.factor: 3}}}
---
apiVersion: kafka.strimzi.io/v1
"""
BESIDE = {
    "kind: KafkaConnector\nmetadata: {name: c}\nspec: {config: {producer.override.acks: 1}}\n": ("1", 3),
    "kind: KafkaConnector\nmetadata: {name: c}\n"
    "spec: {config: {topic.creation.default.replication.factor: 1}}\n": ("all", 1),
    "kind: KafkaConnect\nmetadata: {name: c}\nspec: {config: {producer.acks: 0}}\n": ("0", 3),
    "kind: KafkaMirrorMaker2\nmetadata: {name: c}\nspec: {mirrors: [{sourceConnector: {config: "
    "{replication.factor: 2, producer.override.acks: 1}}}]}\n": ("1", 2),
    "kind: KafkaMirrorMaker\nmetadata: {name: c}\nspec: {producer: {config: {acks: 1}}}\n": ("1", 3),
    "kind: KafkaBridge\nmetadata: {name: c}\nspec: {producer: {config: {acks: 0}}}\n": ("0", 3),
}


@pytest.mark.parametrize("resource", BESIDE)
def test_what_decides_in_a_resource_beside_the_cluster_is_read(resource: str) -> None:
    made = settings(KAFKA + resource).switches

    assert (made.acks.value, made.replication_factor.value) == BESIDE[resource]


def test_a_connector_that_creates_safer_topics_than_the_brokers_hides_none_of_theirs() -> None:
    config = "{config: {topic.creation.default.replication.factor: 3}}"
    connector = f"kind: KafkaConnector\nmetadata: {{name: c}}\nspec: {config}\n"
    found = settings(KAFKA.replace("factor: 3", "factor: 1") + connector)

    assert (found.switches.replication_factor.value, [w.code for w in found.warnings]) == (1, ["R0724"])


def test_what_is_passed_over_is_told() -> None:
    config = "{config: {config.storage.replication.factor: 1}}"
    connect = f"kind: KafkaConnect\nmetadata: {{name: c}}\nspec: {config}\n"
    notes = str(settings(KAFKA + connect).notes)

    assert "KafkaConnect `c` sets nothing that decides, and was passed over" in notes
    assert "`config.storage.replication.factor` (f:9): the replicas of a tool's own topics" in notes


def test_a_key_that_decides_in_an_unknown_field_of_strimzi_is_an_error() -> None:
    with pytest.raises(SpecError) as caught:
        settings(KAFKA + "kind: KafkaNew\nmetadata: {name: c}\nspec: {other: {min.insync.replicas: 1}}\n")
    assert [told.code for told in caught.value.diagnostics] == ["R0734"]


def test_clients_of_confluents_operator_are_read() -> None:
    text = "apiVersion: platform.confluent.io/v1beta1\nkind: {}\nmetadata: {{name: c}}\nspec: {}\n"

    for kind, spec in (
        ("Connect", "{configOverrides: {server: [producer.acks=1]}}"),
        ("Connector", "{configs: {producer.override.acks: 1}}"),
    ):
        assert settings(text.format(kind, spec)).switches.acks.value == "1"


# ------------------------------------------------------------------ the worst of several


@pytest.mark.parametrize(
    ("key", "values", "worst"),
    [
        ("min.insync.replicas", ("2", "1", "3"), 1),
        ("unclean.leader.election.enable", ("false", "true", "false"), True),
        ("default.replication.factor", ("3", "2", "3"), 2),
        ("log.flush.interval.messages", ("1", "100", "10"), 100),
    ],
)
def test_of_brokers_that_differ_the_worst_is_reviewed_and_the_difference_shown(
    key: str, values: tuple[str, ...], worst: object
) -> None:
    texts = [f"broker.id={number}\n{key}={value}\n" for number, value in enumerate(values)]
    found = resolve([read(text, f"f{at}") for at, text in enumerate(texts)], kafka="3.9")
    (told,) = [one for one in found.warnings if one.code == "R0724"]

    assert found.value(key).value == worst
    assert {note.source.name for note in told.notes} == {"f0", "f1", "f2"} - {told.source.name} - (
        {"f2"} if values[2] == values[0] else set()
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_producers_that_differ_the_one_that_waits_least_is_reviewed(order: tuple[int, ...]) -> None:
    texts = [f"bootstrap.servers=a\nlinger.ms=1\nacks={acks}\n" for acks in ("1", "0", "all")]
    found = resolve([read(texts[at], f"f{at}") for at in order], kafka="3.9")

    assert (found.switches.acks.value, [w.code for w in found.warnings]) == ("0", ["R0724"])


def test_two_producers_do_not_contradict_each_other() -> None:
    texts = ["acks=1\nlinger.ms=1\n", "enable.idempotence=true\nlinger.ms=1\n"]
    found = resolve([read(text, f"f{at}") for at, text in enumerate(texts)], kafka="3.9")

    assert found.switches.acks.value == "1"


@pytest.mark.parametrize(
    ("key", "value", "reviewed"),
    [
        ("min.insync.replicas", "2", 1),
        ("default.replication.factor", "3", 1),
        ("unclean.leader.election.enable", "true", True),
        ("log.flush.interval.messages", "1", 2**63 - 1),
    ],
)
def test_a_broker_that_leaves_a_key_out_has_its_default(key: str, value: str, reviewed: object) -> None:
    texts = [f"broker.id=1\n{key}={value}\n", "broker.id=2\n", "broker.id=3\n"]
    for order in ((0, 1, 2), (1, 2, 0)):
        found = resolve([read(texts[at], f"f{at}") for at in order], kafka="3.9")
        (told,) = [one for one in found.warnings if one.code == "R0724"]

        assert found.value(key).value == reviewed
        assert "here it is not given, and the default is" in told.notes[0].message


def test_what_no_broker_has_a_file_of_its_own_for_is_no_difference() -> None:
    common = "min.insync.replicas=2\nnum.network.threads=3\n"
    texts = ["broker.id=1\n", "broker.id=2\n", "broker.id=3\n", common]
    found = resolve([read(text, f"f{at}") for at, text in enumerate(texts)], kafka="3.9")

    assert (found.value("min.insync.replicas").value, found.warnings[1:]) == (2, ())


def test_a_producer_that_leaves_acks_out_has_the_default_of_its_release() -> None:
    texts = ["acks=all\nlinger.ms=1\n", "bootstrap.servers=a\nlinger.ms=1\n"]

    for kafka, acks in (("2.8", "1"), ("3.9", "all")):
        found = resolve([read(text, f"f{at}") for at, text in enumerate(texts)], kafka=kafka)
        assert found.switches.acks.value == acks
