"""What the commands of Kafka's tools in a script change."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError


def review(text: str, *, kafka: str, topic: str | None = None) -> Settings:
    return resolve([read_bytes("run.sh", text.encode())], kafka=kafka, topic=topic)


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


MIN = "--config min.insync.replicas"
WEAK = CREATED.replace("factor 3", "factor 1")
GONE = "kafka-topics.sh --bootstrap-server a:9092 --delete --topic orders"


@pytest.mark.parametrize(
    ("commands", "replicas", "minimum"),
    [
        ((WEAK, f"{CREATED} {MIN}=2"), 1, 1),
        ((WEAK, f"{CREATED} --if-not-exists {MIN}=2"), 1, 1),
        ((f"{CREATED} {MIN}=2", WEAK), 3, 2),
        ((f"{CREATED} {MIN}=2", GONE, CREATED), 3, 1),
        ((f"{CREATED} {MIN}=2", GONE, WEAK), 1, 1),
        ((CREATED, f"{OF_ORDERS} --add-config min.insync.replicas=2", GONE, CREATED), 3, 1),
        ((GONE, f"{CREATED} {MIN}=2"), 3, 2),
        ((WEAK, f"{CREATED.replace('orders', 'others')} {MIN}=2", GONE, f"{CREATED} {MIN}=2"), 3, 2),
    ],
)
def test_the_first_command_makes_a_topic_and_one_after_its_end(
    commands: tuple[str, ...], replicas: int, minimum: int
) -> None:
    found = review(script(*commands), kafka="3.6", topic="orders")

    assert found.switches.replication_factor.value == replicas
    assert found.switches.min_insync_replicas.value == minimum


@pytest.mark.parametrize("shown", ["echo", "echo running:", "true && printf '%s'"])
def test_a_command_that_is_printed_sets_nothing(shown: str) -> None:
    command = f"{OF_ORDERS} --add-config min.insync.replicas=2"

    found = review(script(CREATED, f'{shown} "{command}"'), kafka="3.6")
    assert found.switches.min_insync_replicas.value == 1
    found = review(script(CREATED, f"{shown} {command} | sh"), kafka="3.6")
    assert found.switches.min_insync_replicas.value == 2


def test_settings_from_a_file_are_not_passed_over() -> None:
    with pytest.raises(SpecError, match=r"--add-config-file more\.properties"):
        review(script(CREATED, f"{OF_ORDERS} --add-config-file more.properties"), kafka="3.6")


def test_the_default_of_all_brokers_by_its_short_option() -> None:
    altered = "kafka-configs.sh --alter --broker-defaults --add-config unclean.leader.election.enable=true"

    assert review(script(CREATED, altered), kafka="3.9").switches.unclean_election.value
