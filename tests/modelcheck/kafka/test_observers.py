"""Observers of Confluent Server: no answer counts them as replicas that may join the in-sync set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from spec.diagnostics import SpecError
from spec.source import Source


def resolved(*texts: str, topic: str | None = None) -> Settings:
    return resolve([read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)], topic=topic)


def described(column: str, configs: str = "", name: str = "t") -> str:
    return (
        f"Topic: {name}\tPartitionCount: 1\tReplicationFactor: 4\tConfigs: {configs}\n"
        f"\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: 1,2,3,4\tIsr: 1,2\tOffline: \t{column}\n"
    )


WITH = '{"version":2,"replicas":[{"count":2}],"observers":[{"count":2}]}'
WITHOUT = '{"version":2,"replicas":[{"count":4}],"observers":[]}'
BROKER = f"broker.id=1\nconfluent.log.placement.constraints={WITH}\n"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([described("LiveObservers: 3,4")], "partition 0 of t has observers: 3, 4"),
        ([described("Observers: 3,4")], "partition 0 of t has observers: 3, 4"),
        ([described("", f"confluent.placement.constraints={WITH}")], "this places observers"),
        ([BROKER], "this places observers"),
        (
            ["broker.id=1\nconfluent.log.placement.constraints={observers: [{count: 2}]}\n"],
            "this places observers",
        ),
    ],
)
def test_a_topic_with_observers_has_no_answer(texts: list[str], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolved(*texts)

    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("R0742", said)


@pytest.mark.parametrize(
    "texts",
    [
        [described("LiveObservers: ")],
        [described("", f"confluent.placement.constraints={WITHOUT}")],
        [described(""), BROKER],  # which is of topics that are made without a placement of their own
        [described("", f"confluent.placement.constraints={WITHOUT}"), BROKER],
    ],
)
def test_one_without_observers_has_one(texts: list[str]) -> None:
    assert resolved(*texts).switches.replication_factor.value == 4


def test_among_all_topics_one_with_observers_is_refused_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(described("", name="other") + described("LiveObservers: 3,4"))
    page = tmp_path / "page.html"
    asked = ["kafka", "review", str(path), "--all-topics", "--kafka=3.7", "--faults=0"]

    assert main([*asked, "--html", str(page)]) == Exit.UNKNOWN
    said = "t: partition 0 of t has observers: 3, 4 (R0742)"
    assert f"not answered {said}" in capsys.readouterr().out
    assert said in page.read_text()

    main([*asked, "--json"])
    other, one = json.loads(capsys.readouterr().out)["topics"]
    assert (other["name"], one["name"]) == ("other", "t")
    assert (other["review"]["complete"], one["review"]["complete"]) == (True, False)
    assert one["review"]["ended"] == "partition 0 of t has observers: 3, 4"
    assert one["review"]["settings"]["warnings"][0]["code"] == "R0742"


def test_all_topics_that_have_observers_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(described("LiveObservers: 3,4"))

    assert main(["kafka", "review", str(path), "--all-topics"]) == Exit.WRONG
    assert "R0742" in capsys.readouterr().err


def test_another_topic_with_observers_is_no_matter() -> None:
    texts = described("LiveObservers: 3,4", name="other"), described("")

    assert resolved(*texts, topic="t").topic
