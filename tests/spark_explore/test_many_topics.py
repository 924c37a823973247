"""Thousands of topics in many clusters: each is read once, at the same cost, and few of them are asked."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_explore.questions.answered import Asked, Asker, TableQuestion, answered
from spark_explore.questions.of_kafka import TopicAsker

BROKERS = 9
TOPIC = "Topic: {name}\tPartitionCount: {parts}\tReplicationFactor: {n}\tConfigs: {configs}\n"
PARTITION = "\tTopic: {name}\tPartition: {part}\tLeader: {first}\tReplicas: {all}\tIsr: {all}\n"
SHAPES = [  # replicas, partitions and configs, which ask six questions
    (n, parts, f"min.insync.replicas={isr}{more}")
    for n, isr in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 3))
    for parts in (1, 4)
    for more in ("", ",retention.ms=604800000", ",cleanup.policy=compact")
]
QUESTIONS = 6
SERVER = "process.roles=broker,controller\nnode.id=1\ndefault.replication.factor=3\nlog.dirs=/var/lib/kafka\n"
PRODUCER = "acks=all\nbootstrap.servers=a:9092\n"


def cluster(number: int, topics: int) -> dict[str, str]:
    """The files of a cluster, with the replicas of each topic anywhere."""
    chance, text = random.Random(number), ""  # noqa: S311 - no secret
    for place in range(topics):
        n, parts, configs = SHAPES[place % len(SHAPES)]
        name = f"{chance.choice(['orders', 'payments', 'clicks'])}.{place:05}"
        text += TOPIC.format(name=name, parts=parts, n=n, configs=configs)
        for part in range(parts):
            nodes = chance.sample(range(1, BROKERS + 1), n)
            each = ",".join(map(str, nodes))
            text += PARTITION.format(name=name, part=part, first=nodes[0], all=each)
    return {"topics.txt": text, "server.properties": SERVER, "producer.properties": PRODUCER}


def calls(topics: int) -> int:
    """The functions that are called to read a cluster of so many topics."""
    asker = TopicAsker(0, 1000)
    called, values = 0, {"files": cluster(0, topics), "kafka": "4.1", "brokers": BROKERS}

    def tell(_frame: object, event: str, _about: object) -> None:
        nonlocal called
        called += event == "call"

    sys.setprofile(tell)
    try:
        read = sum(1 for part in asker.parts(values) for _ in asker.read(part))
    finally:
        sys.setprofile(None)
    assert read > topics  # Kafka's own are there too
    return called


def test_a_topic_costs_the_same_in_a_larger_cluster() -> None:
    calls(2)  # what is remembered from then on
    few, more, most = map(calls, (36, 72, 144))

    assert most - more < 2.1 * (more - few)
    assert (most - more) / 72 < 8000  # of Python's functions; 21,000 when versions were parsed each time


def noting(notes: Path) -> Asker:
    """What reviews topics, and notes each cluster that it reads and each question that it asks."""
    own = TopicAsker(0, 100_000)

    class NotingAsker:  # in here it goes to the workers, which do not have this module
        told = own.told
        answer = own.answer
        mail = own.mail

        def parts(self, values: Asked) -> Iterator[Any]:
            with notes.open("a") as file:
                file.write("read\n")
            return own.parts(values)

        def read(self, values: Any) -> Iterator[TableQuestion]:  # noqa: ANN401 - as its protocol
            return own.read(values)

        def ask(self, question: Any) -> Iterator[Any]:  # noqa: ANN401 - as its protocol
            with notes.open("a") as file:
                file.write("asked\n")
            return own.ask(question)

    return NotingAsker()


@pytest.mark.spark
def test_topics_of_many_clusters_are_read_once_and_few_are_asked(
    local_spark: SparkSession, tmp_path: Path
) -> None:
    clusters = [(f"c{n}", "4.1", BROKERS, cluster(n, 36)) for n in range(20)]
    asked = local_spark.createDataFrame(
        clusters, "region string, kafka string, brokers int, files map<string,string>"
    )
    columns = ["files", "kafka", "brokers"]
    rows = answered(asked, columns, noting(tmp_path / "notes"), keeps=False).collect()
    notes = (tmp_path / "notes").read_text().splitlines()
    topics = [row for row in rows if not row["topic"].startswith("__")]

    assert notes.count("read") == 20
    assert notes.count("asked") == QUESTIONS  # the topics of Kafka itself are as some of those
    assert len(topics) == len({(row["region"], row["topic"]) for row in topics}) == 20 * 36
    for row in topics:
        n, _, configs = SHAPES[int(row["topic"].rpartition(".")[2])]
        assert (row["replicas"], row["problem"]) == (n, None)
        assert row["min_insync_replicas"] == int(configs.partition("=")[2].partition(",")[0])
        assert row["durable"] == "kept"
