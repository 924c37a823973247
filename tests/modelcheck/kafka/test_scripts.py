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


# ------------------------------------------------------------------------------- loops


def in_a_loop(*commands: str, words: str = "orders payments") -> str:
    return script(f"for t in {words}; do", *(f"  {command}" for command in commands), "done")


EACH = CREATED.replace("orders", '"$t"')


@pytest.mark.parametrize("words", ["orders payments", "'orders' \"payments\""])
def test_a_loop_over_words_makes_a_topic_of_each(words: str) -> None:
    text = in_a_loop(f"{EACH} --partitions 6 --config min.insync.replicas=2", words=words)
    readings = [read_bytes("run.sh", text.encode())]
    found = [resolve(readings, kafka="3.7", topic=name) for name in ("orders", "payments")]

    assert [each.value("min.insync.replicas").value for each in found] == [2, 2]
    assert [(topic.name, topic.partition_count) for topic in readings[0].topics] == [
        ("orders", 6),
        ("payments", 6),
    ]


def test_a_loop_alters_and_deletes_what_each_topic_has() -> None:
    altered, deleted = (
        OF_ORDERS.replace("orders", "$t") + f" --{verb}"
        for verb in ("add-config min.insync.replicas=3", "delete-config min.insync.replicas")
    )
    made = in_a_loop(f"{EACH} --config min.insync.replicas=2")
    after = [made + in_a_loop(more).partition("\n")[2] for more in (altered, deleted)]
    found = [resolve([read_bytes("run.sh", each.encode())], kafka="3.7", topic="payments") for each in after]

    assert [each.value("min.insync.replicas").value for each in found] == [3, 1]


def test_loops_within_each_other_make_all_their_pairs() -> None:
    name = "${team}-$t"
    text = script(
        "for team in a b",
        "do",
        "  for t in x y; do",
        f"    {CREATED.replace('orders', name)}",
        "  done",
        "done",
    )

    assert {topic.name for topic in read_bytes("run.sh", text.encode()).topics} == {
        "a-x", "a-y", "b-x", "b-y",
    }  # fmt: skip


def test_a_loop_in_a_file_of_compose_has_twice_the_sign() -> None:
    text = f"""
services:
  init:
    image: apache/kafka:3.7.0
    command: >
      bash -c 'for t in orders payments; do {CREATED.replace("orders", "$$t")}; done'
"""

    assert [topic.name for topic in read_bytes("compose.yaml", text.encode()).topics] == [
        "orders",
        "payments",
    ]


@pytest.mark.parametrize(
    "text",
    [
        in_a_loop(EACH, words='"orders payments"'),  # one word
        in_a_loop(EACH, words="$TOPICS"),
        in_a_loop(EACH, words="$(cat topics)"),
        in_a_loop(EACH, words="orders-{1..3}"),
        in_a_loop(f'if [ "$t" = orders ]; then {EACH}; fi'),
        in_a_loop(f'[ "$t" = orders ] || {EACH}'),
        in_a_loop('t="$t-1"', EACH),
        in_a_loop("echo", "# for done: nothing") + EACH,
        in_a_loop(EACH.replace("$t", "$t-$u")),
        in_a_loop("# a long one" * 2_000, EACH),
    ],
)
def test_where_words_are_not_in_the_script_or_not_of_each_turn_the_name_stays(text: str) -> None:
    assert [topic.name[:2] for topic in read_bytes("run.sh", text.encode()).topics] == ["$t"]


def test_what_a_command_of_a_loop_is_refused_for_is_told_once() -> None:
    text = in_a_loop(f"{EACH} --config min.insync.replicas=2 --config no.such.key=1")
    found = resolve([read_bytes("run.sh", text.encode())], kafka="3.7", topic="orders")

    (warning,) = (each for each in found.warnings if each.code == "R0715")
    assert [note.message for note in warning.notes] == ["not set either"]
