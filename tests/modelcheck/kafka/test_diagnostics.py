"""What a reviewer reads when an input is wrong, to the letter."""

# ruff: noqa: E501 - messages stand as they are shown

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from modelcheck.kafka.questions.question import requirement
from modelcheck.kafka.settings.readers.recognition import read_bytes
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.codes import codes
from spec.diagnostics import SpecError, render

HERE = Path(__file__).parent
OURS = Path(__file__).parents[3] / "modelcheck"


def told(name: str, text: str, *, kafka: str | None, brokers: int | None = None) -> str:
    """Everything that a review says of one file: its errors, or when there is none its warnings."""
    try:
        found = resolve([read_bytes(name, text.encode())], kafka=kafka, brokers=brokers)
    except SpecError as error:
        return str(error)
    return "\n".join(render(warning) for warning in found.warnings)


CASES = {
    "misspelt": (
        "server.properties",
        "broker.id=1\nmin.insync.replica=2\n",
        "3.7",
        """\
server.properties:2:1: error[R0712]: Kafka has no key `min.insync.replica` and ignores it
    2 | min.insync.replica=2
      | ^^^^^^^^^^^^^^^^^^ how many in-sync replicas there must be for a write with acks=all to be accepted
  help: did you mean `min.insync.replicas`?""",
    ),
    "boolean": (
        "server.properties",
        "unclean.leader.election.enable = yes\n",
        "3.7",
        """\
server.properties:1:34: error[R0713]: `unclean.leader.election.enable` must be true or false
    1 | unclean.leader.election.enable = yes
      |                                  ^^^
  help: write `true`""",
    ),
    "acks": (
        "producer.properties",
        "acks=2\n",
        "3.7",
        """\
producer.properties:1:6: error[R0720]: `acks=2`: it is 0, 1, or all (-1); until Kafka 0.8.2 the old producer had others
    1 | acks=2
      |      ^
  help: to have 2 replicas hold a record, write `acks=all` and `min.insync.replicas=2`""",
    ),
    "idempotence": (
        "producer.properties",
        "enable.idempotence=true\nacks=1\n",
        "3.7",
        """\
producer.properties:2:6: error[R0718]: `acks=1` contradicts `enable.idempotence=true`: such a producer does not start
    2 | acks=1
      |      ^
producer.properties:1:20: note: idempotence is asked for here
    1 | enable.idempotence=true
      |                    ^^^^
  help: write `acks=all`, or `enable.idempotence=false` if records may be lost or doubled""",
    ),
    "min insync above the factor, before 3.7": (
        "server.properties",
        "default.replication.factor=2\nmin.insync.replicas=3\n",
        "3.6",
        """\
server.properties:2:21: error[R0716]: `min.insync.replicas=3` is more than the topic's 2 replicas
    2 | min.insync.replicas=3
      |                     ^
server.properties:1:28: note: the number of replicas is given here
    1 | default.replication.factor=2
      |                            ^
  help: Kafka 3.6 refuses every write with acks=all; at most 2 can be met, and 1 while a replica is down""",
    ),
    "not yet a key": (
        "server.properties",
        "unclean.leader.election.enable=false\n",
        "0.8.1",
        """\
server.properties:1:1: error[R0715]: `unclean.leader.election.enable` came with Kafka 0.8.2; Kafka 0.8.1 ignores it
    1 | unclean.leader.election.enable=false
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ any replica alive becomes leader when no in-sync one is left""",
    ),
    "given twice": (
        "server.properties",
        "default.replication.factor=3\nmin.insync.replicas=1\nmin.insync.replicas=2\n",
        "3.6",
        """\
server.properties:3:21: error[R0714]: `min.insync.replicas` is given twice, and the last one counts
    3 | min.insync.replicas=2
      |                     ^
server.properties:2:21: note: here it is `1`
    2 | min.insync.replicas=1
      |                     ^""",
    ),
    "wrong file": (
        "server.properties",
        "broker.id=1\nacks=all\n",
        "3.7",
        """\
server.properties:2:1: error[R0723]: `acks` is a producer setting; in broker properties Kafka does not read it
    2 | acks=all
      | ^^^^ taken as the producer's
  help: move it to the producer's configuration, and check what the producers really use""",
    ),
    "an open version": (
        "producer.properties",
        "acks=all\n",
        "0.8",
        """\
--kafka:1:1: error[R0710]: Kafka `0.8` may be any of 0.8.0 to 0.8.2, and they differ
    1 | 0.8
      | ^^^
  help: give one of: 0.8.0, 0.8.1, 0.8.2""",
    ),
    "a platform's version": (
        "producer.properties",
        "acks=all\n",
        "7.6",
        """\
--kafka:1:1: error[R0710]: there is no Kafka 7.6 that is known here; the newest known is 4.4
    1 | 7.6
      | ^^^
  help: Confluent Platform 7.6 carries Kafka 3.6""",
    ),
    "escape": (
        "server.properties",
        "log.dirs=C:\\users\n",
        None,
        """\
server.properties:1:12: error[R0709]: `\\u` needs four hexadecimal digits
    1 | log.dirs=C:\\users
      |            ^^^^^^
  help: a backslash itself is written `\\\\`, as in a Windows path""",
    ),
    "yaml": (
        "kafka.yaml",
        "kind: Kafka\nspec:\n  kafka:\n    replicas: 3\n   config: {}\n",
        None,
        """\
kafka.yaml:5:4: error[R0707]: this is not YAML: expected <block end>, but found '<block mapping start>'
    5 |    config: {}
      |    ^
kafka.yaml:3:3: note: while parsing a block mapping
    3 |   kafka:
      |   ^""",
    ),
    "a count that is none": (
        "topic.yaml",
        "kind: KafkaTopic\nmetadata: {name: a}\nspec: {replicas: three}\n",
        None,
        """\
topic.yaml:3:18: error[R0728]: spec.replicas must be a whole number
    3 | spec: {replicas: three}
      |                  ^^^^^""",
    ),
    "cut output": (
        "topics.txt",
        "Topic: a\tPartitionCount: 1\tReplicationFactor: …\tConfigs: a=b\n",
        None,
        """\
topics.txt:1:47: error[R0727]: `…` is not a number that kafka-topics prints here
    1 | Topic: a PartitionCount: 1 ReplicationFactor: … Configs: a=b
      |                                               ^
  help: give the tool's output as it came; a line may have been cut or wrapped""",
    ),
    "several topics": (
        "configs.txt",
        "Configs for topic 'a' are min.insync.replicas=2\nConfigs for topic 'b' are min.insync.replicas=1\n",
        None,
        """\
configs.txt:2:20: error[R0721]: there are 2 topics, and a review is of one
    2 | Configs for topic 'b' are min.insync.replicas=1
      |                    ^
  help: choose one with --topic, or --all-topics: a, b""",
    ),
    "prose": (
        "notes.txt",
        "We run three brokers.\n",
        None,
        """\
notes.txt: error[R0706]: nothing in this file is a setting of Kafka
  help: give server, topic or producer properties, what kafka-configs or kafka-topics --describe print, or one of the other forms that `modelcheck kafka review --help` lists""",
    ),
    "protocol ahead": (
        "server.properties",
        "inter.broker.protocol.version=3.0\n",
        "2.8",
        """\
server.properties:1:31: error[R0729]: `inter.broker.protocol.version=3.0` is newer than Kafka 2.8, which does not start with it
    1 | inter.broker.protocol.version=3.0
      |                               ^^^
  help: Kafka is 2.8 as asked for""",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_reads_like_this(case: str) -> None:
    name, text, kafka, expected = CASES[case]

    assert told(name, text, kafka=kafka) == expected


def test_more_replicas_than_brokers_reads_like_this() -> None:
    found = told("server.properties", "default.replication.factor=3\n", kafka="3.7", brokers=2)

    assert found == (
        "server.properties:1:28: error[R0717]: 3 replicas need as many brokers, and there are 2 (as asked for)\n"
        "    1 | default.replication.factor=3\n"
        "      |                            ^\n"
        "  help: Kafka refuses to create such a topic; lower the replication factor or add brokers"
    )


def codes_in(folder: Path) -> set[str]:
    return {
        node.value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith("R07")
        and len(node.value) == 5
    }


def test_every_code_is_registered_used_and_tested() -> None:
    registered = {code for code in codes() if code.startswith("R07")}
    used = codes_in(OURS / "kafka") | codes_in(OURS / "commands" / "kafka")
    texts = "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("test_*.py"))

    assert used == registered
    assert {code for code in registered if code not in texts} == set()


def test_a_requirement_that_cannot_be_read_is_r0732() -> None:
    with pytest.raises(SpecError) as error:
        requirement("durabel:1")

    assert [(d.code, d.help) for d in error.value.diagnostics] == [("R0732", "did you mean `durable`?")]
