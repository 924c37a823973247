"""The catalogue: defaults by version, values, and slips of the pen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from modelcheck.kafka.settings.keys.catalogue import MODELLED, OUTSIDE, find, is_irrelevant, known, meant
from modelcheck.kafka.settings.keys.irrelevant import IRRELEVANT
from modelcheck.kafka.settings.keys.key import BadValueError, parse
from modelcheck.kafka.settings.keys.versions import LINES, of, version

ROOT = Path(__file__).parent.parent.parent.parent

# Defaults as Kafka's sources have them, by key and release.
DEFAULTS = [
    ("acks", "0.8.0", "0"),
    ("acks", "0.8.2", "1"),
    ("acks", "2.8", "1"),
    ("acks", "3.0", "all"),
    ("enable.idempotence", "0.10.2", None),
    ("enable.idempotence", "2.8", "false"),
    ("enable.idempotence", "3.0", "false"),  # in writing only
    ("enable.idempotence", "3.0.1", "true"),
    ("enable.idempotence", "3.1", "false"),
    ("enable.idempotence", "3.2", "true"),
    ("unclean.leader.election.enable", "0.8.1", None),
    ("unclean.leader.election.enable", "0.10.2", "true"),
    ("unclean.leader.election.enable", "0.11.0", "false"),
    ("min.insync.replicas", "0.8.1", None),
    ("min.insync.replicas", "0.8.2", "1"),
    ("log.flush.interval.messages", "0.8.0", "10000"),
    ("log.flush.interval.messages", "0.8.1", "9223372036854775807"),
    ("replica.lag.time.max.ms", "2.4", "10000"),
    ("replica.lag.time.max.ms", "2.5", "30000"),
    ("retries", "2.0", "0"),
    ("retries", "2.1", "2147483647"),
    ("auto.leader.rebalance.enable", "0.8.1", "false"),
    ("auto.leader.rebalance.enable", "0.8.2", "true"),
    ("broker.session.timeout.ms", "2.7", None),
    ("broker.session.timeout.ms", "2.8", "9000"),
    ("eligible.leader.replicas.version", "4.0", "0"),
    ("eligible.leader.replicas.version", "4.1", "1"),
]


KEYS = ROOT / "modelcheck/kafka/settings/keys"
COLUMNS: dict[str, type] = {
    "name": str,
    "topic_name": str,
    "other_names": list,
    "type": str,
    "readers": list,
    "first": str,
    "last": str,
    "defaults": dict,
    "of_model": bool,
    "low": int,
    "does": str,
    "why": str,
    "absent": str,
    "worst": str,
    "dynamic": str,
    "low_of_topics": str,
}


@pytest.mark.parametrize("name", ["modelled", "outside"])
def test_a_table_of_keys_has_the_columns_that_are_read(name: str) -> None:
    rows = tomllib.loads((KEYS / f"{name}.toml").read_text(encoding="utf-8"))["key"]
    names = [known for row in rows for known in (row["name"], *row.get("other_names", ()))]

    assert len(names) == len(set(names))
    for row in rows:
        assert {column: type(value) for column, value in row.items()}.items() <= COLUMNS.items()
        assert {"name", "type", "readers", "does"} <= row.keys()
        assert all(release == str(version(release)) for release in row.get("defaults", {}))


def test_a_key_without_influence_is_in_one_row() -> None:
    table = tomllib.loads((KEYS / "irrelevant.toml").read_text(encoding="utf-8"))
    of_one = [name for row in ("broker_only", "topic_only", "producer_only", "shared") for name in table[row]]

    assert len(of_one) == len(set(of_one))
    assert all(isinstance(name, str) and name == name.strip() for row in table.values() for name in row)


@pytest.mark.parametrize(("key", "release", "expected"), DEFAULTS)
def test_the_default_of_each_release(key: str, release: str, expected: str | None) -> None:
    assert known(key).default(version(release)) == expected


@pytest.mark.parametrize("key", MODELLED + OUTSIDE, ids=lambda key: key.name)
def test_a_key_is_consistent(key: object) -> None:
    entry = find(getattr(key, "name", ""))
    assert entry is not None
    dates = [default.since for default in entry.defaults]

    assert dates == sorted(set(dates))
    assert all(entry.exists_in(since) for since in dates)
    assert not set(entry.names) & IRRELEVANT
    for line in (line for line in LINES if entry.exists_in(of(*line))):
        default = entry.default(of(*line))
        if default is not None:
            parse(entry, default, of(*line))


@pytest.mark.parametrize(
    ("slip", "wanted"),
    [
        ("min.insync.replica", "min.insync.replicas"),
        ("min.in.sync.replicas", "min.insync.replicas"),
        ("min_insync_replicas", "min.insync.replicas"),
        ("minInsyncReplicas", "min.insync.replicas"),
        ("MIN_INSYNC_REPLICAS", "min.insync.replicas"),
        ("insync.min.replicas", "min.insync.replicas"),
        ("min.isr", "min.insync.replicas"),
        ("ack", "acks"),
        ("unclean.leader.election", "unclean.leader.election.enable"),
        ("uncelan.leader.election.enable", "unclean.leader.election.enable"),
        ("log.flush.interval.mesages", "log.flush.interval.messages"),
    ],
)
def test_a_slip_is_recognised(slip: str, wanted: str) -> None:
    assert meant(slip) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "tasks",
        "my.company.audit.enabled",
        "controller.quorum.request.timeout.ms",
        "replica.fetch.min.bytes",
        "log.retention.ms",
        "client.id",
    ],
)
def test_another_key_is_no_slip(name: str) -> None:
    assert meant(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        "listeners",
        "log.retention.hours",
        "ssl.keystore.location",
        "linger.ms",
        "max.decompressed.message.bytes",  # 4.2.2 and 4.4, not 4.3.1
        "cordoned.log.dirs",  # 4.3
        "log.remote.copy.lag.ms",  # 4.4, of brokers, topics, producers and all clients
        "remote.copy.lag.bytes",
        "partitioner.rack.aware",
        "metadata.cluster.check.enable",
        "bootstrap.resolve.timeout.ms",
    ],
)
def test_real_keys_without_influence_are_known(name: str) -> None:
    assert is_irrelevant(name)


@pytest.mark.parametrize(
    ("text", "release", "meaning"),
    [
        ("all", "3.7", "all"),
        ("-1", "3.7", "all"),
        (" 1 ", "3.7", "1"),
        ("-1", "0.8.1", "all"),
        ("3", "0.8.1", "3"),
    ],
)
def test_acks_by_version(text: str, release: str, meaning: str) -> None:
    assert parse(known("acks"), text, version(release)) == meaning


@pytest.mark.parametrize(
    ("key", "text", "release", "message"),
    [
        (
            "acks",
            "2",
            "0.8.2",
            "`acks=2`: it is 0, 1, or all (-1); until Kafka 0.8.2 the old producer had others",
        ),
        ("acks", "all", "0.8.1", "`acks` must be a number in Kafka 0.8.1"),
        ("acks", "quorum", "3.7", "`acks` must be 0, 1, or all (-1)"),
        ("min.insync.replicas", "0", "3.7", "`min.insync.replicas` must be at least 1"),
        ("min.insync.replicas", "two", "3.7", "`min.insync.replicas` must be a whole number"),
        ("min.insync.replicas", "9" * 5000, "3.7", "`min.insync.replicas` must be at most 2147483647"),
        ("min.insync.replicas", "٣", "3.7", "`min.insync.replicas` must be a whole number"),
        (
            "unclean.leader.election.enable",
            "yes",
            "3.7",
            "`unclean.leader.election.enable` must be true or false",
        ),
        (
            "process.roles",
            "broker,leader",
            "3.7",
            "`process.roles` must be broker, controller, or both with a comma",
        ),
        (
            "inter.broker.protocol.version",
            "latest",
            "2.8",
            "`inter.broker.protocol.version`: `latest` is not a protocol version",
        ),
    ],
)
def test_a_value_that_kafka_refuses_is_refused(key: str, text: str, release: str, message: str) -> None:
    with pytest.raises(BadValueError) as caught:
        parse(known(key), text, version(release))

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("min.insync.replicas", "-+2"),
        ("min.insync.replicas", "+-2"),
        ("min.insync.replicas", "\u00b2"),
        ("min.insync.replicas", "1_0"),
        ("min.insync.replicas", "2\u00a0"),  # Java's trim takes away what is no larger than a space
        ("acks", "all\u2003"),
        ("unclean.leader.election.enable", "\u00a0true"),
    ],
)
def test_what_java_does_not_read_is_no_value(key: str, text: str) -> None:
    with pytest.raises(BadValueError):
        parse(known(key), text, version("3.7"))


def test_a_number_may_have_a_sign_and_zeros() -> None:
    found = [
        parse(known("min.insync.replicas"), text, version("3.7"))
        for text in ("+2", "\x0b2\x1f", "0" * 30 + "2")
    ]

    assert found == [2, 2, 2]


@pytest.mark.parametrize(
    ("name", "release", "least"),
    [
        ("log.flush.interval.messages", "0.8.1", 1),
        ("log.flush.interval.messages", "4.1", 1),
        ("flush.messages", "3.2", 0),
        ("flush.messages", "3.3", 1),
    ],
)
def test_the_least_number_of_records_between_flushes(name: str, release: str, least: int) -> None:
    """A broker refuses 0 (KafkaConfig: `atLeast(1)`), a topic since 3.3 (LogConfig)."""
    key = known(name)

    assert parse(key, str(least), version(release), name) == least
    with pytest.raises(BadValueError):
        parse(key, str(least - 1), version(release), name)
