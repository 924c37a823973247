"""What `kafka-configs` and `kafka-topics` are refused: of a command, all of it.

`kafka.server.DynamicBrokerConfig.validateConfigs` and `LogConfig.validate` look at all that a command sets.
"""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.keys.catalogue import MODELLED
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.keys.versions import version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.refused import accepted
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError

BROKER_1 = "brokers --entity-name 1"
ALL = "brokers --entity-default"
TOPIC = "topics --entity-name orders"
MIN_INSYNC = "min.insync.replicas"


def command(entity: str, settings: str) -> str:
    start = "kafka-configs.sh --bootstrap-server a:9092 --alter"
    return f"{start} --entity-type {entity} --add-config {settings}\n"


def review(*commands: str, kafka: str, brokers: int = 1) -> Settings:
    create = "kafka-topics.sh --bootstrap-server a:9092 --create --topic orders --replication-factor 1\n"
    script = "".join(["#!/bin/sh\n", create, *commands])
    files = [read_bytes("server.properties", b"broker.id=1\n"), read_bytes("c.sh", script.encode())]
    return resolve(files, kafka=kafka, brokers=brokers)


@pytest.mark.parametrize(
    ("entity", "other", "kafka", "is_taken"),
    [
        (BROKER_1, "default.replication.factor=3", "3.9", False),
        (BROKER_1, "log.dirs=/data", "3.9", False),
        (BROKER_1, "log.retention.ms=1000", "3.9", True),
        (BROKER_1, "my.company.audit=true", "3.9", True),
        (BROKER_1, "max.connections.per.ip=5", "2.0", False),
        (BROKER_1, "max.connections.per.ip=5", "2.1", True),
        (BROKER_1, "advertised.listeners=x", "3.9", True),
        (BROKER_1, "advertised.listeners=x", "4.0", False),
        (ALL, "advertised.listeners=x", "3.9", False),
        (ALL, "listener.name.a.ssl.keystore.location=x", "3.9", False),
        (ALL, "listener.name.a.max.connections=9", "3.9", True),
        (BROKER_1, "ssl.keystore.location=x", "3.9", False),
        (BROKER_1, "listener.name.a.ssl.keystore.location=x", "3.9", True),
        (TOPIC, "retention.ms=1000", "3.9", True),
        (TOPIC, "compression.type=zstd", "3.9", True),
        (TOPIC, "my.company.audit=true", "3.9", False),
        (TOPIC, "default.replication.factor=3", "3.9", False),
        (TOPIC, "message.format.version=2.0", "3.9", True),
        (TOPIC, "message.format.version=2.0", "4.0", False),
    ],
)
def test_where_one_key_is_refused_nothing_of_the_command_is_set(
    entity: str,
    other: str,
    kafka: str,
    is_taken: bool,  # noqa: FBT001 - a column of the table
) -> None:
    found = review(command(entity, f"{MIN_INSYNC}=2,{other}"), kafka=kafka)
    warnings = [each for each in found.warnings if each.code == "R0715"]

    assert found.value(MIN_INSYNC).value == (2 if is_taken else 1)
    assert len(warnings) == (not is_taken)
    for each in warnings:
        assert other.partition("=")[0] in each.message
        assert [note.source.at(note.span) for note in each.notes] == [MIN_INSYNC]


def test_another_command_is_taken() -> None:
    taken = command(BROKER_1, f"{MIN_INSYNC}=2")
    refused = command(BROKER_1, "unclean.leader.election.enable=true,log.dirs=/data")
    found = review(taken, refused, kafka="2.8")

    assert found.value(MIN_INSYNC).value == 2
    assert not found.switches.unclean_election.value


def test_a_refused_command_of_settings_that_decide_nothing_is_no_warning() -> None:
    found = review(command(BROKER_1, "log.retention.ms=5,log.dirs=/data"), kafka="3.9")

    assert "R0715" not in [each.code for each in found.warnings]


def test_a_slip_in_a_refused_command_is_still_an_error() -> None:
    with pytest.raises(SpecError) as caught:
        review(command(TOPIC, "min.insync.replica=2,retention.ms=5"), kafka="3.9")

    assert [each.code for each in caught.value.diagnostics] == ["R0712"]


def test_with_eligible_leaders_a_brokers_own_minimum_is_refused_with_all_of_its_command() -> None:
    both = command(BROKER_1, f"{MIN_INSYNC}=2,log.flush.interval.messages=1")
    of_one, of_all = review(both, kafka="4.1"), review(command(ALL, f"{MIN_INSYNC}=2"), kafka="4.1")

    assert "R0730" in [each.code for each in of_one.warnings]
    assert (of_one.value(MIN_INSYNC).value, of_one.value("log.flush.interval.messages").origin) == (1, None)
    assert of_all.value(MIN_INSYNC).value == 2
    assert review(both, kafka="4.0").value(MIN_INSYNC).value == 2


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        (["--entity-name 1"], 1),
        (["--entity-name 1", "--entity-name 2"], 1),
        (["--entity-name 1", "--entity-name 2", "--entity-name 3"], 2),
        (["--entity-name $id"], 2),
        (["--entity-default"], 2),
        (["--entity-default", "--entity-name 1"], 2),
    ],
)
def test_what_a_script_sets_for_one_broker_the_others_do_not_have(entities: list[str], expected: int) -> None:
    commands = [command(f"brokers {entity}", f"{MIN_INSYNC}=2") for entity in entities]
    found = review(*commands, kafka="3.9", brokers=3)

    assert found.value(MIN_INSYNC).value == expected
    assert ("R0724" in [each.code for each in found.warnings]) is (expected == 1)


def test_a_topic_that_is_created_with_a_key_that_topics_lack_has_none_of_its_settings() -> None:
    create = "kafka-topics.sh --bootstrap-server a:9092 --create --topic t --replication-factor 3"
    script = f"#!/bin/sh\n{create} --config {MIN_INSYNC}=2 --config log.dirs=/data\n"
    found = resolve([read_bytes("c.sh", script.encode())], kafka="3.9")

    assert found.value(MIN_INSYNC).value == 1
    assert [each.code for each in found.warnings] == ["R0715"]


def test_of_the_models_own_keys_brokers_that_run_take_these() -> None:
    names = [key.name for key in MODELLED if Reader.BROKER in key.readers]
    scripts = [f"#!/bin/sh\n{command(BROKER_1, f'{name}=1')}".encode() for name in names]
    given = [one for script in scripts for one in read_bytes("c.sh", script).given]
    taken = {one.key for one in accepted(given, version("3.9"), ResolutionDiagnostics())}
    features = {"metadata.version", "eligible.leader.replicas.version"}

    assert taken - features == {"unclean.leader.election.enable", MIN_INSYNC, "log.flush.interval.messages"}
