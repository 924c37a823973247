"""Which client produces, and what it takes for acks; whose min.insync.replicas counts."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.key import parse
from modelcheck.kafka.settings.keys.products import PRODUCTS
from modelcheck.kafka.settings.keys.versions import NEWEST
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError

CLUSTER = "broker.id=1\ndefault.replication.factor=3\nmin.insync.replicas=2\n"
BROKER = "process.roles=broker\nnode.id=1\ndefault.replication.factor=3\nmin.insync.replicas=2\n"
ELR = "eligible.leader.replicas.version=1\n"


def review(*texts: str, kafka: str = "3.7.0", client: str | None = None) -> Settings:
    return resolve(
        [read_bytes(f"f{n}", text.encode()) for n, text in enumerate(texts)], kafka=kafka, client=client
    )


def codes(settings: Settings) -> list[str]:
    return [warning.code for warning in settings.warnings]


@pytest.mark.parametrize(
    ("client", "acks"),
    [
        ("2.8", "1"),
        ("kafka-clients 3.0.0", "all"),
        ("kafka-clients:0.8.1", "0"),
        ("librdkafka", "all"),
        ("librdkafka 0.11.6", "1"),
        ("librdkafka 1", "all"),
        ("librdkafka-2.3.0", "all"),
        ("confluent-kafka-go", "all"),
        ("Sarama", "1"),
        ("franz-go", "all"),
        ("kafka-go", "0"),
        ("kafkajs", "all"),
        ("kafka-python 2.0.2", "1"),
        ("kafka-python 3.0.7", "all"),
        ("kafka-python", "1"),  # 2.x is in use
        ("spring-cloud-stream 4.3.3", "1"),
        ("spring-cloud-stream 5.0.1", "1"),
        ("spring-cloud-stream 5.0.2", "all"),
        ("kafka-connect 2.8.1", "all"),
        ("debezium 2.5", "all"),
        ("kafka-connect 0.8.2", "all"),  # before the first
        ("mirrormaker2", "all"),
    ],
)
def test_the_client_decides_acks_where_no_file_does(client: str, acks: str) -> None:
    found = review(CLUSTER, client=client)

    assert (found.switches.acks.value, found.switches.acks.assumed) == (acks, False)


def test_without_a_word_the_client_is_like_the_cluster_and_that_is_assumed() -> None:
    for kafka, acks in (("2.8.0", "1"), ("3.0.0", "all")):
        found = review(CLUSTER, kafka=kafka)
        assert (found.switches.acks.value, found.switches.acks.assumed) == (acks, True)
        assert f"Kafka's own of release {kafka.removesuffix('.0')} is assumed" in found.switches.acks.reason


@pytest.mark.parametrize(
    ("text", "client", "acks"),
    [
        ("spring.cloud.stream.kafka.binder.brokers=a:9092\n", "spring-cloud-stream", "1"),
        ("spring:\n  cloud: {stream: {kafka: {binder: {brokers: a}}}}\n", "spring-cloud-stream", "1"),
        ("spring.cloud.stream.kafka.binder.requiredAcks=all\n", "spring-cloud-stream", "all"),
        ("spring:\n  kafka: {bootstrap-servers: a}\n", "Kafka 4.1", "all"),
        ("group.id=c\nkey.converter=x\noffset.storage.topic=o\nplugin.path=p\n", "kafka-connect", "all"),
        ("key.converter=x\noffset.storage.topic=o\nproducer.acks=1\nplugin.path=p\n", "kafka-connect", "1"),
    ],
)
def test_a_products_file_tells_its_own_defaults(text: str, client: str, acks: str) -> None:
    found = review(CLUSTER, text, kafka="4.1.0")

    assert (str(found.client.value), found.switches.acks.value) == (client, acks)


@pytest.mark.parametrize(
    ("release", "value"),
    [("2.8.0", False), ("3.0.1", True), ("3.0.2", False), ("3.1.1", False), ("4.1", False)],
)
def test_connect_switches_idempotence_off(release: str, *, value: bool) -> None:
    """`Worker.baseProducerConfigs` in the tags of these releases."""
    worker = "key.converter=x\noffset.storage.topic=o\nplugin.path=p\n"
    found = review(CLUSTER, worker, kafka=release)

    assert (found.value("acks").value, found.value("enable.idempotence").value) == ("all", value)


def test_every_default_of_a_product_has_its_source_and_a_value_that_kafka_has() -> None:
    for each in PRODUCTS:
        assert each.source
        for key, values in each.defaults.items():
            assert [since for since, _ in values] == sorted(since for since, _ in values)
            assert all(parse(known(key), value, NEWEST) is not None for _, value in values)


def test_a_producer_that_says_acks_is_believed_whatever_the_client() -> None:
    assert review(CLUSTER, "acks=all\nkey.serializer=x\n", client="2.8").switches.acks.value == "all"


def test_keys_that_only_librdkafka_reads_tell_the_library() -> None:
    producer = "bootstrap.servers=a:9092\nstatistics.interval.ms=1000\nlinger.ms=5\nkey.serializer=x\n"
    found = review(CLUSTER, producer, kafka="2.8.0")

    assert (str(found.client.value), found.switches.acks.value) == ("librdkafka", "all")


@pytest.mark.parametrize(
    ("client", "word"),
    [
        ("sarma", "did you mean `sarama`?"),
        ("kafka-clients", "3.6"),
        ("9.9", ""),
        ("librdkfa 1", "librdkafka"),
        ("", ""),
    ],
)
def test_a_client_that_is_none_is_told_with_what_to_write(client: str, word: str) -> None:
    with pytest.raises(SpecError) as caught:
        review(CLUSTER, client=client)

    (told,) = caught.value.diagnostics
    assert (told.code, told.source.name) == ("R0710", "--client")
    assert word in told.help


def test_a_transactional_producer_waits_for_all() -> None:
    producer = "bootstrap.servers=a:9092\ntransactional.id=t\nkey.serializer=x\n"

    assert review(CLUSTER, producer, kafka="2.7.0").switches.acks.value == "all"
    with pytest.raises(SpecError) as caught:
        review(CLUSTER, producer + "acks=1\n", kafka="2.7.0")
    assert [told.code for told in caught.value.diagnostics] == ["R0718"]


IN_FLIGHT = "max.in.flight.requests.per.connection"


@pytest.mark.parametrize(
    ("producer", "release"),
    [
        ("transactional.id=t\nenable.idempotence=false\n", "0.11.0"),
        ("transactional.id=t\nenable.idempotence=false\n", "4.1"),
        ("enable.idempotence=true\nretries=0\n", "2.8"),
        ("transactional.id=t\nretries=0\n", "3.7"),
        (f"enable.idempotence=true\n{IN_FLIGHT}=6\n", "3.7"),
        (f"enable.idempotence=true\n{IN_FLIGHT}=5\n", "0.11.0"),
    ],
)
def test_a_producer_that_does_not_start_is_told(producer: str, release: str) -> None:
    """ProducerConfig.postProcessAndValidateIdempotenceConfigs, and before it KafkaProducer, throw."""
    with pytest.raises(SpecError) as caught:
        review(CLUSTER, "bootstrap.servers=a:9092\n" + producer, kafka=release)

    assert [told.code for told in caught.value.diagnostics] == ["R0718"]


@pytest.mark.parametrize(
    ("producer", "release", "codes"),
    [
        (f"{IN_FLIGHT}=6\n", "3.9", []),
        (f"{IN_FLIGHT}=6\n", "4.0", ["R0718"]),
        (f"{IN_FLIGHT}=6\nacks=1\n", "4.0", ["R0718"]),
        (f"{IN_FLIGHT}=6\nenable.idempotence=false\n", "4.0", []),
        ("retries=0\n", "4.0", []),
    ],
)
def test_what_switches_idempotence_off(producer: str, release: str, codes: list[str]) -> None:
    found = review(CLUSTER, "bootstrap.servers=a:9092\n" + producer, kafka=release)

    assert found.value("enable.idempotence").value is False
    assert [told.code for told in found.warnings] == codes


def test_of_a_log_with_several_starts_the_release_of_the_last_counts() -> None:
    """The settings did, with the release of the first start: 3.6 has no unclean elections with KRaft."""
    start = "INFO KafkaConfig values: \n\tnode.id = 1\n\tunclean.leader.election.enable = true\n"
    roles = "\tprocess.roles = [broker, controller]\n"
    log = "".join(f"{start}{roles}INFO Kafka version: {release}\n" for release in ("3.6.1", "3.9.0"))

    found = resolve([read_bytes("f", (log + start + roles).encode())])  # the end: a setting changed

    assert str(found.version.value) == "3.9"
    assert found.switches.unclean_election.value


def test_a_producer_that_printed_its_configuration_has_started() -> None:
    printed = "ProducerConfig values: \n\tacks = -1\n\tenable.idempotence = true\n\tretries = 0\n"

    assert review(CLUSTER, printed, kafka="3.0.0").switches.acks.value == "all"


@pytest.mark.parametrize(
    ("release", "value"),
    [("2.8.0", False), ("3.0.0", False), ("3.0.1", True), ("3.1.0", False), ("3.2.0", True)],
)
def test_idempotence_by_default(release: str, *, value: bool) -> None:
    assert review(CLUSTER, kafka=release).value("enable.idempotence").value is value


# ------------------------------------------------------------------ whose min.insync.replicas


def test_with_elr_the_controllers_own_value_is_that_of_the_cluster() -> None:
    """KAFKA-16540: a broker's file is not asked."""
    found = review(BROKER + ELR, kafka="4.1.0")

    assert (found.switches.min_insync_replicas.value, codes(found)) == (1, ["R0740"])
    assert found.switches.min_insync_replicas.assumed


@pytest.mark.parametrize(
    ("own", "counts"),
    [
        ("", 1),
        ("min.insync.replicas=2\n", 2),
        ("min.insync.replicas=3\n", 3),
        ("min.insync.replicas=1\nmin.insync.replicas=+3\n", 3),
    ],
)
def test_the_controllers_file_says_what_counts(own: str, counts: int) -> None:
    controller = f"process.roles=controller\nnode.id=100\n{own}"
    found = review(BROKER + ELR, controller, kafka="4.1.0")

    assert found.switches.min_insync_replicas.value == counts
    assert not found.switches.min_insync_replicas.assumed


def test_a_controllers_value_that_is_none_is_a_mistake() -> None:
    for value in ("\u00b2", "two"):
        with pytest.raises(SpecError) as caught:
            review(BROKER + ELR, f"process.roles=controller\nmin.insync.replicas={value}\n", kafka="4.1.0")
        assert [told.code for told in caught.value.diagnostics] == ["R0713"]


def test_a_process_of_both_roles_a_topic_and_a_cluster_without_elr_count_as_ever() -> None:
    both = BROKER.replace("=broker\n", "=broker,controller\n")
    topic = "Configs for topic 'orders' are min.insync.replicas=3\n"

    assert review(both + ELR, kafka="4.1.0").switches.min_insync_replicas.value == 2
    assert (
        review(CLUSTER.replace("broker.id=1\n", "") + ELR, kafka="4.1.0").switches.min_insync_replicas.value
        == 2
    )
    assert review(BROKER, kafka="4.0.0").switches.min_insync_replicas.value == 2
    assert review(BROKER + ELR, topic, kafka="4.1.0").switches.min_insync_replicas.value == 3


@pytest.mark.parametrize("kafka", ["0.8.1", "1.0", "3.7"])
def test_another_library_reads_both_names_of_acks_whatever_the_cluster_is(kafka: str) -> None:
    for name, value in (("acks", "all"), ("request.required.acks", "1"), ("request.required.acks", "all")):
        found = review(CLUSTER, f"{name}={value}\nqueue.buffering.max.kbytes=9\n", kafka=kafka)
        assert (found.switches.acks.value, codes(found).count("R0715")) == (value, kafka == "0.8.1")


def test_the_old_producers_name_does_not_count_beside_the_new_one() -> None:
    lines = ["acks=all\n", "request.required.acks=0\n"]
    for text in ("".join(lines), "".join(reversed(lines))):
        found = review(CLUSTER, text, kafka="1.0")
        assert (found.switches.acks.value, codes(found)) == ("all", ["R0714"])


def test_producers_of_two_services_are_two() -> None:
    services = "".join(
        f"  {name}:\n    image: me/app\n    environment:\n      KAFKA_PRODUCER_ACKS: '{acks}'\n"
        for name, acks in (("one", "0"), ("two", "1"))
    )
    found = review(CLUSTER, "services:\n" + services)

    assert (found.switches.acks.value, codes(found)) == ("0", ["R0724"])


@pytest.mark.parametrize(
    ("given", "client", "key", "expected"),
    [
        ("enable.idempotence=true", "2.8", "acks", "all"),
        ("acks=1", "3.7", "enable.idempotence", False),
        ("transactional.id=t", "2.8", "enable.idempotence", True),
        ("linger.ms=1", "sarama", "enable.idempotence", None),
        ("linger.ms=1", "3.7", "enable.idempotence", True),
    ],
)
def test_a_default_is_told_as_other_settings_leave_it(
    given: str, client: str, key: str, expected: object
) -> None:
    assert review(CLUSTER, f"bootstrap.servers=a:1\n{given}\n", client=client).value(key).value == expected
