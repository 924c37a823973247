"""Topics of many clusters, configurations and commands as tables have the answers of the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spark_explore.questions.of_commands import commands
from spark_explore.questions.of_kafka import frontier, reviews
from spec.diagnostics import SpecError

TOPIC = "Topic: {name}\tPartitionCount: 1\tReplicationFactor: {n}\tConfigs: min.insync.replicas={isr}\n"
PARTITION = "\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: {all}\tIsr: {all}\n"
REVIEW = ("kafka", "review", "topics.txt", "--kafka", "3.7", "--all-topics", "--faults", "1")
pytestmark = pytest.mark.spark


def described(*topics: tuple[str, int, int]) -> str:
    """What kafka-topics describes: name, replicas, and `min.insync.replicas` of each topic."""
    text = ""
    for name, n, isr in topics:
        brokers = ",".join(map(str, range(1, n + 1)))
        text += TOPIC.format(name=name, n=n, isr=isr) + PARTITION.format(name=name, all=brokers)
    return text


TOPICS = described(("a", 2, 1), ("b", 2, 1), ("c", 1, 1))


def test_each_topic_has_the_row_that_the_command_writes(
    local_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text(TOPICS)
    main([*REVIEW, "--csv", "here.csv"])
    with Path("here.csv").open(newline="") as file:
        here = {row["topic"]: row for row in csv.DictReader(file)}
    clusters = [("east", {"topics.txt": TOPICS}), ("west", {"topics.txt": described(("a", 1, 1))})]
    asked = local_spark.createDataFrame(
        [(name, "3.7", files) for name, files in [*clusters, ("none", {"x.txt": "nothing"})]],
        "region string, kafka string, files map<string,string>",
    )
    table = reviews(asked, faults=1).collect()
    east = {row["topic"]: row for row in table if row["region"] == "east"}
    west = {row["topic"]: row for row in table if row["region"] == "west"}

    assert {name: told(row.asDict(), here[name]) for name, row in east.items()} == here_of(here)
    assert west["a"]["durable"] == here["c"]["durable"]
    (none,) = (row for row in table if row["region"] == "none")
    assert none["problem"]
    assert none["topic"] is None


def told(row: dict[str, object], among: dict[str, str]) -> dict[str, str]:
    """A row as the command writes it, of the columns that it has."""
    plain = {True: "yes", False: "no", None: ""}
    return {
        name: plain[value] if value is None or isinstance(value, bool) else str(value)
        for name, value in row.items()
        if name in among
    }


def here_of(rows: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The rows of the command without the columns that are of its options."""
    options = ("today", "policy", "required", "not_met", "exempted")
    return {
        topic: {name: value for name, value in row.items() if name not in options}
        for topic, row in rows.items()
    }


def test_reviews_on_spark_are_those_of_the_command(
    local_spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text(TOPICS)
    codes = [main([*REVIEW, "--csv", "spark.csv", "--engine", "spark"]), main([*REVIEW, "--csv", "here.csv"])]

    assert codes == [Exit.EXPECTED, Exit.EXPECTED]
    assert Path("spark.csv").read_text() == Path("here.csv").read_text()
    assert main(["kafka", "review", "topics.txt", "--topic", "a", "--engine", "spark"]) == Exit.WRONG
    assert "--engine spark is for many topics: add --all-topics" in capsys.readouterr().err


def test_a_frontier_on_spark_is_that_of_the_command(
    local_spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["kafka", "frontier", "kafka", "--over", "replication.factor=1,2", "--over", "acks=1,all"]
    found = []
    for engine in ((), ("--engine", "spark")):
        assert main([*words, "--faults", "1", "--json", *engine]) == Exit.EXPECTED
        found.append({**json.loads(capsys.readouterr().out), "seconds": 0})
    configurations = local_spark.createDataFrame(
        [(1, "1"), (1, "all"), (2, "1"), (2, "all"), (9, "all"), (2, None)],
        "`replication.factor` int, acks string",
    )
    table = frontier(configurations.selectExpr("*", "'x' as team"), faults=1).collect()
    rows = {
        (row["replication.factor"], row["acks"], row["guarantee"], row["faults_of"]): row for row in table
    }

    assert found[0] == found[1]
    for each in found[0]["configurations"]:
        values = each["values"]
        for guarantee, answers in each["answers"].items():
            for kind, answer in answers.items():
                row = rows.get((int(values["replicas"]), values["acks"], guarantee, kind))
                assert (row is None) == (answer is None)
                if row is not None:
                    assert row["lost_with"] == answer["lost_with"]
                    assert ("any" if row["survives_any"] else row["survives"]) == answer["survives"]
    assert all(row["problem"] for row in table if row["replication.factor"] == 9)  # of at most seven
    with pytest.raises(SpecError, match="no column is a key of Kafka"):
        frontier(local_spark.range(3), faults=1)


def test_commands_have_the_answers_of_the_command_line(
    local_spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [["quorum", "--check", "three_nodes", "--simulate", "20", "--seed", seed] for seed in "121"]
    words.append(["quorum", "--check", "no_such"])
    asked = local_spark.createDataFrame(
        [(n, each) for n, each in enumerate(words)], "n int, words array<string>"
    )
    rows = sorted(commands(asked, "check").collect())
    main(["check", *words[0], "--json"])
    here = json.loads(capsys.readouterr().out)

    assert [row["exit"] for row in rows] == [here[0]["exit"]] * 3 + [None]
    assert rows[0]["data"] == rows[2]["data"] != rows[1]["data"]
    assert json.loads(rows[0]["data"])[0]["stats"]["taken"] == here[0]["stats"]["taken"]
    assert "no_such" in rows[3]["problem"]
    with pytest.raises(SpecError, match="`chekc` is not asked of a table"):
        commands(asked, "chekc")
