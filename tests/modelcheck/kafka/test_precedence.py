"""Which of several settings of one key counts, where a wrong choice promises too much."""

from __future__ import annotations

import pytest

from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.source import Source


def review(*texts: str, kafka: str, name: str = "f") -> Settings:
    return resolve([read_text(Source(f"{n}{name}", text)) for n, text in enumerate(texts)], kafka=kafka)


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
