"""The forms in which configurations of Kafka are kept, each by its reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcheck.kafka.settings.provenance import FILLED_IN
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.readings import About, FileKind
from spec.diagnostics import SpecError
from tests.configurations import read, settings


def given(text: str) -> list[tuple[str, str, str, str]]:
    """Key, value, layer and whose it is; each is seen to stand where its place says."""
    reading = read(text)
    for one in reading.given:
        assert reading.source.at(one.value_span).strip("\"'") == one.value or one.value_span == one.key_span
    return [(g.key, g.value, str(g.layer), g.entity) for g in reading.given]


def facts(text: str) -> dict[str, str]:
    return {str(fact.about): fact.value for fact in read(text).facts}


# ------------------------------------------------------------------ environment


def test_a_file_of_variables() -> None:
    text = (
        "# a broker\nexport KAFKA_MIN_INSYNC_REPLICAS=2\n"
        "KAFKA_CFG_DEFAULT_REPLICATION_FACTOR='3'\nKAFKA_HEAP_OPTS=\"-Xmx1g\"\n"
        "CONNECT_PRODUCER_ACKS=1\n"
    )

    assert read(text).kind is FileKind.ENVIRONMENT
    assert given(text) == [
        ("min.insync.replicas", "2", "broker static", ""),
        ("default.replication.factor", "3", "broker static", ""),
        ("acks", "1", "producer", ""),
    ]


COMPOSE = """\
x-all: &all
  KAFKA_MIN_INSYNC_REPLICAS: 2
services:
  one:
    image: confluentinc/cp-kafka:7.5.0
    environment:
      <<: *all
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
  two:
    image: confluentinc/cp-kafka:7.5.0
    environment:
      - KAFKA_NODE_ID=2
      - "KAFKA_MIN_INSYNC_REPLICAS=1"
  init:
    image: confluentinc/cp-kafka-connect:7.5.0
    command: kafka-topics --create --topic orders --replication-factor 2 --config retention.ms=5
"""


def test_each_broker_of_a_compose_file_counts() -> None:
    found = settings(COMPOSE)

    assert found.version.value.line == (3, 5)
    assert found.brokers.value == 2
    assert found.topic is not None
    assert (found.topic.name, found.topic.replication_factor) == ("orders", 2)
    assert found.value("min.insync.replicas").value == 1
    assert [warning.code for warning in found.warnings] == ["R0724", "R0745", "R0745"]


def test_a_controller_of_its_own_is_no_broker() -> None:
    text = (
        "services:\n"
        "  c: {image: 'apache/kafka:3.9.0', environment: {KAFKA_PROCESS_ROLES: controller}}\n"
        "  b: {image: 'apache/kafka:3.9.0', environment: {KAFKA_PROCESS_ROLES: broker}}\n"
    )

    assert facts(text) == {"Kafka version": "3.9.0", "number of brokers": "1"}


# ------------------------------------------------------------------ Kubernetes

STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: broker
          image: wurstmeister/kafka:2.13-2.8.1
          env:
            - name: KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE
              value: "true"
            - {name: KAFKA_CREATE_TOPICS, value: "a:4:2"}
          args: [--override, min.insync.replicas=2]
"""


def test_a_stateful_set_runs_as_many_brokers_as_it_has_pods() -> None:
    found = settings(STATEFUL_SET)

    assert str(found.version.value) == "2.8.1"
    assert found.brokers.value == 3
    assert found.switches.unclean_election.value is True
    assert found.switches.min_insync_replicas.value == 2
    assert found.switches.replication_factor.value == 2


def test_properties_in_a_config_map_keep_their_lines() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kafka}\ndata:\n"
        "  server.properties: |-\n    # brokers\n    broker.id=1\n    min.insync.replicas=2\n"
        "  producer.properties: |\n    bootstrap.servers=a\n    acks=1\n"
        "  KAFKA_DEFAULT_REPLICATION_FACTOR: '3'\n"
    )
    reading = read(text)

    assert {(g.key, g.value): g.place for g in reading.given if g.key != "bootstrap.servers"} == {
        ("default.replication.factor", "3"): "f:12",
        ("broker.id", "1"): "f:7",
        ("min.insync.replicas", "2"): "f:8",
        ("acks", "1"): "f:11",
    }


def test_what_kubectl_prints_as_json_is_read_without_what_it_keeps_for_itself() -> None:
    resource = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "kafka.strimzi.io/v1beta2",
                "kind": "KafkaTopic",
                "metadata": {
                    "name": "a",
                    "annotations": {"last-applied": '{"min.insync.replicas": "7"}'},
                    "managedFields": [{"f:config": {"f:min.insync.replicas": {}}}],
                },
                "spec": {"replicas": 3, "config": {"min.insync.replicas": 2}},
            },
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c"},
                "data": {"server.properties": "broker.id=1\nunclean.leader.election.enable=true\n"},
            },
        ],
    }
    found = settings(json.dumps(resource, indent=2))

    assert found.switches.min_insync_replicas.value == 2
    assert found.switches.replication_factor.value == 3
    assert found.switches.unclean_election.value is True


CONFLUENT = """\
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  replicas: 4
  image: {application: 'confluentinc/cp-server:7.9.1'}
  dependencies: {kRaftController: {clusterRef: {name: k}}}
  configOverrides:
    server:
      - min.insync.replicas=2
      - "default.replication.factor=3"
---
apiVersion: platform.confluent.io/v1beta1
kind: KafkaTopic
metadata: {name: orders}
spec: {replicas: 3, partitionCount: 4, configs: {min.insync.replicas: "1"}}
"""


def test_confluent_for_kubernetes_is_not_taken_for_strimzi() -> None:
    found = settings(CONFLUENT)

    assert found.version.value.line == (3, 9)
    assert found.brokers.value == 4
    assert found.value("min.insync.replicas").value == 1
    assert [g.value for g in found.value("min.insync.replicas").overridden] == ["2"]
    assert found.switches.controller.value == "kraft"
    assert not found.switches.controller.assumed


def test_a_cluster_of_another_operator_is_refused_with_its_line() -> None:
    text = "apiVersion: aiven.io/v1alpha1\nkind: Kafka\nmetadata: {name: k}\nspec: {plan: startup-2}\n"

    with pytest.raises(SpecError) as caught:
        read(text)

    assert str(caught.value) == (
        "f:1:13: error[R0733]: `kind: Kafka` of aiven.io is none of Strimzi's or Confluent's, "
        "and is not read here\n"
        "    1 | apiVersion: aiven.io/v1alpha1\n"
        "      |             ^^^^^^^^^^^^^^^^^\n"
        "  help: give what its operator makes of it: the broker's properties, or kafka-configs --describe"
    )


# ------------------------------------------------------------------ Helm, Spring, Ansible


def test_values_of_a_chart_in_any_spelling() -> None:
    text = (
        "image: {repository: bitnami/kafka, tag: 3.6.1-debian-11}\n"
        "replicaCount: 5\ndefaultReplicationFactor: 3\n"
        "config: |-\n  min.insync.replicas=2\n"
        "extraEnvVars:\n  - name: KAFKA_CFG_UNCLEAN_LEADER_ELECTION_ENABLE\n    value: 'true'\n"
        "provisioning:\n  topics:\n    - name: a\n      partitions: 1\n      replicationFactor: 2\n"
        "zookeeper: {replicaCount: 1}\n"
    )
    found = settings(text)

    assert str(found.version.value) == "3.6.1"
    assert found.brokers.value == 5
    assert found.value("default.replication.factor").value == 3
    assert found.switches.replication_factor.value == 2
    assert found.switches.min_insync_replicas.value == 2
    assert found.switches.unclean_election.value is True


def test_a_spring_application_speaks_for_its_producer() -> None:
    text = (
        "spring:\n  kafka:\n    bootstrap-servers: a:1\n    producer:\n      acks: 1\n"
        "      properties:\n        enable.idempotence: false\n"
        "        delivery: {timeout.ms: 5}\n    consumer:\n      auto-offset-reset: earliest\n"
    )

    assert given(text) == [
        ("bootstrap.servers", "a:1", "producer", ""),
        ("acks", "1", "producer", ""),
        ("enable.idempotence", "false", "producer", ""),
        ("delivery.timeout.ms", "5", "producer", ""),
        ("auto.offset.reset", "earliest", "consumer", ""),
    ]


def test_springs_properties_speak_for_its_producer_too() -> None:
    text = "server.port=80\nspring.kafka.producer.acks=0\nspring.kafka.producer.batch-size=1\n"

    assert [each[:3] for each in given(text) if each[0] == "acks"] == [("acks", "0", "producer")]


def test_topics_that_ansible_creates() -> None:
    text = (
        "- hosts: all\n  tasks:\n    - name: make it\n      kafka_lib:\n        resource: topic\n"
        "        name: clicks\n        partitions: 2\n        replica_factor: 3\n"
        "        options: {min.insync.replicas: 2}\n"
    )
    found = settings(text)

    assert found.topic is not None
    assert (found.topic.name, found.topic.replication_factor) == ("clicks", 3)
    assert found.switches.min_insync_replicas.value == 2


# ------------------------------------------------------------------ Terraform

MSK = """\
resource "aws_msk_configuration" "c" { # of the cluster below
  kafka_versions    = ["3.6.0"]
  server_properties = <<-EOT
    # brokers
    min.insync.replicas = 2
    default.replication.factor=2
  EOT
}
resource "aws_msk_cluster" "m" {
  kafka_version          = "3.6.0"
  number_of_broker_nodes = 2
  broker_node_group_info {
    client_subnets = [aws_subnet.a.id, "${aws_subnet.b["x"].id}"]
  }
  configuration_info { revision = 1 }
  tags = merge(local.tags, { for k, v in var.tags : k => v })
}
"""


def test_msk_is_what_its_configuration_says() -> None:
    found = settings(MSK)

    assert str(found.version.value) == "3.6"
    assert found.brokers.value == 2
    assert {one.key: one.value for one in found.used} == {
        "min.insync.replicas": 2,
        "default.replication.factor": 2,
    }
    assert found.value("min.insync.replicas").why == "broker static at f:5"


def test_topics_of_terraform_providers() -> None:
    text = (
        'resource "kafka_topic" "a" {\n  name = "a"\n  partitions = 1\n  replication_factor = 3\n'
        '  config = { "min.insync.replicas" = "2" }\n}\n'
    )
    aiven = (
        'resource "aiven_kafka_topic" "b" {\n  topic_name = "b"\n  replication = 2\n  partitions = 1\n'
        "  config {\n    min_insync_replicas = 1\n    unclean_leader_election_enable = true\n  }\n}\n"
    )

    assert [(t.name, t.replication_factor) for t in read(text).topics] == [("a", 3)]
    assert given(text) == [("min.insync.replicas", "2", "topic", "a")]
    assert [(t.name, t.replication_factor) for t in read(aiven).topics] == [("b", 2)]
    assert ("unclean.leader.election.enable", "true", "topic", "b") in given(aiven)


@pytest.mark.parametrize(
    "text",
    [
        'resource "aws_msk_cluster" "a" {\n  kafka_version = "3.6.0"\n  number_of_broker_nodes = 3\n}\n',
        'resource "confluent_kafka_topic" "a" {\n  topic_name = "a"\n  partitions_count = 4\n}\n',
    ],
)
def test_what_a_provider_decides_by_itself_is_not_taken_for_kafkas_default(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)

    (problem,) = caught.value.diagnostics
    assert problem.code == "R0733"
    assert problem.span is not None
    assert problem.source.position(problem.span.start)[0] == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('resource "a" "b" {\n  x = \n}\n', 2),
        ('resource "a" "b" {\n  x = "\n}\n', 2),
        ('resource "a" "b" {\n', 1),
        ('resource "a" "b" {\n  x = <<E\n  y\n}\n', 2),
        ('resource "a" "b" {\n  x = [1, 2\n}\n', 2),
        ('resource "a" "b" {\n' + "  x {\n" * 300, 101),
        ('resource "a" "b" {\n  x = ' + "[" * 5000 + "\n}\n", 2),
    ],
)
def test_malformed_hcl_is_told_with_its_line(text: str, place: int) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)

    (problem,) = caught.value.diagnostics
    assert problem.code == "R0707"
    assert problem.span is not None
    assert problem.source.position(problem.span.start)[0] == place


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("replication_factor = var.factor", "replication_factor must be a whole number"),
        ('config = merge({ "min.insync.replicas" = 2 }, var.more)', "`config` is worked out by another tool"),
    ],
)
def test_what_only_terraform_knows_is_asked_for(line: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(f'resource "kafka_topic" "a" {{\n  name = "a"\n  {line}\n}}\n')

    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("R0728", message)
    assert problem.help == FILLED_IN


def test_a_template_is_no_value() -> None:
    with pytest.raises(SpecError) as caught:
        settings("broker.id=1\nmin.insync.replicas=${MIN_ISR}\n")

    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.help) == ("R0713", FILLED_IN)


# ------------------------------------------------------------------ Kafka's own output

STATUS = """\
ClusterId:              fMCL8kv1SWm87L_Md-I2hg
LeaderId:               3002
CurrentVoters:          [3000,3001,3002]
CurrentObservers:       [0,1,2,4]
"""


def quorum(voters: int, brokers: int, combined: str) -> dict[str, str]:
    return {
        "controller": "kraft",
        "number of controllers": str(voters),
        "whether controllers are brokers": combined,
        "number of brokers": str(brokers),
    }


def test_the_quorum_tells_the_voters_and_the_brokers() -> None:
    combined = 'CurrentVoters: [{"id": 1, "endpoints": ["C://a:1"]}, {"id": 2}]\nCurrentObservers: []\n'
    rows = "ReplicaId\tLogEndOffset\tLag\tStatus\n1\t10\t0\tLeader\n2\t10\t0\tObserver\n3\t9\t1\tObserver\n"

    assert facts(STATUS) == quorum(voters=3, brokers=4, combined="no")
    assert facts(combined) == quorum(voters=2, brokers=2, combined="yes")
    assert facts(rows) == quorum(voters=1, brokers=2, combined="no")


LOG = """\
[2024-01-01 00:00:00,000] INFO KafkaConfig values:
\tbroker.id = 3
\tmin.insync.replicas = 2
\tprocess.roles = [broker, controller]
\tzookeeper.connect = null
 (kafka.server.KafkaConfig)
[2024-01-01 00:00:01,000] INFO Kafka version: 3.6.1 (org.apache.kafka.common.utils.AppInfoParser)
"""


def test_a_log_tells_what_a_broker_really_has() -> None:
    found = settings(LOG)

    assert str(found.version.value) == "3.6.1"
    assert found.switches.controller.value == "kraft"
    assert found.switches.min_insync_replicas.value == 2


def test_a_producer_that_switches_its_idempotence_off_is_no_contradiction() -> None:
    text = (
        "app  | 12:00 INFO ProducerConfig values: \napp  | \tacks = 1\n"
        "app  | \tenable.idempotence = true\napp  | \nKafka version: 3.7.0\n"
    )

    assert given(text) == [("acks", "1", "producer", "")]
    assert read(text).facts == ()
    assert "client's release" in read(text).notes[0]


# ------------------------------------------------------------------ what is not read


UNREAD = {
    "APP_ACKS": "services:\n  app:\n    image: app\n    environment: [PRODUCER_MIN_ISR=1, APP_ACKS=1]\n",
    "minInsyncReplicas": (
        "apiVersion: v1\nkind: Custom\nmetadata: {name: a}\nspec:\n  minInsyncReplicas: 2\n"
        "---\nkind: KafkaTopic\nmetadata: {name: a}\n"
    ),
    "min.insync.replicas": "broker.id=1\nmy.script=kafka-configs --add-config min.insync.replicas=2\n",
    "cluster.min.insync.replicas": "broker.id=1\ncluster.min.insync.replicas=2\n",
    "unclean.leader.election.enable": (
        'resource "kafka_topic" "a" {\n  name = "a"\n}\n'
        'locals {\n  x = {\n    "unclean.leader.election.enable" = true\n  }\n}\n'
    ),
    "replicationFactor": "spring:\n  kafka:\n    producer: {acks: all}\n    x:\n      replicationFactor: 1\n",
    "X_DEFAULT_REPLICATION_FACTOR": (
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  KAFKA_NODE_ID: '1'\n"
        "  run.sh: |\n    export X_DEFAULT_REPLICATION_FACTOR=1\n"
    ),
    "KAFKA_MIN_INSYNC_REPLICAS": "FROM apache/kafka\nENV KAFKA_MIN_INSYNC_REPLICAS=2\n",
}


@pytest.mark.parametrize("word", UNREAD)
def test_a_deciding_key_that_was_not_read_is_an_error_at_its_place(word: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(UNREAD[word])

    (problem,) = caught.value.diagnostics
    assert problem.code == "R0734"
    assert problem.span is not None
    assert problem.source.at(problem.span) == word


@pytest.mark.parametrize(
    "text",
    [
        "broker.id=1\n# min.insync.replicas=2\n! acks=1\n",
        "kind: KafkaTopic\nmetadata: {name: a} # min.insync.replicas: 2\n",
        "broker.id=1\nconfluent.metadata.topic.min.insync.replicas=2\nsasl.x=backs: 1\n",
        "broker.id=1\nnotes.of.mine=we want min.insync.replicas above one\n",
    ],
)
def test_comments_sentences_and_other_keys_are_no_settings(text: str) -> None:
    assert read(text).given or read(text).topics


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("services:\n  k:\n    image: docker.redpanda.com/redpandadata/redpanda:v24.1\n", 3),
        ("redpanda:\n  data_directory: /d\n  seed_servers: []\n  kafka_api: []\n", 1),
        ("apiVersion: cluster.redpanda.com/v1alpha2\nkind: Topic\nspec: {replicationFactor: 3}\n", 1),
    ],
)
def test_redpanda_is_refused_by_name(text: str, line: int) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)

    (problem,) = caught.value.diagnostics
    assert problem.code == "R0735"
    assert problem.message.startswith("this configures Redpanda,")
    assert problem.span is not None
    assert problem.source.position(problem.span.start)[0] == line


def test_a_console_of_redpanda_beside_kafka_is_no_redpanda() -> None:
    text = "services:\n  ui: {image: 'redpandadata/console:v2'}\n  k: {image: 'apache/kafka:3.9.0'}\n"

    assert read(text).kind is FileKind.COMPOSE
    assert [fact.value for fact in read(text).facts if fact.about is About.VERSION] == ["3.9.0"]


NOTHING = {"provider.tf": 'provider "aws" {\n  region = "eu-west-1"\n}\n', "notes.txt": "remember the milk\n"}


def in_folder(folder: Path, **files: str) -> list[str]:
    """The paths of files that are written to a folder."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


def test_files_without_anything_of_kafka_are_passed_over_beside_others(tmp_path: Path) -> None:
    names = in_folder(tmp_path, **{"server.properties": "min.insync.replicas=2\nlog.dirs=/d\n"}, **NOTHING)
    (found,) = read_files(names)
    (warning,) = found.warnings

    assert warning.code == "R0751"
    assert [name in warning.message for name in names] == [False, True, True]
    assert "nothing was read from 2 files" in warning.message


def test_a_program_beside_others_is_refused(tmp_path: Path) -> None:
    program = "package main\n\nfunc main() {\n\tsend(1,\n\t\t2,\n\t)\n}\n"
    names = in_folder(tmp_path, **{"server.properties": "min.insync.replicas=2\n", "main.go": program})
    with pytest.raises(SpecError) as caught:
        read_files(names)

    assert [each.code for each in caught.value.diagnostics] == ["R0706"]


def test_where_nothing_is_read_each_file_has_its_reason(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_files(in_folder(tmp_path, **NOTHING))

    assert [each.code for each in caught.value.diagnostics] == ["R0706"] * 2


def test_a_variable_that_has_the_name_of_its_key_is_no_other_setting(tmp_path: Path) -> None:
    compose = (
        "services:\n  kafka:\n    image: apache/kafka:3.7.0\n    environment:\n"
        "      KAFKA_MIN_INSYNC_REPLICAS: ${KAFKA_MIN_INSYNC_REPLICAS}\n"
    )
    (found,) = read_files(in_folder(tmp_path, **{"compose.yml": compose}))

    assert [one.value for one in found.given] == ["${KAFKA_MIN_INSYNC_REPLICAS}"]
    assert found.problems == ()
