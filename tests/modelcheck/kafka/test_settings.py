"""Which setting counts, what is assumed, and what the release makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.settings.readers.recognition import read_bytes, read_files
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from modelcheck.kafka.settings.resolution.switches import BrokerStorage, Controller, Flush, Truncation
from spec.diagnostics import SpecError

ROOT = Path(__file__).parents[3]
INPUTS = Path(__file__).parent / "inputs"


def readings(*texts: str) -> list[Reading]:
    return [read_bytes(f"f{number}", text.encode()) for number, text in enumerate(texts)]


def review(*texts: str, kafka: str | None = None, topic: str | None = None) -> Settings:
    return resolve(readings(*texts), kafka=kafka, topic=topic)


def warned(settings: Settings) -> list[str]:
    return [warning.code for warning in settings.warnings]


def refused(
    *texts: str, kafka: str | None = None, brokers: int | None = None, topic: str | None = None
) -> list[str]:
    with pytest.raises(SpecError) as caught:
        resolve(readings(*texts), kafka=kafka, brokers=brokers, topic=topic)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def test_the_cluster_that_jepsen_broke() -> None:
    files = [str(INPUTS / "server-0.8.1.properties"), str(ROOT / "examples" / "producer.properties")]

    found = resolve(read_files(files), kafka="0.8.1")

    made = found.switches
    assert (made.acks.value, made.replication_factor.value, found.brokers.value) == ("all", 5, 5)
    assert (made.unclean_election.value, made.min_insync_replicas.value) == (True, 1)
    assert made.controller.value is Controller.ZOOKEEPER
    assert made.truncation.value is Truncation.HIGH_WATERMARK
    assert found.warnings == ()
    assert {remark.given.key for remark in found.outside} >= {"replica.lag.max.messages", "producer.type"}


def test_a_modern_cluster() -> None:
    names = ["server-3.7.properties", "producer-all.properties"]

    found = resolve(read_files([str(INPUTS / name) for name in names]), kafka="3.7.1")

    made = found.switches
    assert (made.acks.value, made.replication_factor.value, made.min_insync_replicas.value) == ("all", 3, 2)
    assert (made.unclean_election.value, made.strict_min_isr.value) == (False, True)
    assert (made.controller.value, made.truncation.value) == (Controller.KRAFT, Truncation.KIP_279)
    assert found.unknown == ()


def test_the_layer_nearest_the_topic_counts() -> None:
    static = "broker.id=1\nunclean.leader.election.enable=false\n"
    cluster = (
        "Default configs for brokers in the cluster are:\n"
        "  unclean.leader.election.enable=true sensitive=false synonyms="
        "{DYNAMIC_DEFAULT_BROKER_CONFIG:unclean.leader.election.enable=true}\n"
    )
    broker = (
        "Configs for broker 1 are:\n  unclean.leader.election.enable=false sensitive=false synonyms="
        "{DYNAMIC_BROKER_CONFIG:unclean.leader.election.enable=false}\n"
    )
    topic = "Configs for topic 'a' are unclean.leader.election.enable=true\n"
    layers = [static, cluster, broker, topic]
    counted = []
    for end in range(1, 5):
        found = review(*layers[:end], kafka="3.7").value("unclean.leader.election.enable")
        assert found.origin is not None
        counted.append((found.value, str(found.origin.layer), len(found.overridden)))

    assert counted == [
        (False, "broker static", 0),
        (True, "cluster default", 1),
        (False, "broker dynamic", 2),
        (True, "topic", 3),
    ]


def test_a_default_that_the_cluster_shows_beats_the_one_of_the_release() -> None:
    shown = (
        "All configs for broker 1 are:\n"
        "  min.insync.replicas=2 sensitive=false synonyms={DEFAULT_CONFIG:min.insync.replicas=2}\n"
    )

    found = review(shown, kafka="3.7").value("min.insync.replicas")

    assert (found.value, found.origin) == (2, None)
    assert "the default that the cluster shows at f0:2" in found.why


@pytest.mark.parametrize(
    ("kafka", "acks", "unclean", "minimum"),
    [
        ("0.8.0", "0", True, 1),
        ("0.8.1", "0", True, 1),
        ("0.8.2", "1", True, 1),
        ("0.10.2", "1", True, 1),
        ("0.11.0", "1", False, 1),
        ("2.8", "1", False, 1),
        ("3.0", "all", False, 1),
        ("4.1", "all", False, 1),
    ],
)
def test_what_a_release_does_when_nothing_is_said(kafka: str, acks: str, unclean: bool, minimum: int) -> None:  # noqa: FBT001 - a column of the table
    made = review("broker.id=1\n", kafka=kafka).switches

    assert (made.acks.value, made.unclean_election.value, made.min_insync_replicas.value) == (
        acks,
        unclean,
        minimum,
    )


@pytest.mark.parametrize(
    ("controller", "kafka", "unclean"),
    [
        ("process.roles=broker", "3.8.1", False),  # where real brokers of 3.7.2 elected nobody
        ("process.roles=broker", "3.9.0", True),
        ("zookeeper.connect=z:2181", "3.8.1", True),
        ("", "3.8.1", True),  # which controller it is, is a guess
    ],
)
def test_kraft_allows_unclean_elections_since_it_reads_the_key(
    controller: str,
    kafka: str,
    unclean: bool,  # noqa: FBT001 - a column of the table
) -> None:
    found = review(f"broker.id=1\nunclean.leader.election.enable=true\n{controller}\n", kafka=kafka)

    assert found.switches.unclean_election.value is unclean
    assert ("R0715" in warned(found)) is not unclean


@pytest.mark.parametrize(
    ("text", "kafka", "rule"),
    [
        ("broker.id=1", "0.10.2", Truncation.HIGH_WATERMARK),
        ("broker.id=1", "0.11.0", Truncation.KIP_101),
        ("broker.id=1", "1.0.0", Truncation.KIP_101),
        ("broker.id=1", "1.1.1", Truncation.KIP_101),
        ("broker.id=1", "2.0", Truncation.KIP_279),
        ("broker.id=1", "2.1", Truncation.KIP_279),
        ("inter.broker.protocol.version=0.10.2", "2.8", Truncation.HIGH_WATERMARK),
        ("inter.broker.protocol.version=0.11.0-IV1", "2.8", Truncation.HIGH_WATERMARK),
        ("inter.broker.protocol.version=0.11.0-IV2", "2.8", Truncation.KIP_101),
        ("inter.broker.protocol.version=2.1-IV0", "2.8", Truncation.KIP_279),
        ("log.message.format.version=0.10.2", "2.8", Truncation.HIGH_WATERMARK),
        ("log.message.format.version=0.10.2", "3.0", Truncation.KIP_279),
    ],
)
def test_the_truncation_rule_follows_what_brokers_speak(text: str, kafka: str, rule: Truncation) -> None:
    assert review(text + "\nzookeeper.connect=z\n", kafka=kafka).switches.truncation.value is rule


ELIGIBLE = (
    "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\tElr: {}\tLastKnownElr: \n"
)


@pytest.mark.parametrize(
    ("text", "kafka", "elr"),
    [
        ("process.roles=broker", "3.7", False),
        ("process.roles=broker", "4.0", False),
        ("process.roles=broker", "4.1", True),
        ("process.roles=broker\neligible.leader.replicas.enable=true", "3.8", False),
        ("process.roles=broker\neligible.leader.replicas.version=1", "4.0", True),
        ("process.roles=broker\neligible.leader.replicas.version=0", "4.1", False),
        ("process.roles=broker\nmetadata.version=3.9", "4.1", False),
        ("process.roles=broker\nmetadata.version=4.0-IV3", "4.1", False),
        ("process.roles=broker\nmetadata.version=4.1-IV0", "4.1", True),
        (ELIGIBLE.format("2"), "4.0", True),
        (ELIGIBLE.format("N/A"), "4.0", False),
        ("zookeeper.connect=z", "3.8", False),
    ],
)
def test_eligible_leader_replicas_by_release_and_feature(text: str, kafka: str, elr: bool) -> None:  # noqa: FBT001 - a column of the table
    made = review(text, kafka=kafka).switches

    assert made.eligible_leader_replicas.value is elr


@pytest.mark.parametrize(
    ("text", "kafka", "known"),
    [
        ("process.roles=broker", "3.6", False),
        ("process.roles=broker", "3.7", True),
        ("process.roles=broker\nmetadata.version=3.7-IV1", "3.8", False),
        ("process.roles=broker\nmetadata.version=3.7-IV2", "3.8", True),
        ("zookeeper.connect=z", "3.8", False),
    ],
)
def test_directories_by_metadata_version(text: str, kafka: str, known: bool) -> None:  # noqa: FBT001 - a column of the table
    assert review(text, kafka=kafka).switches.directories_known.value is known


@pytest.mark.parametrize(
    ("text", "kafka", "joins_in_time", "noticed", "kept_out"),
    [
        ("zookeeper.connect=z", "2.0.0", False, False, False),
        ("zookeeper.connect=z", "2.0.1", True, False, False),  # KAFKA-7128
        ("zookeeper.connect=z", "2.2.0", True, True, False),  # KIP-380
        ("zookeeper.connect=z\ninter.broker.protocol.version=2.1", "2.2.0", True, False, False),
        ("zookeeper.connect=z", "3.2.0", True, True, False),
        ("zookeeper.connect=z", "3.3.0", True, True, True),  # that controller rejects dead brokers too
        ("process.roles=broker", "3.2.0", True, True, False),
        ("process.roles=broker", "3.3.0", True, True, True),  # KIP-841
    ],
)
def test_what_followers_and_the_controller_do_by_release(
    text: str, kafka: str, *, joins_in_time: bool, noticed: bool, kept_out: bool
) -> None:
    made = review(text + "\n", kafka=kafka).switches

    assert made.expansion_waits_for_epoch.value is joins_in_time
    assert (made.restarts_noticed.value, made.fenced_kept_out.value) == (noticed, kept_out)


@pytest.mark.parametrize(
    ("key", "kafka"),
    [
        ("unclean.leader.election.interval.ms", "3.9"),
        ("confluent.placement.constraints", "2.8"),
        ("confluent.log.placement.constraints", "2.8"),
        ("broker.rack", "2.8"),
    ],
)
def test_where_replicas_stand_and_how_often_they_are_elected_matters(key: str, kafka: str) -> None:
    found = review(f"broker.id=1\n{key}=1\n", kafka=kafka)

    assert [remark.given.key for remark in found.outside] == [key]


def test_idempotence_that_is_asked_for_brings_acks() -> None:
    made = review("enable.idempotence=true\n", kafka="2.8").switches

    assert made.acks.value == "all"
    assert "enable.idempotence=true" in made.acks.reason


def test_acks_that_are_asked_for_switch_default_idempotence_off() -> None:
    made = review("acks=1\n", kafka="3.7").switches

    assert made.acks.value == "1"


def test_flushing_each_record_and_losing_the_disk() -> None:
    made = review("cleanup.policy=delete\nflush.messages=1\n", kafka="3.7").switches
    pods = review("kind: Kafka\nspec: {kafka: {version: 3.7.0, storage: {type: ephemeral}}}\n").switches

    assert made.flush.value is Flush.EVERY_RECORD
    assert (pods.flush.value, pods.storage.value) == (Flush.BACKGROUND, BrokerStorage.EPHEMERAL)


def test_min_insync_above_the_replicas_counts_from_3_7_as_the_replicas() -> None:
    text = "default.replication.factor=2\nmin.insync.replicas=3\n"

    old, new = review(text, kafka="3.6"), review(text, kafka="3.7")

    assert (old.switches.min_insync_replicas.value, new.switches.min_insync_replicas.value) == (3, 2)
    assert warned(old) == warned(new) == ["R0716"]


@pytest.mark.parametrize(
    ("texts", "version", "words"),
    [
        (["broker.id=1\n"], "4.4", "the newest known is assumed"),
        (["zookeeper.connect=z\n"], "3.9", "the newest with `zookeeper.connect`"),
        (["request.required.acks=1\n"], "1.1", "the newest with `request.required.acks`"),
        (["inter.broker.protocol.version=2.4\nzookeeper.connect=z\n"], "2.4", "needs at least that release"),
        (["kind: Kafka\nspec: {kafka: {version: 3.6.1}}\n"], "3.6.1", "spec.kafka.version at f0:2"),
    ],
)
def test_the_version_is_what_the_files_show(texts: list[str], version: str, words: str) -> None:
    found = review(*texts).version

    assert str(found.value) == version
    assert words in found.reason


@pytest.mark.parametrize(
    ("texts", "brokers", "words"),
    [
        (["broker.id=1\n"], 3, "assumed"),
        (["default.replication.factor=5\n"], 5, "assumed"),
        (["broker.id=1\n", "broker.id=2\n"], 2, "files of brokers"),
        ([f"broker.id={n}\ndefault.replication.factor=3\n" for n in "12"], 3, "the topic needs as many"),
        (["\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3,4\tIsr: 1\n"], 4, "there may be more"),
        (["kind: Kafka\nspec: {kafka: {replicas: 7}}\n"], 7, "spec.kafka.replicas"),
    ],
)
def test_the_brokers_are_what_the_files_show(texts: list[str], brokers: int, words: str) -> None:
    found = review(*texts).brokers

    assert found.value == brokers
    assert words in found.reason


def test_a_topic_is_chosen_and_the_others_do_not_count() -> None:
    text = (
        "Configs for topic 'a' are min.insync.replicas=2\nConfigs for topic 'b' are min.insync.replicas=1\n"
    )

    found = review(text, topic="b", kafka="2.8")

    assert found.topic is not None
    assert (found.topic.name, [topic.name for topic in found.topics]) == ("b", ["a", "b"])
    assert found.value("min.insync.replicas").value == 1


def test_a_setting_of_another_release_is_ignored_and_said_to_be() -> None:
    found = review(
        "broker.id=1\nmin.insync.replicas=2\nunclean.leader.election.enable=false\n", kafka="0.8.1"
    )

    assert warned(found) == ["R0715", "R0715"]
    assert found.switches.unclean_election.value
    assert [remark.given.key for remark in found.ignored] == [
        "broker.id",
        "min.insync.replicas",
        "unclean.leader.election.enable",
    ]


def test_keys_of_ones_own_are_listed_and_no_mistake() -> None:
    found = review("broker.id=1\nmy.company.audit=true\n")

    assert [remark.given.key for remark in found.unknown] == ["my.company.audit"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("texts", "kafka", "code"),
    [
        (["broker.id=1\nacks=all\n"], "3.7", "R0723"),
        (["broker.id=1\nflush.messages=1\n"], "3.7", "R0723"),
        (["min.insync.replicas=1\nmin.insync.replicas=2\n"], "3.7", "R0714"),
        (["broker.id=1\nmin.insync.replicas=1\n", "broker.id=2\nmin.insync.replicas=2\n"], "3.7", "R0724"),
        (["process.roles=broker\nzookeeper.connect=z\n"], "3.7", "R0719"),
        (["process.roles=broker\ninter.broker.protocol.version=3.3\n"], "3.7", "R0719"),
        (["zookeeper.connect=z\n"], "4.0", "R0715"),
        (["request.required.acks=1\n"], "2.0", "R0715"),
        (["request.required.acks=2\n"], "0.8.1", "R0731"),
        (["request.required.acks=2\n"], "0.8.2", "R0731"),
        (["acks=all\n"], "4.9", "R0711"),
        (["process.roles=broker\nunclean.leader.election.enable=true\n"], "3.9", "R0740"),
    ],
)
def test_what_is_odd_but_runs_is_a_warning(texts: list[str], kafka: str, code: str) -> None:
    assert code in warned(review(*texts, kafka=kafka))


@pytest.mark.parametrize(
    ("key", "kind", "is_read"),
    [
        ("flush.messages", "broker", False),
        ("log.flush.interval.messages", "broker", True),
        ("flush.messages", "topic", True),
        ("log.flush.interval.messages", "topic", False),
    ],
)
def test_a_broker_does_not_read_what_only_topics_have_nor_they_its(
    key: str, kind: str, *, is_read: bool
) -> None:
    """It counted, so that a topic seemed to be flushed that is not."""
    text = "broker.id=1\n" if kind == "broker" else "retention.ms=1\ncleanup.policy=delete\n"
    found = review(f"{text}{key}=1\n", kafka="3.7")

    assert (found.switches.flush.value is Flush.EVERY_RECORD) is is_read
    assert ("R0723" in warned(found)) is not is_read


def test_a_rack_of_a_producer_is_not_taken_for_that_of_a_consumer() -> None:
    producer, consumer = "acks=all\nlinger.ms=5\nclient.rack=a\n", "group.id=g\nclient.rack=b\n"
    found = review("node.id=1\n", producer, consumer, kafka="4.4")

    assert warned(found) == []
    assert ("client.rack", "a") in [(each.given.key, each.given.value) for each in found.ignored]
    assert [(each.given.key, each.given.value) for each in found.outside] == [("client.rack", "b")]


ALTERED = """\
#!/bin/sh
kafka-configs.sh --bootstrap-server a:9092 --alter --entity-type brokers --entity-default --add-config """


@pytest.mark.parametrize(
    ("key", "kafka", "is_taken"),
    [
        ("min.insync.replicas", "1.0", False),
        ("min.insync.replicas", "1.1", True),
        ("log.flush.interval.messages", "3.9", True),
        ("default.replication.factor", "3.9", False),
    ],
)
def test_a_setting_that_brokers_do_not_take_while_they_run(key: str, kafka: str, is_taken: bool) -> None:  # noqa: FBT001 - a column of the table
    """`DynamicBrokerConfig` refuses such a change; before KIP-226 there was none but of quotas."""
    found = review("broker.id=1\n", f"{ALTERED}{key}=5\n", kafka=kafka)

    assert (found.value(key).value == 5) is is_taken
    assert ("R0715" in warned(found)) is not is_taken


def test_unclean_elections_are_allowed_by_the_controllers_own_file() -> None:
    broker, allowed = "process.roles=broker\n", "unclean.leader.election.enable=true\n"

    assert "R0740" in warned(review(broker + allowed, kafka="4.0"))
    assert "R0740" not in warned(review(broker + allowed, kafka="3.8"))
    assert "R0740" not in warned(review(broker, "process.roles=controller\n" + allowed, kafka="4.0"))
    assert "R0740" not in warned(review("process.roles=broker,controller\n" + allowed, kafka="4.0"))


def test_unclean_elections_allowed_while_brokers_run() -> None:
    found = review("broker.id=1\n", f"{ALTERED}unclean.leader.election.enable=true\n", kafka="2.8")

    assert found.switches.unclean_election.value


def test_min_insync_of_one_broker_with_eligible_leaders() -> None:
    text = (
        "Configs for broker 1 are:\n  min.insync.replicas=2 sensitive=false synonyms="
        "{DYNAMIC_BROKER_CONFIG:min.insync.replicas=2}\n"
    )

    assert "R0730" in warned(review(text, kafka="4.1"))
    assert "R0730" not in warned(review(text, kafka="4.0"))


def test_a_value_given_twice_alike_is_no_matter() -> None:
    assert warned(review("acks=all\nacks=-1\n", kafka="3.7")) == []


def test_what_leaves_no_answer_is_refused() -> None:
    two = "Configs for topic 'a' are retention.ms=1\nConfigs for topic 'b' are retention.ms=1\n"

    assert refused(two) == ["R0721"]
    assert refused(two, topic="c") == ["R0722"]
    assert refused("acks=all\n", kafka="newest") == ["R0710"]
    assert refused("acks=all\n", brokers=0) == ["R0726"]
    assert refused("default.replication.factor=3\n", brokers=2) == ["R0717"]
    assert refused("acks=1\nenable.idempotence=true\n", kafka="3.7") == ["R0718"]
    assert refused("inter.broker.protocol.version=3.0\n", kafka="2.8") == ["R0729"]
    assert refused("metadata.version=3.2\n", kafka="4.0") == ["R0729"]
    assert refused("acks=2\n", kafka="3.7") == ["R0720"]
    assert refused("acks=2\n", kafka="0.8.2") == ["R0720"]
    assert refused("request.required.acks=2\n", kafka="0.9.0") == ["R0720"]
    assert refused("min.insync.replicas=0\nmin.insync.replica=2\nretries=x\n", kafka="3.7") == [
        "R0713",
        "R0712",
        "R0713",
    ]


@pytest.mark.parametrize("path", sorted(INPUTS.iterdir()), ids=lambda path: path.name)
def test_every_input_resolves_and_says_so_in_json(path: Path) -> None:
    found = resolve(read_files([str(path)]))

    plain = found.as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert all(choice["reason"] for choice in found.switches.as_json().values() if isinstance(choice, dict))


def test_min_insync_above_replicas_that_nobody_gave_asks_for_them() -> None:
    (warning,) = review("min.insync.replicas=2\n", kafka="3.6").warnings

    assert warning.message == "`min.insync.replicas=2` is more than the default of 1 replica"
    assert warning.help.startswith("no file has the topic's number of replicas")


def test_a_slip_in_a_key_outside_the_model_is_a_warning() -> None:
    found = review("broker.id=1\nzookeeper.connectiontimeout.ms=6000\n", kafka="2.8")

    assert warned(found) == ["R0712"]
    assert [remark.given.key for remark in found.unknown] == ["zookeeper.connectiontimeout.ms"]


def test_the_old_consumer_s_zookeeper_is_not_the_broker_s() -> None:
    found = review("group.id=g\nzookeeper.connect=z\nisolation.level=read_committed\n", kafka="3.7")

    assert found.value("zookeeper.connect").origin is None
    assert [remark.given.key for remark in found.outside] == ["isolation.level"]
    assert found.warnings == ()


def test_the_last_protocol_version_of_a_file_shows_the_release() -> None:
    text = "inter.broker.protocol.version=2.0\ninter.broker.protocol.version=3.0\n"

    assert str(review(text).version.value) == "3.0"


def test_a_value_that_kafka_never_sees_is_no_mistake() -> None:
    lag = "replica.lag.time.max.ms"
    found = review(f"min.insync.replicas=two\n{lag}=x\nmin.insync.replicas=2\n{lag}=5\n", kafka="3.7")

    assert found.value("min.insync.replicas").value == 2
    assert warned(found) == ["R0714", "R0716"]
    assert [(each.given.key, each.given.value) for each in found.outside] == [(lag, "5")]
    assert [each.given.value for each in found.ignored] == ["x"]


def test_a_feature_that_the_metadata_version_leaves_off_is_not_told_as_on() -> None:
    found = review("process.roles=broker\nmetadata.version=4.0\n", kafka="4.1")

    assert found.value("eligible.leader.replicas.version").value == 0
    assert found.switches.eligible_leader_replicas.value is False


@pytest.mark.parametrize(
    "text",
    [
        "Topic: t\tPartitionCount: 1\tReplicationFactor: 0\tConfigs: \n",
        "Topic: t\tPartition: 0\tLeader: none\tReplicas: \tIsr: \n",
        "kind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: 0}\n",
    ],
)
def test_a_topic_without_replicas_keeps_nothing(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        review(text, kafka="3.7")

    assert [told.code for told in caught.value.diagnostics] == ["R0741"]


@pytest.mark.parametrize(
    ("replicas", "wanted", "modelled"),
    [(7, 5, 5), (8, 2, 2), (8, 7, 6), (9, 8, 6), (9, 9, 7), (12, 6, 4), (8, 9, 9)],
)
def test_many_replicas_are_modelled_as_seven_that_can_be_written(
    replicas: int, wanted: int, modelled: int
) -> None:
    text = f"default.replication.factor={replicas}\nmin.insync.replicas={wanted}\n"
    found = partition(review(text, kafka="3.6"))

    assert (found.replicas, found.config["min_isr"]) == (7, modelled)
    assert (f"min.insync.replicas={wanted} as {modelled}" in str(found.approximations)) is (
        wanted != modelled
    )


def test_files_that_differ_in_a_topics_replicas_contradict_each_other() -> None:
    resource = "kind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: 3}\n"
    shown = "Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"

    for texts in ((resource, shown), (shown, resource)):
        for topic in (None, "t"):
            found = review(*texts, kafka="3.7", topic=topic)
            assert (found.switches.replication_factor.value, warned(found)) == (2, ["R0736"])
    assert warned(review(resource, shown.replace("2", "3"), kafka="3.7")) == []
