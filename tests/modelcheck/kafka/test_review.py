"""`modelcheck kafka review` from the files to the report, where the answer is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from modelcheck.cli import main

INPUTS = Path(__file__).parent / "inputs"
SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())
TIME = "300"  # more than is needed: what these tests compare must not depend on the machine

Answers = Mapping[str, Any]
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def review(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`review("0.8.1", {"server.properties": "…"}, "--json")`: the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(version: str, files: Mapping[str, str], *options: str) -> tuple[int, str]:
        for name, text in files.items():
            Path(name).write_text(text)
        code = main(["kafka", "review", *files, "--kafka", version, "--max-time", TIME, *options])
        return code, capsys.readouterr().out

    return run


def test_a_lost_record_is_lost_where_nobody_leads_any_more(review: Run) -> None:
    given = {"server.properties": "process.roles=broker,controller\nnode.id=1\n"}
    _, printed = review("4.1", given, "--faults", "1", "--json")
    found = answers(printed)

    assert by_kind(found, "durable")["disk"] == (0, 1)
    assert found["settings"]["switches"]["eligible_leader_replicas"]["value"] is True
    assert not any("eligible" in str(each) for each in found["remedies"]["found"])


def files(*, replicas: int, acks: str, broker: str = "") -> dict[str, str]:
    return {
        "server.properties": f"broker.id=1\ndefault.replication.factor={replicas}\n{broker}",
        "producer.properties": f"bootstrap.servers=one:9092\nacks={acks}\n",
    }


def old_files(replicas: int) -> dict[str, str]:
    return {
        "server.properties": f"zookeeper.connect=z:2181\ndefault.replication.factor={replicas}\n",
        "producer.properties": "metadata.broker.list=one:9092\nrequest.required.acks=-1\n",
    }


def answers(printed: str) -> Answers:
    found: Answers = json.loads(printed)
    jsonschema.validate(found, SCHEMA)
    return found


def by_kind(found: Answers, guarantee: str) -> dict[str, tuple[object, object]]:
    rows = found["guarantees"][guarantee]["by_kind"]
    return {kind: (row["survives"], row["lost_with"]) for kind, row in rows.items()}


# ------------------------------------------------------------------ Kafka 0.8


def test_a_broker_that_is_cut_off_from_all_is_one_fault(review: Run) -> None:
    given = files(replicas=3, acks="all", broker="min.insync.replicas=2\n")
    asked = ("--require", "writable:1:cutoff", "--require", "writable:1:isolation")
    code, printed = review("3.6", given, "--json", "--faults", "1", *asked)

    assert code == 1
    assert json.loads(printed)["required"] == [
        {"requirement": "writable:1:cutoff", "met": True},  # without a session its office is another's
        {"requirement": "writable:1:isolation", "met": False},
    ]


def test_kafka_0_8_loses_acknowledged_records_with_two_faults(review: Run) -> None:
    code, printed = review("0.8.1", old_files(2), "--json")
    found = answers(printed)
    durable = by_kind(found, "durable")
    loss = found["first_loss"]

    assert code == 0
    assert found["complete"] is True
    assert durable["any"] == (1, 2)
    assert durable["isolation"] == ("any", None)
    assert loss["guarantee"] == "durable"
    assert list(loss["faults"]) == ["isolate", "session_loss"]
    assert [step["action"] for step in loss["steps"]] == [
        "produce",
        "isolate",
        "commit",
        "session_loss",
        "elect_unclean",
    ]
    assert "the producer gets its acknowledgement" in loss["steps"][2]["says"]
    assert [each["changes"][0]["setting"] for each in found["remedies"]["found"]] == [
        "min.insync.replicas=2",
        "unclean.leader.election.enable=false",
    ]
    assert all(each["changes"][0]["upgrade"] for each in found["remedies"]["found"])


@pytest.mark.parametrize("replicas", [2, 3])
def test_one_fault_loses_nothing_in_kafka_0_8(review: Run, replicas: int) -> None:
    code, printed = review("0.8.1", old_files(replicas), "--json", "--faults", "1", "--require", "durable:1")
    found = answers(printed)

    assert code == 0
    assert found["complete"] is True
    assert by_kind(found, "durable")["any"] == (1, None)
    assert found["first_loss"] is None
    assert found["remedies"] is None
    assert found["required"] == [{"requirement": "durable:1", "met": True}]


# ------------------------------------------------------------------ Kafka 3


def test_two_in_sync_of_three_survive_one_fault_of_any_kind(review: Run) -> None:
    broker = "min.insync.replicas=2\nunclean.leader.election.enable=false\n"
    given = files(replicas=3, acks="all", broker=broker)
    code, printed = review("3.6", given, "--json", "--faults", "1", "--require", "durable:1")
    found = answers(printed)

    assert code == 0
    assert found["complete"] is True
    durable = by_kind(found, "durable")
    assert durable.pop("move") == (0, None)  # it is tried with nothing else wrong
    assert {survives for survives, _ in durable.values()} <= {1, "any"}
    assert by_kind(found, "writable")["crash"] == (1, None)


def test_acks_1_loses_with_one_fault(review: Run) -> None:
    given = files(replicas=2, acks="1")
    code, printed = review(
        "3.6", given, "--json", "--faults", "1", "--require", "durable:1", "--require", "read:0"
    )
    found = answers(printed)

    assert code == 1
    assert by_kind(found, "durable")["crash"] == (0, 1)
    assert by_kind(found, "durable")["move"] == (None, 0)
    assert {step["action"] for step in found["first_loss"]["steps"]} == {"produce", "move"}
    assert found["required"] == [
        {"requirement": "durable:1", "met": False},
        {"requirement": "read:0", "met": True},
    ]
    assert "acks=all" in [each["changes"][0]["setting"] for each in found["remedies"]["found"]]


def test_the_last_in_sync_replica_may_lose_power(review: Run) -> None:
    broker = "min.insync.replicas=1\nunclean.leader.election.enable=false\n"
    code, printed = review("3.6", files(replicas=2, acks="all", broker=broker), "--json")
    found = answers(printed)
    durable = by_kind(found, "durable")

    assert code == 0
    assert durable["any"] == (1, 2)
    assert durable["isolation"][1] is None
    assert durable["session"][1] is None
    assert durable["crash"][1] is None
    assert list(found["first_loss"]["faults"]) == ["isolate", "power_loss"]
    assert by_kind(found, "writable")["any"] == (1, 2)
    assert [each["changes"][0]["setting"] for each in found["remedies"]["found"]] == [
        "log.flush.interval.messages=1"
    ]


@pytest.mark.parametrize(("version", "survives"), [("3.6", None), ("3.7", 0)])
def test_min_isr_above_the_replicas_refuses_writes_until_3_7(
    review: Run, version: str, survives: int | None
) -> None:
    given = files(replicas=2, acks="all", broker="min.insync.replicas=3\n")
    code, printed = review(version, given, "--json", "--faults", "0")
    found = answers(printed)

    assert code == 0
    told = (survives, 0 if survives is None else None)
    assert by_kind(found, "writable") == {"move": told, "any": told}
    assert [warning["code"] for warning in found["settings"]["warnings"]] == ["R0716"]


def test_eligible_replicas_are_no_advice_where_the_last_known_leader_loses_as_much(review: Run) -> None:
    """Two replicas: a crash and a power loss leave nobody eligible, and who led last leads again."""
    given = files(replicas=2, acks="all", broker="min.insync.replicas=2\nprocess.roles=broker,controller\n")
    given["server.properties"] = given["server.properties"].replace("broker.id", "node.id")
    _, printed = review("4.0", given, "--json")
    found = answers(printed)

    assert by_kind(found, "durable")["any"] == (1, 2)
    assert not any("eligible" in str(each) for each in found["remedies"]["found"])


def test_acks_0_loses_with_one_lost_request(review: Run) -> None:
    code, printed = review("3.6", files(replicas=1, acks="0"), "--json", "--faults", "1")
    found = answers(printed)

    assert code == 0
    assert by_kind(found, "durable")["request"] == (0, 1)
    assert [step["action"] for step in found["first_loss"]["steps"]] == ["lose_request"]
    assert "assumes that it is stored" in found["first_loss"]["steps"][0]["says"]


# ------------------------------------------------------------------ the report


def test_the_report_on_kafka_0_8(review: Run, golden: Callable[[str, str], None]) -> None:
    code, printed = review("0.8.1", old_files(2), "--require", "durable:2")

    golden("review/kafka_0.8.1.txt", masked(printed))

    assert code == 1


def test_the_report_on_a_producer_alone(review: Run, golden: Callable[[str, str], None]) -> None:
    given = {"producer.properties": files(replicas=1, acks="all")["producer.properties"]}
    code, printed = review("3.7", given, "--faults", "1")

    golden("review/producer_alone.txt", masked(printed))

    assert code == 0


def test_what_loses_no_record_is_not_called_a_loss(review: Run) -> None:
    """With min.insync.replicas=2 two replicas take no writes once one is down; no record is lost."""
    given = {
        "server.properties": "zookeeper.connect=z\ndefault.replication.factor=2\nmin.insync.replicas=2\n",
        "producer.properties": files(replicas=2, acks="all")["producer.properties"],
    }
    _, printed = review("3.7", given, "--faults", "1")

    assert "✓ durable " in printed
    assert "✗ writable    with 1 fault writes can stop" in printed
    assert "The run against `writable` (1 fault, 1 step; no run has fewer faults)" in printed
    assert "loss" not in printed.split("Used")[0]


def test_verbose_tells_why_each_setting_counts(review: Run) -> None:
    given = files(replicas=1, acks="all", broker="num.io.threads=8\nreplica.lag.time.max.ms=5\n")
    _, short = review("3.7", given, "--faults", "0")
    _, long = review("3.7", given, "--faults", "0", "-v")

    assert "replica.lag.time.max.ms=5" in short
    assert "num.io.threads" not in short
    assert "num.io.threads" in long
    assert "KAFKA-15583" in long


def test_brokers_are_named_as_kafka_topics_names_them(review: Run) -> None:
    topics = (
        "Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
        "\tTopic: t\tPartition: 0\tLeader: 101\tReplicas: 101,102\tIsr: 101,102\n"
    )
    given = {"topics.txt": topics, "producer.properties": "bootstrap.servers=b:1\nacks=1\n"}
    _, printed = review("3.6", given, "--faults", "1")

    assert "to broker101, which appends it" in printed
    assert "broker1 " not in printed


def test_the_trace_of_the_loss_can_be_kept(review: Run, tmp_path: Path) -> None:
    given = files(replicas=1, acks="0")
    code, _ = review("3.6", given, "--faults", "1", "--itf", "loss.itf.json")

    assert code == 0
    assert json.loads((tmp_path / "loss.itf.json").read_text())["#meta"]


@pytest.mark.parametrize("path", [".", "no/such/folder/loss.json"])
def test_a_trace_that_cannot_be_written_is_refused_at_once(
    review: Run, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("p.properties").write_text("bootstrap.servers=b:1\nacks=0\n")
    code = main(["kafka", "review", "p.properties", "--itf", path])

    assert code == 2
    assert f"{path}: error[R0904]: cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ("--faults", "-1"),
        ("--faults", "6"),
        ("--faults", "x"),
        ("--max-time", "0"),
        ("--max-time", "nan"),
        ("--require", "durabel:1"),
        ("--require", "durable"),
        ("--require", "durable:9"),
        ("--require", "durable:1:chrash"),
        ("--require", ""),
    ],
)
def test_options_that_make_no_sense_are_refused(
    review: Run, options: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("p.properties").write_text("bootstrap.servers=b:1\nacks=0\n")
    code = main(["kafka", "review", "p.properties", *options])
    told = capsys.readouterr().err

    assert code == 2
    assert options[0] in told
    assert "Traceback" not in told


def masked(printed: str) -> str:
    """A report without what depends on the machine."""
    return re.sub(r"\s+states(,[^.]*run,)?\s+in\s+\d+\s+s\.", " states in … s.", printed)


def test_the_crash_of_a_leader_is_told_before_the_loss_of_its_session(review: Run) -> None:
    given = files(replicas=2, acks="1")
    given["server.properties"] += "auto.leader.rebalance.enable=false\ncontrolled.shutdown.enable=false\n"
    _, printed = review("3.6", given, "--json", "--faults", "1")

    assert answers(printed)["first_loss"]["faults"] == {"crash": 1}


def test_whatever_is_broken_has_its_run_in_the_report_and_folded_on_the_page(
    review: Run, tmp_path: Path
) -> None:
    given = {"producer.properties": "acks=all\n"}
    _, report = review("3.7", given, "--faults", "1", "--brokers", "1", "--html", "page.html", "--force")
    page = (tmp_path / "page.html").read_text()

    assert re.findall("✗ (\\w+) ", report) == ["durable", "committed", "writable"]
    ends = re.findall("      ✗  (.*)", report)
    assert ends == [
        "no broker has record 1 any more, which was acknowledged",
        "no broker has record 1 any more, which was committed",
        "the partition takes no writes until somebody repairs something",
    ]
    assert "The run against `writable` (1 fault, 1 step; no run has fewer faults)" in report
    assert page.count("<details>") == page.count('<article class="run"') >= 2
    again = "modelcheck kafka review producer.properties --kafka 3.7 --brokers 1 --faults 1 --max-time 300"
    assert f"Again: <code>{again}</code>" in page
