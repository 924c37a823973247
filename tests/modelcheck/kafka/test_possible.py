"""What no file says of the release and the controller: every case that is possible is asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import modelcheck.kafka.questions.cases as questions
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.possible import in_words, resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.diagnostics import SpecError
from spec.source import Source

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())
UNCLEAN = "default.replication.factor=3\nmin.insync.replicas=2\nunclean.leader.election.enable=true\n"

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def review(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`review({"server.properties": "…"}, "--json")`: the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")

    def run(files: Mapping[str, str], *options: str) -> tuple[int, str]:
        for name, text in files.items():
            Path(name).write_text(text)
        code = main(["kafka", "review", *files, "--max-time", "300", *options])
        return code, capsys.readouterr().out

    return run


def settings(*texts: str, kafka: str | None = None) -> tuple[Settings, ...]:
    return resolve_possible([read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)], kafka=kafka)


def words(*texts: str, kafka: str | None = None) -> str:
    found = settings(*texts, kafka=kafka)
    return in_words(found, found)


@pytest.mark.parametrize(
    ("text", "kafka", "possible"),
    [
        ("broker.id=1\n", None, "Kafka 3.0 to 3.9 with ZooKeeper, 3.3 to 4.4 with KRaft"),
        ("broker.id=1\nzookeeper.connect=z\n", None, "Kafka 3.0 to 3.9"),
        ("node.id=1\nprocess.roles=broker\n", None, "Kafka 3.3 to 4.4"),
        ("node.id=1\nprocess.roles=broker\neligible.leader.replicas.version=1\n", None, "Kafka 4.0 to 4.4"),
        ("inter.broker.protocol.version=2.4\nzookeeper.connect=z\n", None, "Kafka 2.4 to 3.9"),
        ("request.required.acks=1\n", None, "Kafka 1.1"),
        ("broker.id=1\n", "3.8", "Kafka 3.8"),
        ("broker.id=1\n", "3.2", "Kafka 3.2"),
        ("broker.id=1\n", "4.0", "Kafka 4.0"),
        ("kind: Kafka\nspec: {kafka: {version: 3.6.1}, zookeeper: {replicas: 3}}\n", None, "Kafka 3.6.1"),
        ("kind: Kafka\nspec: {kafka: {version: 4.9.0}}\n", None, "Kafka 4.4"),
    ],
)
def test_every_release_and_controller_that_no_file_excludes_is_possible(
    text: str, kafka: str | None, possible: str
) -> None:
    assert words(text, kafka=kafka) == possible


def test_a_release_in_which_a_setting_is_a_mistake_is_not_possible() -> None:
    assert (
        words("broker.id=1\ninter.broker.protocol.version=3.5\nzookeeper.connect=z\n") == "Kafka 3.5 to 3.9"
    )
    with pytest.raises(SpecError):
        settings("min.insync.replicas=0\n")


def test_the_first_is_what_was_always_assumed() -> None:
    first = settings("broker.id=1\n")[0]

    assert (str(first.version.value), str(first.switches.controller.value)) == ("4.4", "kraft")
    assert "the newest known is assumed" in first.version.reason


def test_unclean_elections_are_asked_about_with_either_controller(review: Run) -> None:
    """KRaft ignored the key until 3.9, and with ZooKeeper it elects who still has the record."""
    given = ("--kafka", "3.8", "--json")
    code, printed = review({"server.properties": UNCLEAN}, *given, "--require", "durable:2")
    found = checked(printed)
    only = {"server.properties": UNCLEAN + "process.roles=broker,controller\nnode.id=1\n"}
    stated = checked(review(only, *given)[1])

    assert code == Exit.VIOLATED
    assert durable(found) == durable(stated) == 1
    assert by_controller(found) == {"kraft": 1, "zookeeper": 2}
    assert found["required"] == [{"requirement": "durable:2", "met": False}]


def test_the_verdict_on_each_guarantee_is_the_worst_of_all_that_is_possible(
    review: Run, golden: Callable[[str, str], None]
) -> None:
    """`durable` is worst with KRaft up to 3.8, and `read` with ZooKeeper up to 3.6."""
    code, printed = review(
        {"server.properties": UNCLEAN}, "--require", "read:2", "--require", "writable:1:crash"
    )

    golden("review/release_not_given.txt", head(printed))

    assert code == Exit.VIOLATED
    assert "required read:2: NOT met" in printed
    assert "required writable:1:crash: met" in printed


def test_what_answers_the_same_in_every_release_is_told_as_one(review: Run) -> None:
    _, printed = review(
        {"server.properties": "process.roles=broker\ndefault.replication.factor=3\n"}, "--faults", "1"
    )

    assert "It depends on" not in printed
    assert printed.startswith("Kafka 4.4: one partition")
    assert "Kafka 3.3 to 4.3 would be the same" in " ".join(printed.split())


def test_equal_questions_are_asked_once() -> None:
    """26 releases, controllers and states of ELR are seven questions; where the release is given, one."""
    found = questions.cases(settings(UNCLEAN))

    assert len(settings(UNCLEAN)) == 26
    assert len(found) == 7
    assert sum(len(each.settings) for each in found) == 26
    assert len(questions.cases(settings(UNCLEAN, "process.roles=broker\n", kafka="3.8"))) == 1


BROKER = "process.roles=broker\nmin.insync.replicas=2\ndefault.replication.factor=3\n"


@pytest.mark.parametrize(
    ("text", "kafka", "elr"),
    [
        ("node.id=1\n", "4.0", [False]),
        ("node.id=1\n", "4.1", [True, False]),
        ("eligible.leader.replicas.version=0\n", "4.1", [False]),
        ("eligible.leader.replicas.version=1\n", "4.1", [True]),
        ("metadata.version=4.0-IV3\n", "4.1", [False]),
        ("metadata.version=4.1\n", "4.2", [True, False]),
    ],
)
def test_a_cluster_that_may_have_been_upgraded_may_be_without_elr(
    text: str, kafka: str, elr: Sequence[bool]
) -> None:
    """A new release takes no feature on by itself: `kafka-features upgrade` does (KIP-584)."""
    found = [each.switches.eligible_leader_replicas.value for each in settings(BROKER, text, kafka=kafka)]

    assert found == elr


def test_the_cases_with_and_without_elr_are_told_apart_only_where_both_are_possible() -> None:
    every = settings(BROKER)
    off = [each for each in every if not each.switches.eligible_leader_replicas.value]
    on = [each for each in every if each.switches.eligible_leader_replicas.value]

    assert in_words(every, every) == "Kafka 3.3 to 4.4"
    assert in_words(off, every) == "Kafka 3.3 to 4.0, 4.1 to 4.4 without ELR"
    assert in_words(on, every) == "Kafka 4.1 to 4.4 with ELR"


def test_what_eligible_leader_replicas_prevent_is_not_taken_for_granted(
    review: Run, golden: Callable[[str, str], None]
) -> None:
    topic = "kafka-topics.sh --create --topic t --replication-factor 3 --config min.insync.replicas=2\n"
    code, printed = review({"topic.sh": topic}, "--kafka", "4.1", "--require", "durable:2")

    golden("review/elr_not_given.txt", head(printed))

    assert code == Exit.VIOLATED
    assert "no ELR" in printed
    assert "eligible.leader.replicas.version=0 (Kafka's own is 1)" in printed


def head(printed: str) -> str:
    return printed.split("How many faults of each kind", maxsplit=1)[0]


def checked(printed: str) -> Any:  # noqa: ANN401 - JSON
    found = json.loads(printed)
    jsonschema.validate(found, SCHEMA)
    return found


def durable(found: Any) -> object:  # noqa: ANN401 - JSON
    return found["guarantees"]["durable"]["by_kind"]["any"]["survives"]


def by_controller(found: Any) -> dict[str, object]:  # noqa: ANN401 - JSON
    rows: Sequence[Any] = found["possible"]
    return {
        each["controller"]: row["guarantees"]["durable"]["survives"] for row in rows for each in row["in"]
    }


# ------------------------------------------------------------------ where a file says it

DEBEZIUM = """\
services:
  kafka:
    image: {image}
    environment:
      - ZOOKEEPER_CONNECT=zookeeper:2181
"""
INVENTORY = """\
all:
  vars:
    kafka_broker_custom_properties: {default.replication.factor: 3, min.insync.replicas: 2}
zookeeper:
  hosts: {z1: }
kafka_broker:
  hosts: {b1: , b2: , b3: , b4: , b5: , b6: }
"""
CHART = "replicaCount: 3\ndefaultReplicationFactor: 3\nimage:\n  tag: {tag}\n"


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        (CHART.format(tag="3.6.1-debian-12-r0"), "Kafka 3.6.1"),
        ("---\nreplicaCount: 3\ndefaultReplicationFactor: 3\nimage.tag: 3.6.1-debian-12-r0\n", "Kafka 3.6.1"),
        (CHART.format(tag="0.39.0-kafka-3.6.1"), "Kafka 3.6.1"),
        (CHART.format(tag="latest"), "Kafka 3.0 to 3.9 with ZooKeeper, 3.3 to 4.4 with KRaft"),
        (DEBEZIUM.format(image="debezium/kafka:2.1"), "Kafka 3.3.1"),
        (DEBEZIUM.format(image="quay.io/debezium/kafka:2.7.3.Final"), "Kafka 3.7"),
        (DEBEZIUM.format(image="debezium/kafka:latest"), "Kafka 3.0 to 3.9"),
        (INVENTORY, "Kafka 3.0 to 3.9"),
        (INVENTORY.replace("zookeeper", "kafka_controller"), "Kafka 3.3 to 4.4"),
        (INVENTORY.replace("vars:\n", "vars:\n    confluent_package_version: 7.5.1\n"), "Kafka 3.5"),
    ],
)
def test_the_release_and_the_controller_are_read_where_a_file_says_them(text: str, possible: str) -> None:
    assert words(text) == possible


def test_debezium_and_ansible_tell_zookeeper_with_its_place() -> None:
    shown = [settings(text)[0] for text in (DEBEZIUM.format(image="debezium/kafka:2.1"), INVENTORY)]
    found = [each.switches.controller for each in shown]

    assert [str(each.value) for each in found] == ["zookeeper", "zookeeper"]
    assert [each.reason for each in found] == ["ZOOKEEPER_CONNECT at f0:5", "the group zookeeper at f0:4"]
    assert (shown[1].brokers.value, shown[1].brokers.reason) == (6, "the hosts of kafka_broker at f0:6")


def test_an_image_that_names_no_release_is_told_with_its_place() -> None:
    found = settings("services: {k: {image: 'apache/kafka:latest', environment: {KAFKA_NODE_ID: 1}}}\n")

    assert "image apache/kafka:latest at f0:1 names no release of Kafka" in found[0].version.reason
