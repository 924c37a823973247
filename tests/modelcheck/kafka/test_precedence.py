"""Which of several settings of one key counts, where a wrong choice promises too much."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.possible import resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from modelcheck.kafka.settings.resolution.switches import Controller, Flush
from spec.source import Source

UNCLEAN = "unclean.leader.election.enable"


def review(*texts: str, kafka: str, name: str = "f") -> Settings:
    return resolve(read(*texts, name=name), kafka=kafka)


def read(*texts: str, name: str = "f") -> list[Reading]:
    return [read_text(Source(f"{n}{name}", text)) for n, text in enumerate(texts)]


@pytest.mark.parametrize("off", ["enable.idempotence=FALSE", "transactional.id="])
def test_a_producer_that_asks_for_no_idempotence_has_the_default_of_acks(off: str) -> None:
    producers = "bootstrap.servers=a:1\nacks=all\n", f"bootstrap.servers=a:1\n{off}\n"

    assert review(*producers, kafka="2.8").value("acks").value == "1"


@pytest.mark.parametrize(
    ("lines", "acks"),
    [
        (("producer.acks=1", "properties.acks=all"), "1"),
        (("producer.properties.acks=1", "producer.acks=all"), "1"),
        (("producer.properties.acks=all", "producer.acks=1", "properties.acks=0"), "all"),
        (("producer.acks=1", "producer.acks=all"), "all"),
    ],
)
@pytest.mark.parametrize(
    "profile", ["", "spring.profiles.active=p\n#---\nspring.config.activate.on-profile=p\n"]
)
def test_what_spring_has_for_producers_alone_beats_what_it_has_for_all_clients(
    lines: tuple[str, ...], acks: str, profile: str
) -> None:
    first, *others = (f"spring.kafka.{line}\n" for line in lines)
    found = review(first + profile + "".join(others), kafka="3.7", name="application.properties")

    assert found.value("acks").value == acks


def node(number: int, roles: str, more: str = "") -> str:
    return f"process.roles={roles}\nnode.id={number}\n{more}"


def altered(*brokers: str, to: str) -> str:
    line = f"  {UNCLEAN}={to} sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{UNCLEAN}={to}}}\n"
    return "".join(f"Dynamic configs for broker {each} are:\n{line}" for each in brokers)


ALLOWED_IN_ALL = (
    "Default configs for brokers in the cluster are:\n"
    f"  {UNCLEAN}=true sensitive=false synonyms={{DYNAMIC_DEFAULT_BROKER_CONFIG:{UNCLEAN}=true}}\n"
)


@pytest.mark.parametrize(
    ("texts", "unclean"),
    [
        ((node(1, "broker"), node(9, "controller"), altered("1", to="false"), ALLOWED_IN_ALL), True),
        ((node(1, "broker"), node(9, "controller", f"{UNCLEAN}=true\n"), altered("1", to="false")), True),
        ((node(1, "broker"), node(9, "controller"), altered("1", to="true")), False),
        ((node(1, "broker"), node(9, "controller"), altered("1", "9", to="false"), ALLOWED_IN_ALL), False),
        ((node(1, "broker,controller"), altered("1", to="false"), ALLOWED_IN_ALL), False),
        ((altered("1", "2", "3", to="false"), ALLOWED_IN_ALL), True),  # of what may be no controllers
        ((altered("1", "2", "3", to="true"),), True),
    ],
)
def test_with_kraft_the_controllers_value_of_unclean_election_counts(
    texts: tuple[str, ...], *, unclean: bool
) -> None:
    assert review(*texts, kafka="4.0").switches.unclean_election.value is unclean


def test_with_zookeeper_any_broker_may_be_the_controller() -> None:
    found = review(altered("1", "2", "3", to="false"), ALLOWED_IN_ALL, kafka="2.8")

    assert not found.switches.unclean_election.value


def described(configs: str) -> str:
    return (
        f"Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: {configs}\n"
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    )


def broker(number: int, more: str = "") -> str:
    return f"broker.id={number}\n{more}\n"


MIN = "min.insync.replicas"


@pytest.mark.parametrize(
    ("texts", "kafka", "minimum", "warnings"),
    [
        ((broker(1, f"{MIN}=2"), broker(2), broker(3), described(f"{MIN}=2")), "3.5", 1, 1),
        ((broker(1, f"{MIN}=2"), broker(2, f"{MIN}=1"), described(f"{MIN}=2")), "3.5", 1, 1),
        ((broker(1, f"{MIN}=2"), broker(2, f"{MIN}=3"), described(f"{MIN}=2")), "3.5", 2, 0),
        ((broker(1, f"{MIN}=2"), broker(2, f"{MIN}=2"), described(f"{MIN}=2")), "3.5", 2, 0),
        ((broker(1, f"{MIN}=1"), broker(2), broker(3), described(f"{MIN}=2")), "3.5", 2, 0),
        ((broker(1, f"{MIN}=2"), described(f"{MIN}=2")), "3.5", 2, 0),
        ((broker(1, f"{MIN}=2"), broker(2), broker(3), described(f"{MIN}=2")), "2.1", 2, 0),
        ((broker(1, f"{MIN}=2"), broker(2), broker(3), described(f"{MIN}=2")), "4.1", 2, 0),
    ],
)
def test_what_kafka_topics_shows_may_be_of_one_broker(
    texts: tuple[str, ...], kafka: str, minimum: int, warnings: int
) -> None:
    found = review(*texts, kafka=kafka)

    assert found.switches.min_insync_replicas.value == minimum
    assert [one.code for one in found.warnings].count("R0724") == warnings


def test_what_kafka_configs_shows_is_the_topics_own() -> None:
    line = f"  {MIN}=2 sensitive=false synonyms={{DYNAMIC_TOPIC_CONFIG:{MIN}=2}}\n"
    own = f"Dynamic configs for topic t are:\n{line}"
    found = review(broker(1, f"{MIN}=2"), broker(2), broker(3), described(f"{MIN}=2"), own, kafka="3.5")

    assert found.switches.min_insync_replicas.value == 2


def test_flushes_of_one_broker_are_not_those_of_a_topic() -> None:
    flushes = broker(1, "log.flush.interval.messages=1")
    found = review(flushes, broker(2), broker(3), described("flush.messages=1"), kafka="3.7")

    assert found.switches.flush.value is Flush.BACKGROUND


def test_an_unclean_election_that_a_broker_denies_is_the_controllers_matter() -> None:
    brokers = node(1, "broker", f"{UNCLEAN}=false\n"), node(9, "controller", f"{UNCLEAN}=true\n")

    assert review(*brokers, described(f"{UNCLEAN}=false"), kafka="4.0").switches.unclean_election.value


@pytest.mark.parametrize(("others", "minimum"), [((broker(2), broker(3)), 1), ((broker(2, f"{MIN}=2"),), 2)])
def test_a_brokers_file_that_kafka_configs_shows_is_not_that_of_all(
    others: tuple[str, ...], minimum: int
) -> None:
    line = f"  {MIN}=2 sensitive=false synonyms={{STATIC_BROKER_CONFIG:{MIN}=2, DEFAULT_CONFIG:{MIN}=1}}\n"
    shown = f"All configs for topic t are:\n{line}", described("")
    found = review(*shown, broker(1, f"{MIN}=2"), *others, kafka="3.5")

    assert found.switches.min_insync_replicas.value == minimum


@pytest.mark.parametrize("roles", ["controller", "broker,controller"])
@pytest.mark.parametrize(
    ("values", "minimum"),
    [((2, None, 2), 1), ((2, 1, 2), 1), ((None, 2, 2), 1), ((2, 3, 2), 2), ((2, 2, 2), 2)],
)
def test_with_eligible_leaders_any_controllers_minimum_may_count(
    roles: str, values: tuple[int | None, ...], minimum: int
) -> None:
    controllers = [
        node(number, roles, "" if value is None else f"{MIN}={value}\n")
        for number, value in enumerate(values, 1)
    ]

    assert review(*controllers, described(""), kafka="4.1").switches.min_insync_replicas.value == minimum


MOVES = "zookeeper.connect=z:2181\nzookeeper.metadata.migration.enable=true\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            (node(9, "controller", MOVES), broker(1, f"{MOVES}{UNCLEAN}=true")),
            {Controller.KRAFT: False, Controller.ZOOKEEPER: True},
        ),
        ((node(9, "controller", MOVES), node(1, "broker", f"{UNCLEAN}=true\n")), {Controller.KRAFT: False}),
    ],
)
def test_a_cluster_that_moves_to_kraft_may_have_either_controller(
    texts: tuple[str, ...], expected: dict[Controller, bool]
) -> None:
    found = [one.switches for one in resolve_possible(read(*texts), kafka="3.7")]

    assert {one.controller.value: one.unclean_election.value for one in found} == expected


VARIABLES = "kafka_broker_custom_properties"


@pytest.mark.parametrize(
    ("common", "host", "minimum"),
    [
        ("{min.insync.replicas: 1}", "{min.insync.replicas: 2}", 1),
        ("{min.insync.replicas: 2}", "{min.insync.replicas: 1}", 1),
        ("{min.insync.replicas: 2}", "{min.insync.replicas: 3}", 2),
        ("{min.insync.replicas: 2}", "{log.retention.ms: 3}", 1),  # in place of all that the others have
        ("{min.insync.replicas: 2}", "{min.insync.replicas: 2}", 2),
        ("{}", "{min.insync.replicas: 2}", 1),
    ],
)
@pytest.mark.parametrize("form", ["vars", "host", "child"])
def test_a_host_of_an_inventory_has_its_own_variables(
    form: str, common: str, host: str, minimum: int
) -> None:
    own = f"a: {{broker_id: 1, {VARIABLES}: {host}}}"
    others = "b: {broker_id: 2}, c: {broker_id: 3}"
    text = {
        "vars": f"all: {{vars: {{{VARIABLES}: {common}}}}}\nkafka_broker: {{hosts: {{{own}, {others}}}}}\n",
        "host": f"kafka_broker: {{hosts: {{{own}, {others}}}, vars: {{{VARIABLES}: {common}}}}}\n",
        "child": f"all:\n  children:\n    kafka_broker:\n      children:\n        one: {{hosts: {{{own}}}}}\n"
        f"        two: {{hosts: {{{others}}}, vars: {{{VARIABLES}: {common}}}}}\n",
    }[form]
    found = review(text, described(""), kafka="3.5", name="inventory.yml")

    assert found.brokers.value == 3
    assert found.switches.min_insync_replicas.value == minimum


@pytest.mark.parametrize(("unset", "minimum"), [(2, 1), (0, 2)])
def test_a_service_of_compose_without_an_id_is_a_broker_too(unset: int, minimum: int) -> None:
    services = "".join(
        f"  kafka{number}:\n    image: confluentinc/cp-kafka:7.5.0\n    environment:\n"
        "      KAFKA_ZOOKEEPER_CONNECT: z:2181\n"
        + ("" if number == unset else "      KAFKA_MIN_INSYNC_REPLICAS: 2\n")
        for number in (1, 2, 3)
    )
    text = f"services:\n{services}"
    found = review(text, described(""), kafka="3.5", name="compose.yml")

    assert found.switches.min_insync_replicas.value == minimum


@pytest.mark.parametrize(("unset", "minimum"), [(2, 1), (0, 2)])
def test_a_stateful_set_is_a_broker_of_its_own(unset: int, minimum: int) -> None:
    sets = (
        f"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: kafka{number}}}\nspec:\n  replicas: 1\n"
        "  template:\n    spec:\n      containers:\n      - name: kafka\n        image: apache/kafka:3.5.0\n"
        "        env:\n        - {name: KAFKA_LOG_DIRS, value: /logs}\n"
        + ("" if number == unset else "        - {name: KAFKA_MIN_INSYNC_REPLICAS, value: '2'}\n")
        for number in (1, 2, 3)
    )
    found = review("---\n".join(sets), described(""), kafka="3.5", name="kafka.yml")

    assert found.switches.min_insync_replicas.value == minimum


def test_brokers_with_ids_that_zookeeper_gives_are_several() -> None:
    brokers = broker(-1, f"{MIN}=2"), broker(-1), broker(-1, f"{MIN}=2")

    assert review(*brokers, described(""), kafka="3.5").switches.min_insync_replicas.value == 1


@pytest.mark.parametrize(
    "lines", [("acks=all", "request.required.acks=1"), ("request.required.acks=1", "acks=all")]
)
@pytest.mark.parametrize(("own", "acks"), [("statistics.interval.ms=1", "1"), ("linger.ms=1", "all")])
def test_to_librdkafka_two_names_of_acks_are_one(lines: tuple[str, ...], own: str, acks: str) -> None:
    text = "\n".join(("bootstrap.servers=a:1", own, *lines, ""))

    assert review(text, kafka="3.7").value("acks").value == acks
