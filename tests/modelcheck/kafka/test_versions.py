"""Kafka's versions: their order, and what is none."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.keys.versions import (
    LINES,
    BadVersionError,
    is_newer_than_known,
    of,
    protocol,
    version,
)


def test_releases_are_in_the_order_they_came_out() -> None:
    texts = [
        "0.8.0",
        "0.8.1",
        "0.8.1.1",
        "0.8.2.0",
        "0.9",
        "0.10.2",
        "0.11",
        "1.0",
        "2.8",
        "3.7.1",
        "3.10",
        "4.0",
    ]
    kept = [version(text) for text in texts if text != "3.10"]

    assert kept == sorted(kept)
    assert list(LINES) == sorted(LINES)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("0.8.2.1", "0.8.2.1"), ("0.9", "0.9.0"), ("v3.7.1", "3.7.1"), ("2.8.0", "2.8"), ("3.7.0-rc1", "3.7")],
)
def test_a_version_is_shown_as_its_release(text: str, shown: str) -> None:
    assert str(version(text)) == shown


@pytest.mark.parametrize(
    ("text", "message", "advice"),
    [
        ("three", "`three` is not a Kafka version", "write a release such as 0.8.1, 2.8 or 3.7.1"),
        ("", "`` is not a Kafka version", "write a release such as 0.8.1, 2.8 or 3.7.1"),
        (
            "0.8",
            "Kafka `0.8` may be any of 0.8.0 to 0.8.2, and they differ",
            "give one of: 0.8.0, 0.8.1, 0.8.2",
        ),
        ("2.9", "there is no Kafka 2.9", "the nearest releases are 2.8 and 3.0"),
        ("0.7.2", "Kafka 0.7.2 has no replication to check", "partitions have replicas since Kafka 0.8.0"),
        (
            "7.6",
            "there is no Kafka 7.6 that is known here; the newest known is 4.4",
            "Confluent Platform 7.6 carries Kafka 3.6",
        ),
        (
            "99.1",
            "there is no Kafka 99.1 that is known here; the newest known is 4.4",
            "write a release between 0.8.0 and 4.4",
        ),
    ],
)
def test_what_is_no_version_is_refused_with_advice(text: str, message: str, advice: str) -> None:
    with pytest.raises(BadVersionError) as caught:
        version(text)

    assert (caught.value.message, caught.value.advice) == (message, advice)


def test_a_later_minor_is_newer_than_known_and_no_mistake() -> None:
    assert is_newer_than_known(version("4.17"))
    assert not is_newer_than_known(version("4.4.99"))


def test_protocols_are_ordered_by_release_and_internal_number() -> None:
    texts = ["0.8.2", "0.11.0-IV0", "0.11.0-IV2", "0.11.0", "2.1-IV1", "2.1", "3.7-IV4"]
    found = [protocol(text) for text in texts]

    assert found == sorted(found)
    assert protocol("3.7.1") == protocol("3.7")
    assert str(protocol("3.7-IV4")) == "3.7-IV4"
    assert protocol("2.8").release == of(2, 8)
