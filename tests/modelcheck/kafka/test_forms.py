"""What real files of each form say, and what must not be made of it."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from modelcheck.kafka.settings.resolution.switches import BrokerStorage
from spec.diagnostics import SpecError
from tests.configurations import read, settings


@pytest.mark.parametrize(
    "data",
    [
        "  num.partitions: '3'\n  log.retention.hours: '168'\n",
        "  server.properties: |\n    num.partitions=3\n    log.retention.hours=168\n",
        "  kafka.conf: num.partitions=3\n",
    ],
)
def test_a_config_map_of_keys_without_influence_is_read_as_a_file_of_them_is(data: str) -> None:
    config_map = settings(f"kind: ConfigMap\nmetadata: {{name: kafka}}\ndata:\n{data}")
    file = settings("num.partitions=3\nlog.retention.hours=168\n")

    assert {one.given.key for one in config_map.ignored} <= {one.given.key for one in file.ignored}
    assert config_map.ignored
    assert config_map.switches.as_json() == file.switches.as_json()


def test_a_slip_in_a_text_of_a_config_map_is_seen_beside_keys_without_influence() -> None:
    text = "  server.properties: |\n    broker.id=1\n    min.insync.replica=2\n"

    with pytest.raises(SpecError) as caught:
        settings(f"kind: ConfigMap\nmetadata: {{name: kafka}}\ndata:\n{text}")
    assert [told.code for told in caught.value.diagnostics] == ["R0712"]


@pytest.mark.parametrize(
    "topic",
    [
        'resource "kafka_topic" "t" {\n  name = "t"\n  replication_factor = -1\n  partitions = -1\n}\n',
        "- hosts: a\n  tasks:\n  - kafka_lib: {name: t, partitions: -1, replica_factor: -1}\n",
        "topics:\n- {name: t, partitions: 6, replicationFactor: -1}\n",
    ],
)
def test_a_topic_may_leave_its_replicas_to_the_brokers(topic: str) -> None:
    brokers = read("default.replication.factor=3\n", "server.properties")

    left = resolve([read(topic), brokers], kafka="2.4").switches.replication_factor
    assert (left.value, "which topic t takes by -1 at f:" in left.reason) == (3, True)
    assert resolve([read(topic)], kafka="3.7").switches.replication_factor.value == 1
    with pytest.raises(SpecError) as caught:
        resolve([read(topic), brokers], kafka="2.3")
    assert [told.code for told in caught.value.diagnostics] == ["R0741"]


def test_an_operator_takes_no_replicas_of_minus_one() -> None:
    with pytest.raises(SpecError) as caught:
        read("kind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: -1}\n")
    assert [told.code for told in caught.value.diagnostics] == ["R0728"]


TWICE = {
    "resources": "kind: KafkaTopic\nmetadata: {{name: t}}\nspec: {{replicas: {0}, config: {{"
    "min.insync.replicas: {1}}}}}\n---\n",
    "Terraform": 'resource "kafka_topic" "t{0}" {{\n  name = "t"\n  replication_factor = {0}\n'
    '  partitions = 1\n  config = {{\n    "min.insync.replicas" = "{1}"\n  }}\n}}\n',
    "kafka-topics": "Topic: t\tPartitionCount: 1\tReplicationFactor: {0}\tConfigs: min.insync.replicas={1}\n",
}


@pytest.mark.parametrize("form", TWICE)
def test_of_a_topic_that_is_described_twice_the_last_counts_and_both_are_told(form: str) -> None:
    found = settings(TWICE[form].format(3, 2) + TWICE[form].format(2, 1))
    same = settings(TWICE[form].format(3, 2) * 2)
    made = found.switches

    assert (made.replication_factor.value, made.min_insync_replicas.value) == (2, 1)
    assert [told.message for told in found.warnings] == [
        "topic t is described twice, and the last number of its replicas counts: 2",
        "`min.insync.replicas` is given twice, and the last one counts",
    ]
    assert same.warnings == ()


def test_a_number_of_replicas_that_stands_twice_is_told() -> None:
    found = settings("kind: KafkaTopic\nmetadata: {name: t}\nspec:\n  replicas: 3\n  replicas: 2\n")

    assert found.switches.replication_factor.value == 2
    assert [told.message for told in found.warnings] == ["`replicas` is given twice, and the last one counts"]


def test_acks_among_the_settings_of_brokers_are_told_to_have_no_effect_there() -> None:
    found = settings("kind: Kafka\nspec: {kafka: {replicas: 3, config: {acks: 1}}}\n")

    assert (found.switches.acks.value, [told.code for told in found.warnings]) == ("1", ["R0723"])


# ------------------------------------------------------------------ Amazon MSK

MSK = """\
resource "aws_msk_configuration" "c" {
  kafka_versions    = ["3.6.0"]
  server_properties = <<-EOT
    log.retention.hours = 168
  EOT
}
resource "aws_msk_cluster" "m" {
  kafka_version          = "3.6.0"
  number_of_broker_nodes = 3
  broker_node_group_info { client_subnets = [aws_subnet.a.id, aws_subnet.b.id, aws_subnet.c.id] }
  configuration_info { revision = 1 }
}
"""


def made(found: Settings) -> tuple[int, int, bool, str]:
    switches = found.switches
    return (
        switches.replication_factor.value,
        switches.min_insync_replicas.value,
        switches.unclean_election.value,
        str(switches.controller.value),
    )


def test_what_a_configuration_of_msk_leaves_out_is_amazons_default_and_not_kafkas() -> None:
    assert made(settings(MSK)) == (3, 2, True, "zookeeper")
    assert made(settings(MSK.replace(", aws_subnet.c.id", ""))) == (2, 1, True, "zookeeper")
    assert made(settings(MSK.replace("3.6.0", "3.9.x.kraft"))) == (3, 2, True, "kraft")
    assert made(settings(MSK.replace("revision = 1", 'revision = 1 }\n storage_mode = "TIERED"\n x {'))) == (
        3,
        2,
        False,
        "zookeeper",
    )
    text = MSK.replace("log.retention.hours = 168", "unclean.leader.election.enable=false")
    assert made(settings(text)) == (3, 2, False, "zookeeper")


def test_where_the_zones_of_msk_are_not_told_the_user_is() -> None:
    found = settings(MSK.partition('resource "aws_msk_cluster"')[0])

    assert made(found) == (1, 1, True, "zookeeper")
    assert "no client_subnets here show the number of zones" in str(found.notes)


def test_msk_in_cloud_formation_has_the_same_defaults() -> None:
    text = (
        "Resources:\n  C:\n    Type: AWS::MSK::Configuration\n    Properties:\n      ServerProperties: |\n"
        "        min.insync.replicas=1\n  M:\n    Type: AWS::MSK::Cluster\n    Properties:\n"
        "      KafkaVersion: 3.6.0\n      NumberOfBrokerNodes: 6\n      BrokerNodeGroupInfo:\n"
        "        ClientSubnets: [a, b, c]\n"
    )
    found = settings(text)

    assert (str(found.version.value), found.brokers.value) == ("3.6", 6)
    assert made(found) == (3, 1, True, "zookeeper")


# ------------------------------------------------------------------ containers


def compose(*services: str) -> str:
    return "services:\n" + "".join(f"  s{at}:\n{text}" for at, text in enumerate(services))


BROKER = "    image: {0}\n    environment:\n      {1}NODE_ID: 1\n      {1}{2}: 2\n"


@pytest.mark.parametrize(
    ("image", "read_as", "not_read"),
    [
        ("bitnami/kafka:3.6", "KAFKA_CFG_", "KAFKA_"),
        ("public.ecr.aws/bitnami/kafka", "KAFKA_CFG_", "KAFKA_"),
        ("bitnamilegacy/kafka:3.9", "KAFKA_CFG_", "KAFKA_"),
        ("apache/kafka:3.9.0", "KAFKA_", "KAFKA_CFG_"),
        ("confluentinc/cp-kafka:7.5.0", "KAFKA_", "KAFKA_CFG_"),
    ],
)
def test_an_image_makes_settings_of_variables_of_its_own_form_alone(
    image: str, read_as: str, not_read: str
) -> None:
    found = settings(compose(BROKER.format(image, read_as, "MIN_INSYNC_REPLICAS")))
    assert found.value("min.insync.replicas").value == 2

    with pytest.raises(SpecError) as caught:
        settings(compose(BROKER.format(image, not_read, "MIN_INSYNC_REPLICAS")))
    assert [(told.code, told.help) for told in caught.value.diagnostics] == [
        ("R0712", f"did you mean `{read_as}MIN_INSYNC_REPLICAS`?")
    ]


def test_older_names_of_bitnamis_image_and_all_names_of_an_unknown_one_are_read() -> None:
    factor = BROKER.format("bitnami/kafka:3.6", "KAFKA_", "DEFAULT_REPLICATION_FACTOR")
    assert settings(compose(factor, factor)).value("default.replication.factor").value == 2
    for prefix in ("KAFKA_", "KAFKA_CFG_"):
        unknown = compose(BROKER.format("me/kafka", prefix, "MIN_INSYNC_REPLICAS"))
        assert settings(unknown).value("min.insync.replicas").value == 2


@pytest.mark.parametrize(
    "command",
    [
        "    command: kafka-producer-perf-test --topic t --num-records 1\n",
        "    entrypoint: [/bin/sh, -c]\n    command: |\n      kafka-topics --bootstrap-server k:1 --list\n",
        (
            "    command: \"bash -c 'kafka-topics --create --topic t --replication-factor 1'\"\n"
            "    environment:\n      KAFKA_BROKER_ID: ignored\n      KAFKA_ZOOKEEPER_CONNECT: ignored\n"
        ),
    ],
)
def test_a_container_that_runs_a_tool_with_a_brokers_image_is_no_broker(command: str) -> None:
    image = "    image: confluentinc/cp-kafka:7.5.0\n"
    broker = image + "    environment:\n      KAFKA_BROKER_ID: 1\n"
    both = broker + "    command: sh -c '(sleep 9; kafka-topics --list)& /etc/confluent/docker/run'\n"
    looks = broker + "    healthcheck:\n      test: kafka-topics --bootstrap-server localhost:9092 --list\n"

    assert settings(compose(broker, image + command)).brokers.value == 1
    assert settings(compose(both, looks, image + command)).brokers.value == 2


def test_a_service_that_extends_one_of_another_file_is_told() -> None:
    text = BROKER.format("apache/kafka", "KAFKA_", "MIN_INSYNC_REPLICAS")

    assert not settings(compose(text)).notes
    extending = settings(compose(text + "    extends: {file: base.yml, service: a}\n"))
    assert "extends one of base.yml, which is not opened" in str(extending.notes)


def test_the_default_of_a_variable_counts_in_a_compose_file_and_is_told() -> None:
    text = compose(
        BROKER.format("confluentinc/cp-kafka:${TAG:-7.5.0}", "KAFKA_", "MIN_INSYNC_REPLICAS").replace(
            ": 2", ": ${MIN-2}"
        )
        + "      KAFKA_SSL_PASSWORD: ${PASSWORD:-secret}\n    deploy: {replicas: '${COUNT:-3}'}\n"
    )
    found = settings(text)

    assert found.value("min.insync.replicas").value == 2
    assert (str(found.version.value), found.brokers.value) == ("3.5", 3)
    assert [note.split()[1] for note in found.notes] == ["${MIN-2}", "${TAG:-7.5.0}", "${COUNT:-3}"]
    with pytest.raises(SpecError) as caught:
        settings(text.replace("${MIN-2}", "${MIN}"))
    assert "another tool fills this in" in str(caught.value.diagnostics[0].help)


# ------------------------------------------------------------------ operators, charts and applications


def strimzi(name: str, spec: str, kind: str = "Kafka", of: str = "") -> str:
    label = f", labels: {{strimzi.io/cluster: {of}}}" if of else ""
    return f"kind: {kind}\nmetadata: {{name: {name}{label}}}\nspec: {spec}\n---\n"


def test_of_two_clusters_of_strimzi_in_one_file_one_is_read() -> None:
    found = settings(
        strimzi("t", "{replicas: 3}", "KafkaTopic", of="a")
        + strimzi("u", "{replicas: 1}", "KafkaTopic", of="b")
        + strimzi("a", "{kafka: {replicas: 3, config: {min.insync.replicas: 2}}}")
        + strimzi("b", "{kafka: {replicas: 1, config: {min.insync.replicas: 1}}}")
    )

    assert [topic.name for topic in found.topics] == ["t"]
    assert (found.brokers.value, found.switches.min_insync_replicas.value) == (3, 2)
    assert [told.code for told in found.warnings] == ["R0736"]


def test_producers_of_strimzis_connect_and_bridge_are_read() -> None:
    connect = strimzi("c", "{config: {group.id: a, producer.acks: 1}}", "KafkaConnect").partition("---")[0]
    connect = "apiVersion: kafka.strimzi.io/v1\n" + connect
    bridge = "apiVersion: kafka.strimzi.io/v1\n" + strimzi(
        "b", "{producer: {config: {acks: 0}}}", "KafkaBridge"
    )

    assert settings(connect).switches.acks.value == "1"
    assert settings(bridge).switches.acks.value == "0"


@pytest.mark.parametrize(
    ("values", "durable"),
    [
        ("replicaCount: 3\npersistence: {enabled: false}\n", False),
        ("kafka:\n  persistence: {enabled: false}\n  replicaCount: 3\n", False),
        ("broker: {replicaCount: 3, persistence: {enabled: false}}\n", False),
        ("controller: {replicaCount: 3, persistence: {enabled: false}}\n", False),
        ("broker: {replicaCount: 3, persistence: {enabled: true}}\n", True),
        (
            "broker: {replicaCount: 3}\ncontroller: {controllerOnly: true, persistence: {enabled: false}}\n",
            True,
        ),
        ("replicaCount: 3\nzookeeper: {persistence: {enabled: false}}\n", True),
        ("kafka: {replicaCount: 3}\nredis: {persistence: {enabled: false}}\n", True),
    ],
)
def test_a_chart_without_persistence_keeps_no_disk(values: str, *, durable: bool) -> None:
    found = settings(values + "min.insync.replicas: 2\n", "values.yaml")

    assert found.switches.storage.value is (BrokerStorage.DURABLE if durable else BrokerStorage.EPHEMERAL)


def test_profiles_of_a_spring_application_are_told_apart_and_the_first_counts() -> None:
    text = "spring: {kafka: {producer: {acks: 1}}}\n---\nspring:\n  config.activate.on-profile: prod\n"
    found = settings(text + "  kafka: {producer: {acks: all}}\n")

    assert (found.switches.acks.value, [told.code for told in found.warnings]) == ("1", ["R0724"])


def test_what_confluents_operator_sets_by_itself_is_told() -> None:
    text = (
        "apiVersion: platform.confluent.io/v1beta1\nkind: Kafka\nmetadata: {name: kafka}\n"
        "spec: {replicas: 3, configOverrides: {server: [min.insync.replicas=2]}}\n"
    )

    notes = str(settings(text).notes)
    assert "`kafka` does not set default.replication.factor: the operator sets" in notes


# ------------------------------------------------------------------ controllers of their own

OF_A_BROKER = "process.roles=broker\nnode.id=1\nmin.insync.replicas=2\nunclean.leader.election.enable={}\n"
OF_A_CONTROLLER = "process.roles={}\nnode.id=9\nmin.insync.replicas=1\nunclean.leader.election.enable={}\n"


@pytest.mark.parametrize("roles", ["controller", "broker,controller"])
@pytest.mark.parametrize("unclean", [True, False])
def test_controllers_decide_of_unclean_elections_in_whatever_order_files_come(
    roles: str, *, unclean: bool
) -> None:
    broker = read(OF_A_BROKER.format(str(not unclean).lower()), "broker.properties")
    controller = read(OF_A_CONTROLLER.format(roles, str(unclean).lower()), "controller.properties")

    for files in ([broker, controller], [controller, broker]):
        assert resolve(files, kafka="3.9").switches.unclean_election.value is unclean


def test_what_a_controller_alone_says_of_min_isr_is_no_brokers_setting() -> None:
    broker, controller = OF_A_BROKER.format("false"), OF_A_CONTROLLER.format("controller", "false")
    files = [read(controller, "controller.properties"), read(broker, "broker.properties")]
    factor = read("Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n", "topics.txt")

    for order in (files, files[::-1]):
        assert resolve([*order, factor], kafka="3.9").switches.min_insync_replicas.value == 2
        assert resolve([*order, factor], kafka="4.1").switches.min_insync_replicas.value == 1


def test_min_isr_of_controllers_counts_with_elr_where_no_broker_gives_it() -> None:
    controller = read("process.roles=controller\nnode.id=9\nmin.insync.replicas=2\n", "controller.properties")
    broker = read("process.roles=broker\nnode.id=1\n", "broker.properties")
    topic = read("Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n", "topics.txt")

    for files in ([broker, controller, topic], [controller, broker, topic]):
        assert resolve(files, kafka="4.1").switches.min_insync_replicas.value == 2
        assert resolve(files, kafka="3.9").switches.min_insync_replicas.value == 1


def test_a_controller_of_a_compose_file_allows_unclean_elections() -> None:
    image = "    image: apache/kafka:3.9.0\n    environment:\n      KAFKA_NODE_ID: {0}\n"
    roles = image + "      KAFKA_PROCESS_ROLES: {1}\n      KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: '{2}'\n"
    found = settings(compose(roles.format(9, "controller", "true"), roles.format(1, "broker", "false")))

    assert (found.brokers.value, found.switches.unclean_election.value) == (1, True)


def test_controllers_of_confluents_operator_allow_unclean_elections() -> None:
    text = (
        "apiVersion: platform.confluent.io/v1beta1\nkind: {0}\nmetadata: {{name: {0}}}\nspec:\n"
        "  replicas: 3\n"
        "  configOverrides: {{server: [unclean.leader.election.enable={1}]}}\n"
    )
    brokers = text.format("Kafka", "false") + "  dependencies: {kRaftController: {}}\n"
    found = resolve([read(text.format("KRaftController", "true") + "---\n" + brokers)], kafka="3.9")

    assert (found.brokers.value, found.switches.unclean_election.value) == (3, True)


def test_replicas_of_a_topic_that_leaves_them_are_the_controllers_default() -> None:
    topic = read(
        'resource "kafka_topic" "t" {\n  name = "t"\n  replication_factor = -1\n  partitions = 1\n}\n'
    )
    broker = read(OF_A_BROKER.format("false") + "default.replication.factor=3\n", "broker.properties")
    controller = read(OF_A_CONTROLLER.format("controller", "false"), "controller.properties")
    combined = read(
        OF_A_BROKER.replace("=broker", "=broker,controller").format("false"), "combined.properties"
    )
    three = read(
        OF_A_CONTROLLER.format("controller", "false") + "default.replication.factor=3\n",
        "controller.properties",
    )

    def replicas(*files: Reading) -> int:
        return resolve(files, kafka="3.9").switches.replication_factor.value

    assert replicas(topic, broker) == 3
    assert replicas(topic, broker, controller) == 1
    assert replicas(topic, broker, combined) == 1
    assert replicas(topic, broker, three) == 3
    assert replicas(broker, controller) == 3


# ------------------------------------------------------------------ no brokers, and nothing of Kafka


def test_a_zookeeper_with_variables_of_kafka_is_no_broker() -> None:
    zookeeper = "    image: {}\n    environment:\n      - KAFKA_ADVERTISED_HOST_NAME=zookeeper\n"
    broker = zookeeper.format("wurstmeister/kafka")

    for image in ("wurstmeister/zookeeper", "me/kafka-ui", "me/cp-kafka-connect:7.0.0"):
        assert settings(compose(broker, zookeeper.format(image))).brokers.value == 1
    assert settings(compose(broker, zookeeper.format("me/my-kafka"))).brokers.value == 2


def test_of_a_pod_the_containers_that_run_a_broker_count() -> None:
    pods = (
        "kind: StatefulSet\nmetadata: {{name: {0}}}\nspec:\n  replicas: 3\n  template:\n    spec:\n"
        "      initContainers: [{{image: 'solsson/kafka:initutils', command: [init.sh]}}]\n"
        "      containers: [{{image: 'solsson/kafka:2.5.1', command: [{1}]}}]\n---\n"
    )
    brokers, zookeepers = (
        pods.format("k", "kafka-server-start.sh"),
        pods.format("z", "zookeeper-server-start.sh"),
    )

    assert settings(brokers + zookeepers).brokers.value == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('resource "aws_s3_bucket" "x" {\n}\n', "R0706"),
        ("apiVersion: kafka.jikkou.io/v1\nkind: KafkaTopicList\nitems:\n- spec: {replicas: 1}\n", "R0733"),
    ],
)
def test_what_says_nothing_that_is_read_is_refused(text: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        settings(text)
    assert [told.code for told in caught.value.diagnostics] == [code]


@pytest.mark.parametrize(
    "text",
    [
        'kafka_version: "2.8.1"\nserver:\n  min.insync.replicas: 2\n',
        "kafka:\n  kafkaVersion: 2.13-2.8.1\n  min.insync.replicas: 2\n",
        "- hosts: a\n  vars:\n    kafka_version: 2.8.1\n    kafka:\n      min.insync.replicas: 2\n",
    ],
)
def test_the_release_that_variables_name_is_that_of_the_brokers(text: str) -> None:
    assert str(settings(text, "vars.yml").version.value) == "2.8.1"


def test_the_release_of_a_client_is_not_that_of_the_brokers() -> None:
    text = "app:\n  kafka_version: 2.8.1\ntopics:\n- {name: t, partitions: 1, replicas: 3}\n"

    assert settings(text, "values.yaml").version.assumed


def test_debeziums_image_has_the_release_of_kafka_that_its_own_release_was_built_with() -> None:
    broker = "    image: quay.io/debezium/kafka:2.4\n    environment:\n      BROKER_ID: 1\n"
    found = settings(compose(broker))

    assert (found.brokers.value, str(found.version.value)) == (1, "3.5.1")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Kafka\nspec: {kafka: {replicas: 3}, zookeeper: {replicas: 3}}\n",
        (
            "apiVersion: platform.confluent.io/v1beta1\nkind: Kafka\nmetadata: {name: k}\n"
            "spec: {replicas: 3, dependencies: {zookeeper: {endpoint: a}}}\n"
        ),
    ],
)
def test_a_cluster_with_zookeeper_is_no_newer_than_the_last_that_has_it(text: str) -> None:
    found = settings(text)

    assert (str(found.version.value), str(found.switches.controller.value)) == ("3.9", "zookeeper")
    assert "the newest with ZooKeeper" in found.version.reason


def test_a_spring_application_that_leaves_all_to_defaults_is_read_in_both_of_its_forms() -> None:
    for text, name in (
        ("spring:\n  kafka:\n    bootstrap-servers: a:9092\n", "application.yml"),
        ("spring.kafka.bootstrap-servers=a:9092\n", "application.properties"),
    ):
        assert [one.given.key for one in settings(text, name).ignored] == ["bootstrap.servers"]


def test_replicas_that_a_command_places_are_counted() -> None:
    command = (
        "    image: apache/kafka:3.9.0\n    command: kafka-topics --create --topic t --replica-assignment "
    )
    found = settings(compose(command + "0:1:2,1:2:0\n"))

    assert found.switches.replication_factor.value == 3


def test_kafkas_own_topics_are_made_by_brokers_and_not_by_controllers() -> None:
    factor = "offsets.topic.replication.factor={}\n"
    broker = read(OF_A_BROKER.format("false") + factor.format(2), "broker.properties")
    controller = read(
        OF_A_CONTROLLER.format("controller", "false") + factor.format(1), "controller.properties"
    )

    for files in ([broker, controller], [controller, broker]):
        found = resolve(files, kafka="3.9", topic="__consumer_offsets")
        assert found.switches.replication_factor.value == 2


FLUX = """kind: HelmRelease
apiVersion: helm.toolkit.fluxcd.io/v2
metadata: {name: events}
spec:
  chart: {spec: {chart: CHART}}
  values:
    controller: {replicaCount: 3}
    extraConfig: "min.insync.replicas=2"
"""
ARGO = """kind: Application
apiVersion: argoproj.io/v1alpha1
metadata: {name: events}
spec:
  source:
    chart: CHART
    helm:
      valuesObject:
        controller: {replicaCount: 3}
        extraConfig: "min.insync.replicas=2"
"""
MAP = "---\nkind: ConfigMap\napiVersion: v1\ndata: {server.properties: num.partitions=1}\n"


@pytest.mark.parametrize("told", [FLUX, ARGO], ids=["Flux", "Argo CD"])
def test_values_in_what_installs_a_chart_are_read_where_it_is_one_of_kafka(told: str) -> None:
    found = settings(told.replace("CHART", "kafka") + MAP)

    assert (found.value("min.insync.replicas").value, found.brokers.value) == (2, 3)
    with pytest.raises(SpecError) as caught:
        settings(told.replace("CHART", "redis") + MAP)
    assert [one.code for one in caught.value.diagnostics] == ["R0734"]  # what decides was passed over
