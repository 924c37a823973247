"""What must be the same however a configuration is written: its form, its order, its layout, its defaults."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st

from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.keys.versions import LINES, protocol
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError
from spec.frozen import frozen

Keys = Mapping[str, str]
EXAMPLES = settings(max_examples=60, deadline=None)


@frozen
class Configuration:
    """The settings of a cluster, and the replicas of its topic, by who reads them."""

    kafka: str
    broker: Keys
    producer: Keys
    topic: Keys
    factor: int


def any_of(values: Mapping[str, Sequence[str]]) -> st.SearchStrategy[dict[str, str]]:
    """Some of these keys, each with one of its values, in any order."""
    some = st.fixed_dictionaries({}, optional={key: st.sampled_from(each) for key, each in values.items()})
    return some.flatmap(lambda keys: st.permutations(list(keys.items()))).map(dict)


def configured(kafka: str, broker: Keys, producer: Keys, topic: Keys, factor: int) -> Configuration:
    """A configuration whose brokers use ZooKeeper as long as there is one: some forms say so anyway."""
    deciding = ("controlled.shutdown.enable", "true") if kafka >= "4" else ("zookeeper.connect", "z")
    own = dict([("broker.id", "1"), deciding])  # without one that decides, some forms are nothing of Kafka's
    newer = {key for key in broker if key.endswith(".version") and protocol(broker[key]) > protocol(kafka)}
    started = {key: value for key, value in broker.items() if key not in newer}
    return Configuration(kafka, own | started, producer, topic, factor)


BOOLEANS = ("true", "false")
CONFIGURATIONS = st.builds(
    configured,
    st.sampled_from([".".join(map(str, line)) for line in LINES]),
    any_of(
        {
            "default.replication.factor": "123",
            "min.insync.replicas": "1234",
            "unclean.leader.election.enable": (*BOOLEANS, "TRUE"),
            "auto.leader.rebalance.enable": BOOLEANS,
            "controlled.shutdown.enable": BOOLEANS,
            "log.flush.interval.messages": ("1", "2", "10000"),
            "log.message.format.version": ("0.9.0", "0.11.0", "2.0"),
            "inter.broker.protocol.version": ("0.9.0", "0.11.0-IV1", "1.1", "2.1", "3.0-IV1"),
            "offsets.topic.replication.factor": "13",
            "num.partitions": "3",
        }
    ),
    any_of({"acks": ("0", "1", "all", "-1"), "enable.idempotence": BOOLEANS, "linger.ms": "5"}).map(
        lambda keys: {"bootstrap.servers": "b:9092"} | keys
    ),
    any_of(
        {
            "min.insync.replicas": "123",
            "unclean.leader.election.enable": BOOLEANS,
            "flush.messages": "15",
            "cleanup.policy": ("compact",),
        }
    ).map(lambda keys: {"segment.ms": "5"} | keys),
    st.integers(1, 3),
)


# ------------------------------------------------------------------ how it is written


def lines(keys: Keys, form: str = "{key}={value}", above: str = "") -> str:
    """A line for each key; `{name}` is it as a variable, `{snake}` as Terraform has it."""
    names = {key: key.upper().replace(".", "_") for key in keys}
    return above + "".join(
        form.format(key=key, value=value, name=names[key], snake=key.replace(".", "_")) + "\n"
        for key, value in keys.items()
    )


def resource(group: str, kind: str, spec: str) -> str:
    return f"apiVersion: {group}\nkind: {kind}\nmetadata:\n  name: t\n{spec}"


STRIMZI, CONFLUENT = "kafka.strimzi.io/v1beta2", "platform.confluent.io/v1beta1"
COMPOSE = "services:\n  one:\n    image: apache/kafka\n    environment:\n"
POD = "  template:\n    spec:\n      containers:\n        - image: apache/kafka\n          env:\n"
OF_BROKERS: dict[str, Callable[[Keys], str]] = {
    "variables": lambda keys: lines(keys, "KAFKA_{name}={value}"),
    "exported": lambda keys: lines(keys, 'export KAFKA_CFG_{name}="{value}"'),
    "Compose": lambda keys: lines(keys, '      KAFKA_{name}: "{value}"', COMPOSE),
    "Compose, a list": lambda keys: lines(keys, "      - KAFKA_{name}={value}", COMPOSE),
    "Strimzi": lambda keys: resource(
        STRIMZI,
        "Kafka",
        lines(keys, "      {key}: '{value}'", "spec:\n  zookeeper: {}\n  kafka:\n    config:\n"),
    ),
    "Confluent": lambda keys: resource(
        CONFLUENT, "Kafka", lines(keys, "      - {key}={value}", "spec:\n  configOverrides:\n    server:\n")
    ),
    "a ConfigMap": lambda keys: resource(
        "v1", "ConfigMap", lines(keys, "    {key}={value}", "data:\n  server.properties: |\n")
    ),
    "a ConfigMap in JSON": lambda keys: json.dumps({"kind": "ConfigMap", "data": {"a": lines(keys)}}),
    "pods": lambda keys: resource(
        "apps/v1",
        "StatefulSet",
        lines(keys, '            - name: KAFKA_{name}\n              value: "{value}"', "spec:\n" + POD),
    ),
    "Helm, a text": lambda keys: lines(keys, "  {key}={value}", "config: |\n"),
    "Helm, keys": lambda keys: lines(keys, '  "{key}": "{value}"', "kafka:\n"),
    "Ansible": lambda keys: lines(keys, '      {key}: "{value}"', "- hosts: a\n  vars:\n    kafka:\n"),
    "MSK": lambda keys: (
        lines(keys, above='resource "aws_msk_configuration" "c" {\n  server_properties = <<TEXT\n')
        + "TEXT\n}\n"
    ),
    "Aiven": lambda keys: (
        lines(
            keys,
            '      {snake} = "{value}"',
            'resource "aiven_kafka" "c" {\n  kafka_user_config {\n    kafka {\n',
        )
        + "    }\n  }\n}\n"
    ),
    "kafka-configs": lambda keys: lines(
        keys,
        "  {key}={value} sensitive=false synonyms={{STATIC_BROKER_CONFIG:{key}={value}}}",
        "All configs for broker 1 are:\n",
    ),
    "a log": lambda keys: lines(keys, "\t{key} = {value}", "INFO KafkaConfig values: \n"),
}
OF_PRODUCERS: dict[str, Callable[[Keys], str]] = {
    "variables": lambda keys: lines(keys, "KAFKA_PRODUCER_{name}={value}"),
    "Spring": lambda keys: lines(
        keys, '        {key}: "{value}"', "spring:\n  kafka:\n    producer:\n      properties:\n"
    ),
    "Spring, properties": lambda keys: lines(keys, "spring.kafka.producer.properties.{key}={value}"),
    "Connect": lambda keys: lines(
        keys, "producer.{key}={value}", "key.converter=x\noffset.storage.topic=o\n"
    ),
}
OF_TOPICS: dict[str, Callable[[Keys, int], str]] = {
    "Strimzi": lambda keys, factor: resource(
        STRIMZI, "KafkaTopic", lines(keys, "    {key}: {value}", f"spec:\n  replicas: {factor}\n  config:\n")
    ),
    "Confluent": lambda keys, factor: resource(
        CONFLUENT,
        "KafkaTopic",
        lines(keys, '    {key}: "{value}"', f"spec:\n  replicas: {factor}\n  configs:\n"),
    ),
    "Terraform": lambda keys, factor: (
        lines(
            keys,
            '    "{key}" = "{value}"',
            f'resource "kafka_topic" "t" {{\n  name = "t"\n  replication_factor = {factor}\n  config = {{\n',
        )
        + "  }\n}\n"
    ),
    "Ansible": lambda keys, factor: lines(
        keys,
        '      {key}: "{value}"',
        "- name: make\n  kafka_topic:\n    name: t\n    partitions: 1\n"
        f"    replica_factor: {factor}\n    options:\n",
    ),
    "Helm": lambda keys, factor: lines(
        keys,
        '        {key}: "{value}"',
        "provisioning:\n  topics:\n    - name: t\n      partitions: 1\n"
        f"      replicationFactor: {factor}\n      config:\n",
    ),
    "a command": lambda keys, factor: (
        "services:\n  make:\n    image: apache/kafka\n    command: kafka-topics.sh --create --topic t "
        f"--partitions 1 --replication-factor {factor}"
        + "".join(f" --config {key}={value}" for key, value in keys.items())
        + "\n"
    ),
}


def described(keys: Keys, factor: int) -> str:
    told = ",".join(f"{key}={value}" for key, value in keys.items())
    return f"Topic: t\tPartitionCount: 1\tReplicationFactor: {factor}\tConfigs: {told}\n"


def texts(of: Configuration) -> dict[str, str]:
    """As properties, and as kafka-topics describes its topic."""
    return {
        "server.properties": lines(of.broker),
        "producer.properties": lines(of.producer),
        "topics.txt": described(of.topic, of.factor),
    }


# ------------------------------------------------------------------ what comes of it


def resolved(of: Configuration, files: Mapping[str, str | bytes], client: str | None = None) -> Settings:
    """What counts, of three brokers."""
    readings = [
        read_bytes(name, text.encode() if isinstance(text, str) else text) for name, text in files.items()
    ]
    return resolve(readings, kafka=of.kafka, brokers=3, client=client)


def came_of(of: Configuration, files: Mapping[str, str | bytes], client: str | None = None) -> object:
    """Every value and choice, without where they stand; or the codes of what is wrong."""
    try:
        found = resolved(of, files, client)
    except SpecError as error:
        return sorted(each.code for each in error.diagnostics)
    asked = partition(found)
    made = {each.name: getattr(found.switches, each.name).value for each in fields(found.switches)}
    return {each.key: each.value for each in found.values}, made, dict(asked.config), asked.names


@EXAMPLES
@given(CONFIGURATIONS)
def test_every_form_says_the_same(of: Configuration) -> None:
    expected = came_of(of, texts(of))
    forms = {
        "server.properties": {name: form(of.broker) for name, form in OF_BROKERS.items()},
        "producer.properties": {name: form(of.producer) for name, form in OF_PRODUCERS.items()},
        "topics.txt": {name: form(of.topic, of.factor) for name, form in OF_TOPICS.items()},
    }
    for replaced, others in forms.items():
        beside = {name: text for name, text in texts(of).items() if name != replaced}
        for form, text in others.items():
            if form == "MSK" and "unclean.leader.election.enable" not in of.broker:
                continue  # where it is not given it is Amazon's default, which is not Kafka's
            own = came_of(of, texts(of), "kafka-connect") if form == "Connect" else expected
            assert came_of(of, {"f": text, **beside}) == own, (form, text)


@EXAMPLES
@given(CONFIGURATIONS, st.sampled_from([None, "2.8", "0.10.2", "3.7", "librdkafka", "sarama"]))
def test_a_default_written_out_changes_nothing(of: Configuration, client: str | None) -> None:
    expected = came_of(of, texts(of), client)
    if isinstance(expected, list):
        return  # a mistake, which has no defaults
    for each in resolved(of, texts(of), client).defaulted:
        if each.value is None or each.key == "eligible.leader.replicas.enable":
            continue  # who gives that one has KRaft
        is_producers = known(each.key).readers == (Reader.PRODUCER,)
        name = "producer.properties" if is_producers else "server.properties"
        value = str(each.value).lower() if isinstance(each.value, bool) else str(each.value)
        written = {name: f"{texts(of)[name]}{each.key}={value}\n"}
        assert came_of(of, texts(of) | written, client) == expected, each


BLANKS = st.sampled_from(["", " ", "\t", " \f"])
BETWEEN = st.sampled_from(["=", ":", " ", " = ", "\t:\t", " \\\n   = "])
BEFORE = st.sampled_from(["", "\n", "# note = 1\n", "  ! acks=7\n", " \t\n", "{key}=overruled\n", "{key}\n"])


@st.composite
def laid_out(draw: st.DrawFn, keys: Keys) -> bytes:
    """The same settings as Java reads them, in another layout and another order."""
    text = ""
    for key, value in draw(st.permutations(list(keys.items()))):
        at = draw(st.integers(0, len(key) - 1))
        spelt = draw(
            st.sampled_from(
                [key, f"{key[:at]}\\u{ord(key[at]):04x}{key[at + 1 :]}", f"{key[:at]}\\\n  {key[at:]}"]
            )
        )
        cut = draw(st.sampled_from([value, f"{value[:1]}\\\n \t{value[1:]}"]))
        text += draw(BEFORE).format(key=key) + f"{draw(BLANKS)}{spelt}{draw(BETWEEN)}{cut}{draw(BLANKS)}\n"
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    end = draw(st.sampled_from([b"", "# café".encode(), "# café".encode("latin-1"), b"\\"]))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode() + end


@EXAMPLES
@given(CONFIGURATIONS, st.data())
def test_order_layout_and_what_is_overruled_change_nothing(of: Configuration, data: st.DataObject) -> None:
    written: dict[str, str | bytes] = {
        "server.properties": data.draw(laid_out(of.broker)),
        "producer.properties": data.draw(laid_out(of.producer)),
        "topics.txt": described(of.topic, of.factor),
    }
    order = data.draw(st.permutations(list(written.items())))

    assert came_of(of, dict(order)) == came_of(of, texts(of))
