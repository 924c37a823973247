"""Files that a tool lays over each other: the last one counts, and what it replaces is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from modelcheck.kafka.settings.provenance import FILLED_IN
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError


def review(folder: Path, files: Mapping[str, str], topic: str | None = None) -> Settings:
    """What the files come to, in this order."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = read_files([str(folder / name) for name in files])
    return resolve(found, kafka="3.9", topic=topic)


def decided(found: Settings) -> tuple[object, object, int]:
    """The number of replicas and of in-sync ones, and that of brokers."""
    return (
        found.switches.replication_factor.value,
        found.value("min.insync.replicas").value,
        found.brokers.value,
    )


VALUES = "replicaCount: 1\nextraConfigYaml:\n  default.replication.factor: 1\n  min.insync.replicas: 2\n"
PROD = "replicaCount: 5\nextraConfigYaml: {default.replication.factor: 3}\n"


def test_of_values_the_last_file_counts_key_by_key(tmp_path: Path) -> None:
    found = review(tmp_path, {"values.yaml": VALUES, "values-prod.yaml": PROD})
    other = review(tmp_path, {"values-prod.yaml": PROD, "values.yaml": VALUES})

    assert decided(found) == (3, 2, 5)
    assert decided(other) == (1, 2, 1)
    assert [warning.code for warning in found.warnings] == []
    assert "a later file replaces replicaCount, extraConfigYaml.default.replication.factor" in str(
        found.notes
    )


def test_a_value_keeps_its_place_in_its_own_file(tmp_path: Path) -> None:
    found = review(tmp_path, {"values.yaml": VALUES, "values-prod.yaml": "\n" + PROD})
    places = {one.key: one.origin.place.rpartition("/")[2] for one in found.used if one.origin is not None}

    assert places == {
        "default.replication.factor": "values-prod.yaml:3",
        "min.insync.replicas": "values.yaml:4",
    }


def test_an_empty_value_takes_a_key_away(tmp_path: Path) -> None:
    over = "extraConfigYaml:\n  min.insync.replicas:\n"

    assert decided(review(tmp_path, {"values.yaml": VALUES, "over-values.yaml": over})) == (1, 1, 1)


def test_a_list_of_topics_replaces_the_list_before_it(tmp_path: Path) -> None:
    text = "provisioning:\n  topics:\n  - {name: a, partitions: 1, replicationFactor: 3}\n"
    more = text + "  - {name: b, partitions: 1, replicationFactor: 3}\n"
    found = review(tmp_path, {"values.yaml": more, "values-prod.yaml": text.replace("3}", "2}")})

    assert [(one.name, one.replication_factor) for one in found.topics] == [("a", 2)]


def test_a_mistake_in_one_of_the_files_is_told_at_its_line(tmp_path: Path) -> None:
    over = "other:\n  settings:\n    - min.insync.replicas: [1]\n"
    with pytest.raises(SpecError) as caught:
        review(tmp_path, {"values.yaml": VALUES, "values-prod.yaml": over})

    assert str(caught.value).startswith(f"{tmp_path}/values-prod.yaml:3:7: error[R0734]")


COMPOSE = """\
services:
  kafka:
    image: apache/kafka:3.7.0
    environment:
      - KAFKA_NODE_ID=1
      - KAFKA_MIN_INSYNC_REPLICAS=1
    command: [kafka-server-start.sh, --override, default.replication.factor=1]
"""


def test_of_compose_files_the_last_counts_in_each_service(tmp_path: Path) -> None:
    over = (
        "services:\n  kafka:\n    image: apache/kafka:3.8.0\n"
        "    environment: {KAFKA_MIN_INSYNC_REPLICAS: 2}\n"
    )
    names = {"compose.yml": COMPOSE, "compose.override.yml": over}

    assert decided(review(tmp_path, names)) == (1, 2, 1)
    second = over.replace("kafka:\n", "other:\n", 1).replace("2}", "2, KAFKA_NODE_ID: 2}")
    assert review(tmp_path, {"compose.yml": COMPOSE, "b.yml": second}).brokers.value == 2


STRIMZI = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: k}
spec: {kafka: {replicas: 3, config: {default.replication.factor: 3, min.insync.replicas: 2}}}
"""
PATCH = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: k}
spec: {kafka: {config: {min.insync.replicas: 1}}}
"""


def test_a_patch_lies_over_its_resource_whichever_comes_first(tmp_path: Path) -> None:
    assert decided(review(tmp_path, {"base.yaml": STRIMZI, "patch.yaml": PATCH})) == (3, 1, 3)
    assert decided(review(tmp_path, {"patch.yaml": PATCH, "base.yaml": STRIMZI})) == (3, 1, 3)


def test_node_pools_in_a_file_of_their_own_are_the_clusters(tmp_path: Path) -> None:
    pool = (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nspec: {replicas: 5, roles: [broker]}\n"
        "metadata: {name: p, labels: {strimzi.io/cluster: k}}\n"
    )

    assert decided(review(tmp_path, {"kafka.yaml": STRIMZI, "pool.yaml": pool})) == (3, 2, 5)


def test_of_two_whole_descriptions_the_worse_is_reviewed(tmp_path: Path) -> None:
    topic = "kind: KafkaTopic\nmetadata: {name: t}\nspec: {replicas: N, config: {min.insync.replicas: M}}\n"
    texts = {f"{n}.yaml": topic.replace("N", n).replace("M", str(int(n) - 1)) for n in "23"}
    for names in ("2.yaml", "3.yaml"), ("3.yaml", "2.yaml"):
        found = review(tmp_path, {name: texts[name] for name in names})

        assert decided(found)[:2] == (2, 1)
        assert sorted(warning.code for warning in found.warnings) == ["R0724", "R0736"]


CONTAINER = "{name: c, image: 'apache/kafka:3.7.0', env: [{name: KAFKA_MIN_INSYNC_REPLICAS, value: '2'}]}"
SET = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: k}\nspec: "


def test_containers_and_variables_of_a_patch_are_merged_by_name(tmp_path: Path) -> None:
    over = CONTAINER.replace("image: 'apache/kafka:3.7.0', ", "").replace("'2'", "'1'")
    texts = [f"{SET}{{template: {{spec: {{containers: [{one}]}}}}}}\n" for one in (CONTAINER, over)]

    assert decided(review(tmp_path, {"a.yaml": texts[0], "b.yaml": texts[1]}))[1] == 1


SPRING = "spring: {kafka: {producer: {acks: ACKS}}}\n"
PROFILE = "---\nspring: {config.activate.on-profile: NAME, kafka: {producer: {acks: ACKS}}}\n"


def spring(acks: str, name: str = "") -> str:
    return (PROFILE if name else SPRING).replace("ACKS", acks).replace("NAME", name)


def test_the_profile_that_is_active_counts_and_others_are_told(tmp_path: Path) -> None:
    base = spring("'1'").replace("{kafka", "{profiles: {active: prod}, kafka")
    found = review(tmp_path, {"application.yml": base + spring("'0'", "dev") + spring("all", "prod")})

    assert (found.switches.acks.value, found.warnings) == ("all", ())
    assert "profile dev is not active, and was passed over" in str(found.notes)


def test_of_profiles_none_of_which_is_known_to_be_active_the_worst_is_reviewed(tmp_path: Path) -> None:
    found = review(
        tmp_path, {"application.yml": spring("all") + spring("all", "prod") + spring("'0'", "dev")}
    )

    assert (found.switches.acks.value, [w.code for w in found.warnings]) == ("0", ["R0724"])


def test_the_file_of_one_profile_lies_over_the_common_one(tmp_path: Path) -> None:
    texts = {"application.yml": spring("'1'"), "application-prod.yml": spring("all")}
    flat = {
        "application.properties": "spring.kafka.producer.acks=1\n",
        "application-prod.properties": "spring.kafka.producer.acks=all\n",
    }

    assert review(tmp_path, texts).switches.acks.value == "all"
    assert review(tmp_path, flat).switches.acks.value == "all"
    assert review(tmp_path, texts | {"application-dev.yml": spring("'0'")}).switches.acks.value == "0"


def test_properties_have_documents_of_profiles_too(tmp_path: Path) -> None:
    text = "spring.kafka.producer.acks=all\n#---\nspring.config.activate.on-profile=dev\n"
    found = review(tmp_path, {"application.properties": text + "spring.kafka.producer.acks=0\n"})

    assert (found.switches.acks.value, [w.code for w in found.warnings]) == ("0", ["R0724"])


def test_no_application_lies_over_another(tmp_path: Path) -> None:
    texts = {"a.yaml": "kafka: {producer: {acks: '0'}}\n", "b.yaml": "kafka: {producer: {acks: all}}\n"}
    found = review(tmp_path, texts)

    assert (found.switches.acks.value, [w.code for w in found.warnings]) == ("0", ["R0724"])


def test_a_topic_lies_over_the_brokers_and_they_over_the_default(tmp_path: Path) -> None:
    broker = "broker.id=1\nmin.insync.replicas=3\ndefault.replication.factor=3\n"
    topics = "Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=1\n"

    assert decided(review(tmp_path, {"server.properties": broker}))[:2] == (3, 3)
    assert decided(review(tmp_path, {"server.properties": broker, "topics.txt": topics}))[:2] == (2, 1)


def test_two_clusters_of_one_name_are_no_patches_of_each_other(tmp_path: Path) -> None:
    prod = STRIMZI.replace("replicas: 3,", "replicas: 3, listeners: [], storage: {type: ephemeral},")
    dev = prod.replace("factor: 3", "factor: 1").replace("min.insync.replicas: 2", "a: b, c: d, e: f")
    for names in ({"dev.yaml": dev, "prod.yaml": prod}, {"prod.yaml": prod, "dev.yaml": dev}):
        found = review(tmp_path, names)

        assert decided(found)[0] == 1
        assert "R0724" in [warning.code for warning in found.warnings]


def test_values_of_another_chart_lie_over_none_of_kafkas(tmp_path: Path) -> None:
    found = review(tmp_path, {"kafka-values.yaml": PROD, "connect-values.yaml": "replicaCount: 1\n"})

    assert found.brokers.value == 5


def test_of_two_environments_in_one_file_the_worse_topic_is_reviewed(tmp_path: Path) -> None:
    topic = "{name: t, partitions: 1, replicationFactor: N, config: {min.insync.replicas: M}}"
    parts = {"dev": ("1", "1"), "prod": ("3", "2")}
    for names in (("dev", "prod"), ("prod", "dev")):
        made = (topic.replace("N", parts[name][0]).replace("M", parts[name][1]) for name in names)
        text = "".join(f"{name}:\n  topics: [{one}]\n" for name, one in zip(names, made, strict=True))
        found = review(tmp_path, {"topics.yaml": text})

        assert decided(found)[:2] == (1, 1)
        assert sorted(warning.code for warning in found.warnings) == ["R0724", "R0736"]


def test_variables_of_a_dot_env_fill_in_compose_files(tmp_path: Path) -> None:
    text = COMPOSE.replace("REPLICAS=1", "REPLICAS=${MIN_ISR:-1}")
    for names in (
        {"compose.yml": text, ".env": "MIN_ISR=2\n"},
        {"kafka.env": "OTHER=a\nMIN_ISR='2'\n", "compose.yml": text},
    ):
        found = review(tmp_path, names)

        assert found.value("min.insync.replicas").value == 2
        assert "MIN_ISR" not in str(found.notes)
    assert "${MIN_ISR:-1} is taken as 1" in str(review(tmp_path, {"compose.yml": text}).notes)


def test_a_variable_for_the_shell_in_a_container_is_not_filled_in(tmp_path: Path) -> None:
    text = COMPOSE.replace("REPLICAS=1", "REPLICAS=$${MIN_ISR:-1}")
    with pytest.raises(SpecError) as caught:
        review(tmp_path, {"compose.yml": text})
    assert [(one.code, one.help) for one in caught.value.diagnostics] == [("R0713", FILLED_IN)]


@pytest.mark.parametrize("head", ["replicaCount: N\nextraConfigYaml: ", "services: {a: {image: x}}\nx: "])
@pytest.mark.parametrize("depth", range(312, 340, 7))
def test_files_that_are_nested_deeply_are_read_or_refused(tmp_path: Path, head: str, depth: int) -> None:
    for at in "ab":
        text = head.replace("N", "1" if at == "a" else "2") + "{a: " * depth + "1" + "}" * depth + "\n"
        (tmp_path / f"values-{at}.yaml").write_text(text, encoding="utf-8")
    codes = set[str]()
    try:
        read_files([str(tmp_path / f"values-{at}.yaml") for at in "ab"])
    except SpecError as error:
        codes = {one.code for one in error.diagnostics}

    assert codes <= {"R0706", "R0707"}
