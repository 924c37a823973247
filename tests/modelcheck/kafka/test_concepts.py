"""Replicas, in-sync replicas and acks by whatever names tools give them; what is not read has advice."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.diagnostics import SpecError
from spec.source import Source
from tests.configurations import read, settings

# ------------------------------------------------------------------ topics

TOPIC = "{name: t, partitions: 6, FACTOR: 2}"
TREES = {
    "values": "topics: [TOPIC]\n",
    "kafka-gitops": "topics: {t: {partitions: 6, FACTOR: 2}}\n",
    "a resource": "apiVersion: v1\nkind: Topic\nmetadata: {name: t}\nspec: {partitions: 6, FACTOR: 2}\n",
    "Koperator": "apiVersion: kafka.banzaicloud.io/v1alpha1\nkind: KafkaTopic\nspec: TOPIC\n",
    "Jikkou": "apiVersion: kafka.jikkou.io/v1beta2\nkind: KafkaTopicList\nitems:\n"
    "- {metadata: {name: t}, spec: {partitions: 6, FACTOR: 2}}\n",
    "Crossplane": "apiVersion: topic.kafka.crossplane.io/v1alpha1\nkind: Topic\nmetadata: {name: t}\n"
    "spec: {forProvider: {partitions: 6, FACTOR: 2}}\n",
    "Ansible": "- hosts: a\n  tasks: [{kafka_topic: TOPIC}]\n",
}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    "factor", ["replication", "replicas", "replicationFactor", "replication_factor", "ReplicationFactor"]
)
def test_the_replicas_of_a_topic_are_read_by_any_name(tree: str, factor: str) -> None:
    text = TREES[tree].replace("TOPIC", TOPIC).replace("FACTOR", factor)

    assert settings(text, "f.yaml").switches.replication_factor.value == 2


def test_replicas_of_what_is_no_topic_are_no_topics() -> None:
    text = "replicaCount: 3\ningress: {name: a, replicas: 2}\ntopics: [a, b]\nmin.insync.replicas: 2\n"

    assert settings(text, "values.yaml").topics == ()


HCL = {
    "a module": 'module "m" {\n topics = {\n  t = { partitions = 6, replication_factor = 2 }\n }\n}\n',
    "local values": 'locals {\n topics = [{ name = "t", partitions = 6, replication_factor = 2 }]\n}\n',
    "another provider": 'resource "ovh_kafka_topic" "t" {\n name = "t"\n replication = 2\n}\n',
    "a variable": 'variable "n" {\n default = 2\n}\n'
    'resource "kafka_topic" "t" {\n name = "t"\n partitions = 6\n replication_factor = var.n\n}\n',
    "a manifest": 'resource "kubernetes_manifest" "t" {\n manifest = {\n  kind = "KafkaTopic"\n'
    '  apiVersion = "kafka.strimzi.io/v1"\n  metadata = { name = "t" }\n  spec = { replicas = 2 }\n }\n}\n',
}


@pytest.mark.parametrize("block", HCL)
def test_topics_of_terraform_are_read_wherever_they_are_written_out(block: str) -> None:
    assert settings(HCL[block], "f.tf").switches.replication_factor.value == 2


def test_a_variables_default_is_told() -> None:
    assert "var.n is taken as its default" in str(settings(HCL["a variable"], "f.tf").notes)


# ------------------------------------------------------------------ acks

ACKS = {
    "producer.override.acks=1\nconnector.class=a\n": "1",
    "mp.messaging.outgoing.a.acks=0\n": "0",
    "kafka.producers.default.acks=0\n": "0",
    "application.id=a\nproducer.acks=0\n": "0",
    "[OUTPUT]\n  Name kafka\n  rdkafka.request.required.acks 1\n": "1",
    "[sinks.out.librdkafka_options]\n\"acks\" = '0'\n": "0",
    "exporters: {kafka: {producer: {required_acks: 0}}}\n": "0",
    "output.kafka: {required_acks: 1}\n": "1",
    '{"Kafka": {"Producer": {"Acks": "Leader"}}}\n': "1",
    '{"Kafka": {"Producer": {"Acks": "None"}}}\n': "0",
    "config.Producer.RequiredAcks = sarama.WaitForLocal\n": "1",
    "KAFKA_PRODUCER_REQUIRED_ACKS=1\n": "1",
}


@pytest.mark.parametrize("text", ACKS)
def test_the_acks_of_a_client_are_read_under_any_prefix(text: str) -> None:
    name = "f.yaml" if ": {" in text else "f"

    assert settings(text, name).switches.acks.value == ACKS[text]


def test_each_client_of_an_application_is_one_of_its_own() -> None:
    found = settings("mp.messaging.outgoing.a.acks=all\nmp.messaging.outgoing.b.acks=0\n")

    assert (found.switches.acks.value, [w.code for w in found.warnings]) == ("0", ["R0724"])


def test_a_consumer_has_no_acks() -> None:
    with pytest.raises(SpecError) as caught:
        settings("kafka: {consumers: {a: {acks: 0}}}\n", "f.yaml")
    assert [told.code for told in caught.value.diagnostics] == ["R0734"]


# ------------------------------------------------------------------ what other tools fill in

CFN = """\
Parameters: {Version: {Type: String, Default: 3.5.1}, Other: {Type: String}}
Resources:
  C: {Type: AWS::MSK::Cluster, Properties: {KafkaVersion: REF, NumberOfBrokerNodes: COUNT}}
  D: {Type: AWS::MSK::Configuration, Properties: {ServerProperties: min.insync.replicas=2}}
"""


@pytest.mark.parametrize("reference", ["!Ref Version", "{Ref: Version}"])
def test_a_reference_to_a_parameter_is_its_default(reference: str) -> None:
    found = settings(CFN.replace("REF", reference).replace("COUNT", "3"))

    assert (str(found.version.value), found.version.assumed) == ("3.5.1", False)


@pytest.mark.parametrize("reference", ["!Ref Other", "!GetAtt A.B", "{Ref: Other}"])
def test_a_reference_to_nothing_known_is_no_release_and_no_number(reference: str) -> None:
    notes = str(settings(CFN.replace("REF", reference).replace("COUNT", reference)).notes)

    assert "KafkaVersion of MSK is filled in by another tool: give --kafka VERSION" in notes
    assert "NumberOfBrokerNodes is filled in by another tool: give --brokers N" in notes


def test_a_default_of_msk_is_not_told_beside_a_file_that_sets_the_key() -> None:
    msk = read(CFN.replace("REF", "3.6.0").replace("COUNT", "3"), "msk.yaml")
    key = "unclean.leader.election.enable"
    configs = read(
        f"Default configs for brokers in the cluster are:\n  {key}=false sensitive=false synonyms={{}}\n"
    )

    assert f"{key} is not given" in str(resolve([msk]).notes)
    assert f"{key} is not given" not in str(resolve([msk, configs]).notes)
    assert "min.insync.replicas" not in str(resolve([msk]).notes)


def test_topics_named_by_a_variable_are_not_one_topic_described_twice() -> None:
    command = "kafka-topics --create --topic $${T} --partitions 1 --replication-factor"
    text = f"services:\n  a:\n    image: x\n    command: sh -c '{command} 3; {command} 1'\n"
    found = settings(text, "compose.yml")

    assert (found.switches.replication_factor.value, found.warnings) == (1, ())


# ------------------------------------------------------------------ what is not read


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("client {\n  acks = 1\n}\n", "`acks=1` in producer.properties"),
        ('kafka {\n  acks => "0"\n}\n', "`acks=0` in producer.properties"),
        ('props.put(ProducerConfig.ACKS_CONFIG, "1");\n', "`acks=1` in producer.properties"),
        ("create({\n  replicationFactor: 2,\n});\n", "`default.replication.factor=2` in server.properties"),
        (
            'a.create(new NewTopic("t", 6, (short) 1));\n',
            "`default.replication.factor=…` in server.properties",
        ),
        ("server {\n  'min.insync.replicas=2',\n}\n", "`min.insync.replicas=2` in server.properties"),
    ],
)
def test_a_form_that_is_not_read_is_refused_with_the_line_that_would_be(text: str, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_text(Source("f", text))

    (told,) = caught.value.diagnostics
    assert (told.code, line in told.help) == ("R0734", True)


def test_a_patch_of_kustomize_by_a_path_is_no_word_in_a_sentence() -> None:
    text = (
        "kind: Kustomization\npatches:\n- patch: |-\n    - op: replace\n"
        "      path: /spec/kafka/config/min.insync.replicas\n      value: 1\n"
    )
    with pytest.raises(SpecError) as caught:
        settings(text, "kustomization.yaml")
    assert [told.code for told in caught.value.diagnostics] == ["R0734"]
