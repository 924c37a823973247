"""Files are recognised by what is in them, and no file makes the reader fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcheck.kafka.settings.readers.recognition import read_bytes, read_files
from modelcheck.kafka.settings.readings import FileKind, SettingLayer
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.diagnostics import SpecError
from tests.cpu_time import cpu_seconds

INPUTS = Path(__file__).parent / "inputs"
EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {path.name: path for path in (*INPUTS.iterdir(), *EXAMPLES.glob("*.properties"))}
KINDS = {
    "server-0.8.1.properties": FileKind.BROKER,
    "jepsen.properties": FileKind.BROKER,
    "server-3.7.properties": FileKind.BROKER,
    "producer.properties": FileKind.PRODUCER,
    "producer-all.properties": FileKind.PRODUCER,
    "topic-payments.properties": FileKind.TOPIC,
    "topics-0.8.0.txt": FileKind.TOPICS,
    "topics-1.0.txt": FileKind.TOPICS,
    "topics-4.0.txt": FileKind.TOPICS,
    "configs-1.0.txt": FileKind.CONFIGS,
    "configs-3.7.txt": FileKind.CONFIGS,
    "features-4.1.txt": FileKind.FEATURES,
    "strimzi.yaml": FileKind.KUBERNETES,
}


def is_answered(data: bytes) -> bool:
    """Whether a review of these bytes ends in settings or in diagnostics, never otherwise."""
    try:
        return bool(resolve([read_bytes("f", data)]).as_json())
    except SpecError as error:
        return bool(error.diagnostics)


def codes(error: pytest.ExceptionInfo[SpecError]) -> list[str]:
    return [diagnostic.code for diagnostic in error.value.diagnostics]


def test_every_input_has_an_expected_kind() -> None:
    assert FILES.keys() == KINDS.keys()


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_recognised_by_its_content(name: str) -> None:
    reading = read_bytes("some-file", FILES[name].read_bytes())

    assert reading.kind is KINDS[name]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("min.insync.replicas=2\n", FileKind.BROKER),
        ("min.insync.replicas=2\nretention.ms=1\n", FileKind.TOPIC),
        ("bootstrap.servers=a\ngroup.id=g\n", FileKind.CONSUMER),
        ("bootstrap.servers=a\n", FileKind.PRODUCER),
        ("dataDir=/x\nclientPort=2181\n", FileKind.ZOOKEEPER),
        ("bootstrap.servers=a\nkey.converter=c\nproducer.acks=1\n", FileKind.CONNECT),
    ],
)
def test_a_small_file_is_recognised_by_its_keys(text: str, kind: FileKind) -> None:
    assert read_bytes("f", text.encode()).kind is kind


def test_a_connect_worker_speaks_for_its_producers() -> None:
    reading = read_bytes("f", b"key.converter=c\nproducer.acks=1\noffset.storage.topic=t\n")

    assert [(g.key, g.value, g.layer) for g in reading.given] == [("acks", "1", SettingLayer.PRODUCER)]
    assert reading.problems == ()


def test_the_standard_input_is_a_file_too() -> None:
    (reading,) = read_files(["-"], stdin=lambda: b"acks=all\n")

    assert reading.kind is FileKind.PRODUCER


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "R0703"),
        (b" \n\t\r\n", "R0703"),
        (b"\x00\x01\x02binary", "R0704"),
        (bytes(range(256)) * 50, "R0704"),
        ("acks=all".encode("utf-16"), "R0705"),
        (b"The quick brown fox\njumps over.\n", "R0706"),
        (b"{}", "R0706"),
        (b"log4j.rootLogger=INFO, stdout\n", "R0706"),
        (b"kind: Deployment\nmetadata: {name: web}\n", "R0706"),
        (b"kind: Kafka\n  x: [\n", "R0707"),
        (b"x" * (32 * 1024 * 1024 + 1), "R0708"),
        (b"kind: Kafka\n" + b"# padding\n" * 200_000, "R0708"),
        (b"log.dirs=C:\\users\\kafka\n", "R0709"),
    ],
)
def test_bad_content_is_said_to_be_what_it_is(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "input"
    path.write_bytes(data)

    with pytest.raises(SpecError) as caught:
        read_files([str(path)])

    assert codes(caught) == [code]


def test_bad_names_are_all_told_at_once(tmp_path: Path) -> None:
    good = tmp_path / "server.yaml"
    good.write_text("kind: KafkaTopic\nmetadata: {name: a}\n")

    with pytest.raises(SpecError) as caught:
        read_files([str(tmp_path / "none"), str(tmp_path), str(good), str(good), "a\0b"])

    assert sorted(codes(caught)) == ["R0701", "R0702", "R0702", "R0702"]


def test_a_byte_order_mark_is_told_of() -> None:
    reading = read_bytes("f", b"\xef\xbb\xbfbroker.id=1\n")

    assert [warning.code for warning in reading.warnings] == ["R0725"]
    assert reading.given[0].key == "broker.id"


def test_a_byte_order_mark_is_no_letter_where_the_rest_is_latin_1() -> None:
    reading = read_bytes("f", b"\xef\xbb\xbfmin.insync.replicas=2\n# caf\xe9\n")

    assert [each.key for each in reading.given] == ["min.insync.replicas"]
    assert reading.problems == ()


def test_latin_1_and_all_ends_of_lines_are_read() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        reading = read_bytes("f", b"# caf\xe9" + end + b"broker.id=1" + end + b"min.insync.replicas=2" + end)

        assert [(g.key, g.value) for g in reading.given] == [("broker.id", "1"), ("min.insync.replicas", "2")]
        assert reading.given[1].place == "f:3"


@pytest.mark.grid
@pytest.mark.parametrize(
    "line",
    [
        b"min.insync.replicas=2\n",
        b"unknown.key.of.ours=2\n",
        b"a",
        b"\\\n",
        b"\\",
        b"=",
        b"kind:\n",
        b"Topic: ",
        b"KAFKA_MIN_INSYNC_REPLICAS=2\n",
        b"# min.insync.replicas=2\n",
        b"INFO KafkaConfig values:\n",
        b" a.min.insync.replicas",
    ],
)
def test_ten_times_as_much_takes_as_much_longer(line: bytes) -> None:
    def seconds(size: int) -> float:
        data = b"broker.id=1\n" + line * (size // len(line))
        assert is_answered(data)
        return cpu_seconds(lambda: is_answered(data))

    assert seconds(1_000_000) < 40 * seconds(100_000)  # 100 times, if it were quadratic


def test_an_inventory_of_many_hosts_is_read_in_linear_time() -> None:
    def seconds(many: int) -> float:
        hosts = "".join(
            f"    b{n}:\n      kafka_broker_custom_properties:\n        min.insync.replicas: {1 + n % 2}\n"
            for n in range(many)
        )
        data = f"kafka_broker:\n  hosts:\n{hosts}".encode()
        assert len(read_bytes("f", data).given) == 2 * many  # the id of each, and its own value
        return cpu_seconds(lambda: read_bytes("f", data), times=1)

    assert seconds(3_000) < 30 * seconds(300)  # 100 times, if it were quadratic


def test_a_file_of_many_jobs_is_read_in_linear_time() -> None:
    command = "kafka-topics --bootstrap-server k:9092 --create --topic t% --replication-factor 3"
    spec = f"spec:\n  template:\n    spec:\n      containers:\n        - args: ['{command}']\n"
    job = f"---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: job%\n{spec}"

    def seconds(many: int) -> float:
        data = "".join(job.replace("%", str(n)) for n in range(many)).encode()
        assert len(read_bytes("jobs.yaml", data).topics) == many
        return cpu_seconds(lambda: read_bytes("jobs.yaml", data))

    assert seconds(800) < 24 * seconds(100)


@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    assert is_answered(data)


@given(
    st.lists(
        st.sampled_from(
            [
                "kind: Kafka",
                "spec:",
                "  kafka:",
                "    config:",
                "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: ",
                "\tTopic: a\tPartition: x\tLeader: 1\tReplicas: 1,a\tIsr: ",
                "Configs for topic 'a' are acks=1",
                "acks=2",
                "min.insync.replicas=\\u12",
                "process.roles=broker",
                "zookeeper.connect=a",
                "inter.broker.protocol.version=3.9-IV",
                "metadata.version=1.1",
                "- [",
                "\\",
                "services:",
                "  k: {image: 'apache/kafka:3.9.0', environment: [KAFKA_NODE_ID=1, KAFKA_ACKS]}",
                "    environment: &a",
                "      <<: *a",
                "      KAFKA_MIN_INSYNC_REPLICAS: 2",
                "KAFKA_CREATE_TOPICS=a:1:2",
                "replicaCount: -1",
                "apiVersion: platform.confluent.io/v1beta1",
                "spec: {configOverrides: {server: [min.insync.replicas, a=b=c]}}",
                "spring: {kafka: {producer: [acks]}}",
                "kind: ConfigMap",
                "data: {server.properties: 'min.insync.replicas=2', x: [1]}",
                'resource "kafka_topic" "a" {',
                '  name = "${a["b"]}"',
                "  config = { a = [ <<E",
                "}",
                "CurrentVoters: [1, {]",
                "INFO KafkaConfig values:",
                "\tmin.insync.replicas = [",
                "redpanda:",
                "  seed_servers: []",
                "- hosts: a",
                "  tasks: [{kafka_topic: {name: [], replica_factor: {}, partitions: x}}]",
                "  command: kafka-topics --create --topic $t --replication-factor 3 --config acks=",
            ]
        ),
        max_size=8,
    )
)
def test_no_mixture_of_kinds_makes_a_review_fail(lines: list[str]) -> None:
    assert is_answered("\n".join(lines).encode())
