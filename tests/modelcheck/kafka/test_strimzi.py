"""Strimzi's resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.kafka.settings.readers.recognition import read_files, read_text
from modelcheck.kafka.settings.readings import About
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.source import Source


def grown(twice: str) -> str:
    """A resource of some lines, each of which stands for twice as much as the one before."""
    lines = (f"  k{n + 1}: &a{n + 1} {twice.format(n)}\n" for n in range(60))
    return "kind: Kafka\nspec:\n  k0: &a0 {x: y}\n" + "".join(lines)


INPUTS = Path(__file__).parent / "inputs"


def test_pools_count_their_brokers_and_their_least_durable_disk() -> None:
    (reading,) = read_files([str(INPUTS / "strimzi.yaml")])
    facts = [(fact.about, fact.value) for fact in reading.facts]

    assert facts == [
        (About.VERSION, "3.7.1"),
        (About.CONTROLLER, "kraft"),
        (About.BROKERS, "2"),
        (About.STORAGE, "ephemeral"),
        (About.BROKERS, "2"),
        (About.STORAGE, "persistent-claim"),
        (About.VOTERS, "3"),
        (About.COMBINED, "no"),
    ]


POOL = """
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {{name: {name}}}
spec: {{replicas: {replicas}, roles: [{roles}]}}
---"""


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([("a", "3", "controller"), ("b", "5", "broker")], (3, False, "node pool `a` at")),
        ([("a", "3", "controller, broker")], (3, True, "node pool `a` at")),
        ([("a", "1", "controller, broker"), ("b", "2", "broker, controller")], (3, True, "`a` and `b` at")),
        ([("a", "1", "controller, broker"), ("b", "2", "controller")], (3, False, "`a` and `b` at")),
        ([("a", "3", "broker")], None),
    ],
)
def test_pools_with_the_role_of_a_controller_are_the_voters(
    pools: list[tuple[str, str, str]], expected: tuple[int, bool, str] | None
) -> None:
    texts = [POOL.format(name=name, replicas=replicas, roles=roles) for name, replicas, roles in pools]
    found = resolve([read_text(Source("f.yaml", "".join(texts)))], kafka="4.1").voters
    if found is None or expected is None:
        actual = None if found is None else (found.count.value, found.are_brokers, "")
    else:
        words = expected[2] if expected[2] in found.count.reason else found.count.reason
        actual = (found.count.value, found.are_brokers, words)

    assert actual == expected


def test_a_number_of_nodes_that_is_none_is_one_problem() -> None:
    text = POOL.format(name="a", replicas="many", roles="broker, controller")

    assert [problem.code for problem in read_text(Source("f.yaml", text)).problems] == ["R0728"]


def test_a_topic_goes_by_its_topic_name() -> None:
    (reading,) = read_files([str(INPUTS / "strimzi.yaml")])
    (topic,) = reading.topics

    assert (topic.name, topic.replication_factor, topic.partition_count) == ("orders.v2", 4, 12)
    assert [(g.value, g.entity) for g in reading.given if str(g.layer) == "topic"] == [("3", "orders.v2")]


def test_each_setting_keeps_its_place() -> None:
    (reading,) = read_files([str(INPUTS / "strimzi.yaml")])

    for one in reading.given:
        assert reading.source.at(one.value_span).strip('"') == one.value
    assert next(g for g in reading.given if g.value == "3.7-IV4").place.endswith("strimzi.yaml:45")


def test_a_cluster_without_pools_counts_its_own_replicas() -> None:
    text = (
        "kind: Kafka\nspec:\n  kafka:\n    replicas: 5\n    storage: {type: ephemeral}\n"
        "  zookeeper:\n    replicas: 3\n"
    )

    facts = {fact.about: fact.value for fact in read_text(Source("t", text)).facts}

    assert facts == {About.BROKERS: "5", About.STORAGE: "ephemeral", About.CONTROLLER: "zookeeper"}


def test_a_list_is_read_item_by_item() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- kind: KafkaTopic\n  metadata: {name: a}\n"
        "  spec: {replicas: 2}\n"
        "- kind: Deployment\n  metadata: {name: web}\n"
    )

    reading = read_text(Source("t", text))

    assert [(topic.name, topic.replication_factor) for topic in reading.topics] == [("a", 2)]
    assert reading.notes == ("Deployment `web` has nothing about replication and was skipped",)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("kind: Kafka\nspec: [\n", "R0707"),
        ("kind: Kafka\nspec:\n\tkafka: 1\n", "R0707"),
        ("kind: Kafka\nspec: {{ .Values.kafka }}\nx: }\n", "R0707"),
        ("kind: Kafka\nmetadata: *nowhere\n", "R0707"),
        ("kind: Kafka\nspec: " + "[" * 5000 + "\n", "R0707"),
        ("kind: Kafka\nname: \x01\n", "R0707"),
        (grown("[*a{0}, *a{0}]"), "R0708"),
        (grown("{{x: *a{0}, y: *a{0}}}"), "R0708"),
        (grown("{{<<: [*a{0}, *a{0}]}}"), "R0708"),
        ("kind: KafkaTopic\nspec: {replicas: many}\n", "R0728"),
        ("kind: KafkaTopic\nspec: {replicas: -1}\n", "R0728"),
        ("kind: KafkaTopic\nspec: {config: [a]}\n", "R0728"),
        ("kind: Kafka\nspec: {kafka: {version: [3, 7]}}\n", "R0728"),
        ("kind: Kafka\nspec: {kafka: {config: {min.insync.replicas: {a: b}}}}\n", "R0728"),
    ],
)
def test_a_malformed_resource_is_a_problem_with_its_place(text: str, code: str) -> None:
    (problem,) = read_text(Source("t", text)).problems

    assert problem.code == code
