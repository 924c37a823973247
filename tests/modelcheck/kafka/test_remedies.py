"""What is recommended: in the words of this cluster, and of use where somebody writes it into the files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.kafka.questions.changes import REPLICAS, SwitchChange, changed, circumstances, in_words
from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.questions.question import MOVE, kind_of
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import Settings, resolve

BROKER = "default.replication.factor={}\nbroker.id=1\nmin.insync.replicas={}\n"
Keys = Mapping[str, str]


def settings(*texts: str, kafka: str, client: str | None = None) -> Settings:
    given = [read_bytes(f"f{number}", text.encode()) for number, text in enumerate(texts)]
    return resolve(given, kafka=kafka, client=client)


@pytest.mark.parametrize(
    ("kafka", "replicas", "wanted", "before", "after"),
    [("3.8", 1, 3, 1, 2), ("3.8", 2, 3, 2, 3), ("3.8", 3, 2, 2, 2), ("3.6", 1, 3, 3, 3)],
)
def test_of_more_replicas_more_must_be_in_sync_where_fewer_bounded_them(
    kafka: str, replicas: int, wanted: int, before: int, after: int
) -> None:
    made = partition(settings(BROKER.format(replicas, wanted), kafka=kafka))
    more = changed(made, (SwitchChange(REPLICAS, replicas, replicas + 1),))

    assert (made.config["min_isr"], more.config["min_isr"]) == (before, after)


@pytest.mark.parametrize(
    ("kafka", "client", "words"),
    [
        ("0.8.1", None, "request.required.acks=-1"),
        ("0.8.1", "2.8", "acks=all"),
        ("0.8.1", "librdkafka", "acks=all"),
        ("3.7", "0.8.1", "request.required.acks=-1"),
    ],
)
def test_acks_are_told_as_the_producer_reads_them(kafka: str, client: str | None, words: str) -> None:
    about = circumstances(settings("broker.id=1\n", kafka=kafka, client=client))

    assert in_words(SwitchChange("acks", "one", "all"), about).what == words


@pytest.mark.parametrize(("kafka", "is_told"), [("4.0", False), ("4.1", True)])
def test_where_a_brokers_file_does_not_count_another_place_is_named(kafka: str, *, is_told: bool) -> None:
    about = circumstances(settings("process.roles=broker\n", kafka=kafka))
    words = in_words(SwitchChange("min_isr", 1, 2), about)

    assert ("for the topic or for the cluster" in words.needs) is is_told


def review(folder: Path, kafka: str, broker: Keys, producer: Keys, faults: str = "1") -> Mapping[str, Any]:
    for name, keys in (("server.properties", broker), ("producer.properties", producer)):
        (folder / name).write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
    names = [str(folder / name) for name in ("server.properties", "producer.properties")]
    said = StringIO()
    with redirect_stdout(said):
        main(["kafka", "review", *names, "--kafka", kafka, "--faults", faults, "--json"])
    found: Mapping[str, Any] = json.loads(said.getvalue())
    return found


def written(changes: Sequence[Mapping[str, str]], broker: Keys, producer: Keys) -> tuple[Keys, Keys]:
    """The settings with these changes made."""
    own, client = dict(broker), dict(producer)
    for change in changes:
        text = change["setting"].replace("replication factor ", "default.replication.factor=")
        key, _, value = text.partition("=")
        (client if key == "acks" else own)[key] = value
    return own, client


@pytest.mark.parametrize(
    ("kafka", "broker", "acks"),
    [
        ("3.8", {"default.replication.factor": "1", "min.insync.replicas": "3"}, "all"),
        ("3.6", {"default.replication.factor": "2"}, "1"),
    ],
)
def test_what_is_recommended_helps_and_costs_what_is_said(
    kafka: str, broker: Keys, acks: str, tmp_path: Path
) -> None:
    broker, producer = {"broker.id": "1", **broker}, {"bootstrap.servers": "b:1", "acks": acks}
    found = review(tmp_path, kafka, broker, producer)
    loss = found["first_loss"]
    (kind,) = [kind_of(fault).name for fault in loss["faults"]] or [MOVE]
    remedies = [
        each
        for each in found["remedies"]["found"]
        if not any(change["upgrade"] for change in each["changes"])
    ]
    assert remedies
    for remedy in remedies:
        after = review(tmp_path, kafka, *written(remedy["changes"], broker, producer))["guarantees"]
        lost, stopped = (
            after[name]["by_kind"][kind]["lost_with"] for name in (loss["guarantee"], "writable")
        )
        assert (lost is None, stopped is None) == (True, remedy["writes_go_on"]), remedy
        if remedy["after"] is not None:
            table = {name: row["by_kind"]["any"] for name, row in after.items()}
            assert survived(remedy["after"]) == survived(table), remedy


def survived(table: Mapping[str, Any]) -> Mapping[str, object]:
    """The faults that each guarantee survives, whatever it took to find out."""
    return {name: (answer["survives"], answer["lost_with"]) for name, answer in table.items()}


def test_what_prevents_the_shown_run_and_no_other_is_no_remedy(tmp_path: Path) -> None:
    """One replica and acks=1: forced to the disk, a record still goes with the disk."""
    broker = {"node.id": "1", "process.roles": "broker", "default.replication.factor": "1"}
    found = review(tmp_path, "3.9", broker, {"bootstrap.servers": "b:1", "acks": "1"})
    (remedy,) = found["remedies"]["found"]

    assert list(found["first_loss"]["faults"]) == ["power_loss"]
    assert found["remedies"]["only_the_run"] is False
    assert [change["setting"] for change in remedy["changes"]] == ["acks=all", "replication factor 2"]
    assert remedy["after"]["durable"]["survives"] == 1
    assert remedy["waits_for"] == {"least": 0, "most": 1}


def test_the_price_in_writes_is_told_where_the_loss_takes_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """acks=all in place of 0, with two in sync of two: one crash then stops writes."""
    files = {
        "server.properties": "process.roles=broker\nnode.id=1\ndefault.replication.factor=2\n"
        "min.insync.replicas=2\n",
        "producer.properties": "bootstrap.servers=b:1\nkey.serializer=x\nacks=0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    main(["kafka", "review", *(str(tmp_path / name) for name in files), "--kafka", "3.9"])
    told = " ".join(capsys.readouterr().out.partition("The smallest change")[2].split())

    assert "acks=all then durable no → 1; writable 1 → 0; an acknowledgement waits for 1 follower" in told
    assert "writes continue through these faults" not in told


def test_where_nothing_survives_more_that_is_said(tmp_path: Path) -> None:
    """Two replicas of Kafka 0.8: two lost disks lose every record, whatever is set."""
    broker = {"zookeeper.connect": "z:2181", "default.replication.factor": "2"}
    found = review(tmp_path, "0.8.1", broker, {"metadata.broker.list": "b:1", "acks": "-1"}, faults="2")
    settings_ = {change["setting"] for each in found["remedies"]["found"] for change in each["changes"]}

    assert found["remedies"]["only_the_run"] is True
    assert settings_ == {"min.insync.replicas=2", "unclean.leader.election.enable=false"}


def test_what_prevents_one_move_of_the_leadership_and_not_two_is_no_remedy(tmp_path: Path) -> None:
    broker = {"broker.id": "1", "default.replication.factor": "3"}
    found = review(tmp_path, "0.9.0", broker, {"bootstrap.servers": "b:1", "acks": "1"})
    changes = [[change["setting"] for change in each["changes"]] for each in found["remedies"]["found"]]

    assert [step["action"] for step in found["first_loss"]["steps"]].count("move") == 1
    assert changes
    assert all("acks=all" in each and len(each) == 2 for each in changes)
