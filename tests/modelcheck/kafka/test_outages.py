"""What a review says of brokers that are down: what works, how it stops, and whether it comes back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from modelcheck.cli import main
from modelcheck.kafka.questions.outages.findings import SERVICES, Outage, Service
from modelcheck.kafka.report.outages_text import note

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())

Run = Callable[..., Mapping[str, Any]]


@pytest.fixture
def outage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`outage("3.7", 2, "unclean.leader.election.enable=true")`: what a review says of availability."""
    monkeypatch.chdir(tmp_path)

    def run(version: str, replicas: int, *settings: str) -> Mapping[str, Any]:
        Path("server.properties").write_text(
            "\n".join(["broker.id=1", f"default.replication.factor={replicas}", *settings, ""])
        )
        Path("producer.properties").write_text("bootstrap.servers=one:9092\nacks=all\n")
        main(["kafka", "review", "server.properties", "producer.properties", "--kafka", version, "--json"])
        review = json.loads(capsys.readouterr().out)
        jsonschema.validate(review, SCHEMA)
        found: Mapping[str, Any] = review["availability"]
        return found

    return run


def works(found: Mapping[str, Any], service: str) -> list[bool | None]:
    return [row[service] for row in found["down"]]


def test_with_min_isr_of_all_replicas_one_down_stops_writes_and_not_reads(outage: Run) -> None:
    found = outage("3.7", 2, "min.insync.replicas=2")

    assert works(found, "writable") == [True, False, False]
    assert works(found, "electable") == works(found, "readable") == [True, True, False]
    assert found["services"]["writable"]["stops_with"] == 1
    assert [step["action"] for step in found["services"]["writable"]["run"]] == ["crash"]
    assert found["says"].startswith(
        "With one broker down: readable only (at best until it returns). "
        "With both brokers down: neither writable nor readable"
    )


def test_what_stops_comes_back_with_the_brokers(outage: Run) -> None:
    found = outage("3.7", 2)

    assert works(found, "writable") == [True, True, False]
    assert [found["services"][name]["comes_back"] for name in found["services"]] == [True] * 3


def test_after_an_unclean_election_what_comes_back_may_lack_records(outage: Run) -> None:
    clean = outage("3.7", 2)["services"]["readable"]
    unclean = outage("3.7", 2, "unclean.leader.election.enable=true")["services"]["readable"]

    assert (clean["records_lost"], clean["comes_back"]) == (False, True)
    assert (unclean["records_lost"], unclean["comes_back"]) == (True, False)


def test_one_replica_alone_is_back_when_its_broker_is(outage: Run) -> None:
    found = outage("3.7", 1)

    assert works(found, "readable") == [True, False]
    assert found["fault"] == "crash"
    assert found["services"]["writable"]["until"] == [["broker1"]]


def test_what_holds_of_one_or_two_brokers_is_said_of_both_numbers(outage: Run) -> None:
    found = outage("3.7", 3, "min.insync.replicas=3")

    assert "With one or two brokers down: readable only (at best until they return). " in found["says"]


def test_what_is_refused_from_the_start_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.properties").write_text("default.replication.factor=2\nmin.insync.replicas=3\n")
    main(["kafka", "review", "server.properties", "--kafka", "3.6", "--faults", "1"])
    report = " ".join(capsys.readouterr().out.split())

    assert "✗ writable writes are refused from the start, and nothing need go wrong" in report
    assert "With all up, and with one broker down: readable only." in report


def test_what_a_short_search_leaves_open_is_not_blamed_on_the_faults() -> None:
    names = ("broker1", "broker2")
    cut = Outage(names, "crash", tuple(Service(name, -1, None, None) for name in SERVICES))
    sure = {name: 0 if name == "readable" else 2 for name in SERVICES}
    whole = Outage(names, "crash", tuple(Service(name, sure[name], None, None) for name in SERVICES))

    assert note(cut).endswith("`?` is not known, the search was cut short")
    assert note(whole).endswith("`?` is not known, more --faults may decide it")


def test_how_it_stops_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.properties").write_text("default.replication.factor=2\nmin.insync.replicas=2\n")
    main(["kafka", "review", "server.properties", "--kafka", "3.7", "--faults", "1", "--html", "page.html"])
    report = capsys.readouterr().out

    assert report.count("broker1 crashes; its log is safe\n") == 1
    assert "The run against `writable` (1 fault, 1 step" in report
    assert "How it stops" not in report + Path("page.html").read_text()


def test_without_faults_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.properties").write_text("broker.id=1\ndefault.replication.factor=1\n")
    main(["kafka", "review", "server.properties", "--kafka", "3.7", "--faults", "0", "--json"])
    review = json.loads(capsys.readouterr().out)

    jsonschema.validate(review, SCHEMA)
    assert review["availability"] is None
