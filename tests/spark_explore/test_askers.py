"""What is asked of a table, without Spark: its tasks here, one after the other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

import modelcheck
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides
from modelcheck.asking.sweep import Orders
from spark_explore.questions import of_kafka
from spark_explore.questions.answered import (
    KEY,
    QUESTION,
    ROW,
    VALUES,
    Asker,
    AskQuestions,
    DivideRows,
    PartAsker,
    ReadQuestions,
    insist_on_type,
)
from spark_explore.questions.of_commands import CommandAsker
from spark_explore.questions.of_kafka import ConfigurationAsker, TopicAsker
from spark_explore.questions.of_models import PointAsker
from spec.diagnostics import SpecError
from spec.load import load

Rows = list[dict[str, Any]]
TOPIC = "Topic: {name}\tPartitionCount: 1\tReplicationFactor: {n}\tConfigs: min.insync.replicas=1\n"
PARTITION = "\tTopic: {name}\tPartition: 0\tLeader: 1\tReplicas: {all}\tIsr: {all}\n"


def described(topics: Mapping[str, int]) -> str:
    """What kafka-topics describes of topics with so many replicas."""
    text = ""
    for name, n in topics.items():
        brokers = ",".join(map(str, range(1, n + 1)))
        text += TOPIC.format(name=name, n=n) + PARTITION.format(name=name, all=brokers)
    return text


def read(asker: Asker, rows: Sequence[Mapping[str, Any]], token: str) -> Rows:
    """The questions of rows, as a task reads them."""
    batches: list[pa.RecordBatch] = [
        pa.RecordBatch.from_pydict(
            {ROW: [str(n) for n in range(len(rows))], VALUES: [json.dumps(row) for row in rows]}
        )
    ]
    if isinstance(asker, PartAsker):
        batches = list(DivideRows(token, sent(asker))(iter(batches)))
    task = ReadQuestions(token, sent(asker), read_schema(asker))
    return [row for each in task(iter(batches)) for row in each.to_pylist()]


def read_schema(asker: Asker) -> pa.Schema:
    """The columns of questions that are read."""
    return pa.schema([(ROW, pa.string()), *asker.told, (KEY, pa.binary()), (QUESTION, pa.binary())])


def sent(asker: Asker) -> Any:  # noqa: ANN401 - a broadcast of Spark's
    """What asks, as it is sent to tasks."""
    return SimpleNamespace(value=cloudpickle.dumps(asker))


def answers(asker: Asker, rows: Sequence[Mapping[str, Any]], token: str) -> tuple[Rows, int]:
    """Each row with its answers, in the order of the rows, and how many questions were asked."""
    table = pa.Table.from_pylist(read(asker, rows, token), schema=read_schema(asker))
    keys, asks = table[KEY].to_pylist(), table[QUESTION].is_null().to_pylist()
    order = sorted(range(table.num_rows), key=lambda at: (keys[at], asks[at]))
    answer = pa.schema([(ROW, pa.string()), *asker.told, *asker.answer])
    task = AskQuestions(token, sent(asker), answer)
    batches = table.take(order).to_batches(max_chunksize=2)  # rows of one question are in several of them
    told = [row for each in task(iter(batches)) for row in each.to_pylist()]
    return sorted(told, key=lambda row: row[ROW]), table.num_rows - table[QUESTION].null_count


def test_a_point_is_asked_once_however_its_values_are_given() -> None:
    models = load("quorum")
    checks = pick_checks(models, ["three_nodes"])
    asker = PointAsker(models, tuple(checks), Overrides(), (), Orders())
    rows: list[dict[str, object]] = [{"faults": "any"}, {}, {"faults": 0}, {"faults": "0"}, {"Node": "x"}]
    found, asked = answers(asker, rows, "points")
    here = modelcheck.sweep("quorum", "three_nodes", vary={"faults": ["any", 0]})
    states = {(row["faults"], row["property"]): row["states"] for row in here}

    assert asked == 3  # with the one of which a value does not fit
    for row in found[:-1]:
        assert row["states"] == states["any" if row[ROW] in "01" else 0, row["property"]]
        assert (row["model"], row["check"], row["problem"]) == ("quorum", "three_nodes", None)
    assert (found[-1][ROW], found[-1]["model"]) == ("4", None)
    assert found[-1]["problem"]
    assert len(found) == len({(row[ROW], row["property"]) for row in found}) == 2 * len(here) + 1


def test_two_checks_of_a_row_are_two_questions() -> None:
    models = load("quorum")
    checks = pick_checks(models, ["three_nodes", "promise_lost"])
    asker = PointAsker(models, tuple(checks), Overrides(), (), Orders())
    found = read(asker, [{"faults": 0}], "checks")

    assert [row["check"] for row in found] == ["three_nodes", "promise_lost"]
    assert len({row[KEY] for row in found}) == 2


def test_topics_of_two_clusters_are_reviewed_once_for_each_question() -> None:
    east, west = described({"a": 2, "b": 1}), described({"c": 2})
    rows: list[dict[str, object]] = [
        {"files": {"e.txt": east}, "kafka": "3.7"},
        {"files": {"w.txt": west}, "kafka": "3.7"},
        {"files": {"w.txt": west}, "kafka": "2.4"},
        {"files": {"x.txt": "nothing"}},
        {"files": {"w.txt": west}, "kafka": "3.8"},
    ]
    found, asked = answers(TopicAsker(0, 100_000), rows, "topics")
    by_topic = {(row[ROW], row["topic"]): row for row in found}

    assert asked == 5  # two replicas, one, those of other releases, and the file that has nothing
    assert sorted(by_topic, key=str) == [
        ("0", "a"),
        ("0", "b"),
        ("1", "c"),
        ("2", "c"),
        ("3", None),
        ("4", "c"),
    ]
    assert [by_topic[place]["replicas"] for place in [("0", "a"), ("0", "b"), ("1", "c")]] == [2, 1, 2]
    assert by_topic["0", "a"]["kafka"].startswith("3.7")
    assert by_topic["2", "c"]["kafka"].startswith("2.4")
    assert by_topic["0", "a"]["durable"] == "kept"
    assert by_topic["3", None]["problem"]


def large(topics: int) -> dict[str, str]:
    """The files of a cluster: each third topic lacks a replica, one is Kafka's own, one on a broker alone."""
    text = ""
    for number in range(topics):
        n, isr = 1 + number % 3, 1 + number % 2
        name, brokers = f"t{number:03}", ",".join(map(str, range(1, n + 1))) if number else "7"
        shown = brokers if number % 3 else brokers.split(",")[0]
        text += (
            f"Topic: {name}\tPartitionCount: 1\tReplicationFactor: {n}\tConfigs: min.insync.replicas={isr}\n"
        )
        text += f"\tTopic: {name}\tPartition: 0\tLeader: {brokers[0]}\tReplicas: {brokers}\tIsr: {shown}\n"
    configs = "".join(
        f"Dynamic configs for topic t{number:03} are:\n  flush.messages=1 sensitive=false synonyms={{}}\n"
        for number in range(0, topics, 5)
    )
    return {
        "topics.txt": text + described({"__consumer_offsets": 2}),
        "configs.txt": configs,
        "server.properties": "process.roles=broker\nnode.id=1\ndefault.replication.factor=3\n",
    }


def test_topics_that_are_read_in_parts_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"files": large(20), "kafka": "4.1"}]
    whole = read(TopicAsker(0, 1000), rows, "whole")
    monkeypatch.setattr(of_kafka, "PART", 3)
    asker = TopicAsker(0, 1000)
    parts = list(asker.parts(rows[0]))
    found = read(asker, rows, "parts")

    assert [len(part.topics) for part in parts] == [3, 3, 3, 3, 3, 3, 3, 2]
    for part in parts[:-1]:  # the last is of topics that no file names, as all others let them be
        named = {topic.name for file in part.readings for topic in file.topics}
        assert named == {*part.topics, "__consumer_offsets"}
    assert len({row["topic"] for row in whole}) == len(whole) == 20 + 3  # with Kafka's own
    assert [{**row, QUESTION: None} for row in found] == [{**row, QUESTION: None} for row in whole]
    assert len({row[KEY] for row in whole}) > 6


def test_a_row_has_no_more_parts_than_are_worth_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_kafka, "PART", 1)
    monkeypatch.setattr(of_kafka, "PARTS", 4)
    parts = list(TopicAsker(0, 1000).parts({"files": large(19), "kafka": "4.1"}))

    assert [len(part.topics) for part in parts] == [5, 5, 5, 5, 2]


def test_a_question_has_no_text_of_files() -> None:
    files = large(30)
    found = read(TopicAsker(0, 1000), [{"files": files, "kafka": "4.1"}], "texts")
    sent = [row[QUESTION] for row in found if row[QUESTION] is not None]

    assert len(sent) > 6
    assert b"topics.txt" in sent[0]
    assert not any(b"ReplicationFactor" in question for question in sent)
    assert found[0]["replicas_from"] == "of topic t000 at topics.txt:1"


def test_a_topic_that_cannot_be_is_the_only_one_with_a_problem() -> None:
    text = described({"a": 5, "b": 1, "c": 1})
    rows = [{"files": {"topics.txt": text}, "kafka": "3.7", "brokers": 3}]
    found, _ = answers(TopicAsker(0, 1000), rows, "one topic")
    by_topic = {row["topic"]: (row["durable"], row["problem"] is None) for row in found}

    assert by_topic == {"a": (None, False), "b": ("kept", True), "c": ("kept", True)}


@pytest.mark.parametrize(
    "options",
    [
        *({"kafka": "x"}, {"kafka": 3}, {"client": "cobol 1"}, {"client": True}),
        *({"brokers": 0}, {"brokers": 3.5}, {"brokers": "many"}, {"brokers": True}, {"brokers": 10**30}),
    ],
)
def test_an_option_that_cannot_be_is_one_problem_of_its_cluster(options: Mapping[str, object]) -> None:
    rows = [{"files": {"topics.txt": described({"a": 1, "b": 1})}, **options}]
    found, asked = answers(TopicAsker(0, 1000), rows, f"option {options}")

    assert asked == 1
    assert [row["topic"] for row in found] == [None]
    assert found[0]["problem"]


@pytest.mark.parametrize("files", [None, {}, {"topics.txt": described({"a": 1}), "none.txt": None}])
def test_a_row_without_a_text_has_a_problem(files: object) -> None:
    found, _ = answers(TopicAsker(0, 1000), [{} if files is None else {"files": files}], f"files {files}")

    assert [bool(row["problem"]) for row in found] == [True]


def test_options_are_of_any_type_that_tells_them() -> None:
    files = {"server.properties": "default.replication.factor=2\n"}
    rows: list[dict[str, object]] = [
        {"files": files, "kafka": "3.7", "brokers": 3},
        {"files": files, "kafka": 3.7, "brokers": "3"},
    ]
    found = read(TopicAsker(0, 1000), rows, "types")
    one, other = ([told_of(row) | {QUESTION: None} for row in found if row[ROW] == which] for which in "01")

    assert one == other != []


def test_topics_with_other_replicas_are_other_questions() -> None:
    create = (
        "kafka-topics.sh --create --bootstrap-server b:9092 --partitions 1 --topic t --replication-factor"
    )
    rows = [
        {"files": {"topics.sh": f"#!/bin/sh\n{create} {n}\n"}, "kafka": "3.7", "brokers": 3} for n in (2, 3)
    ]
    found = read(TopicAsker(0, 1000), rows, "replicas")

    assert [row["replicas"] for row in found] == [2, 3]
    assert len({row[KEY] for row in found}) == 2


def test_brokers_of_a_row_are_those_of_its_cluster() -> None:
    files = {"server.properties": "default.replication.factor=2\n"}
    rows = [{"files": files, "kafka": "3.7", "brokers": n} for n in (3, 5)]

    assert {row["brokers"] for row in read(TopicAsker(0, 1000), rows, "brokers")} == {3, 5}


def test_configurations_that_no_answer_tells_apart_are_asked_once() -> None:
    rows: list[dict[str, object]] = [
        {"acks": "1", "replication.factor": 2, "kafka": "3.7"},
        {"acks": "all", "replication.factor": 2, "kafka": "3.7"},
        {"acks": "ALL", "replication.factor": "2", "kafka": "3.7"},
        {"acks": "some"},
    ]
    found, asked = answers(ConfigurationAsker(("durable",), 1, 100_000), rows, "configurations")
    mixed = {row[ROW]: row for row in found if row["faults_of"] == "any"}

    assert asked == 3
    assert mixed["0"]["lost_with"] == 0  # leadership is moved
    assert mixed["1"]["survives"] == 1
    assert not mixed["1"]["survives_any"]
    assert told_of(mixed["1"]) == told_of(mixed["2"]) != told_of(mixed["0"])
    assert mixed["0"]["run"]
    assert [row["problem"] is None for row in found if row[ROW] == "3"] == [False]


def told_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without the number that it has."""
    return {name: value for name, value in row.items() if name != ROW}


@pytest.mark.parametrize(
    "words",
    [
        ("quorum", "--check", "no_such"),
        ("quorum", "--no-such-option"),
        ("quorum", "--next-scope", "--all"),
        ("quorum", "--help"),
        ("quorum", None),
    ],
)
def test_words_that_a_command_does_not_know_are_its_problem(words: Sequence[str | None]) -> None:
    found, asked = answers(CommandAsker("check"), [{"words": words}, {"words": words}], str(words))

    assert asked == 1
    assert [row["exit"] for row in found] == [None, None]
    assert found[0]["problem"]


def test_a_column_of_another_type_is_refused() -> None:
    rows: Any = SimpleNamespace(schema=StructType([StructField("words", StringType())]))

    with pytest.raises(SpecError, match="`words` is string, and no array<string>"):
        insist_on_type(rows, "words", ArrayType(StringType()))


def test_a_command_answers_with_its_data() -> None:
    words = ["quorum", "--check", "three_nodes"]
    found, _ = answers(CommandAsker("check"), [{"words": words}], "data")

    assert found[0]["exit"] == 0
    assert json.loads(found[0]["data"])[0]["check"] == "three_nodes"
