"""Policies: what topics are required to survive, by a file of a repository."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.policy.policy import Policy
from modelcheck.kafka.policy.read import read_policy
from spec.diagnostics import SpecError
from spec.source import Source

RULES = """
[[require]]
topics = "*"
guarantees = ["durable:1"]

[[require]]
topics = ["payments.*", "ledger"]
guarantees = ["durable:2", "writable:1:crash"]
owner = "payments"
why = "money is booked by them"

[[except]]
topics = "payments.cache"
guarantees = ["durable:1"]
until = 2027-01-31
owner = "payments"
why = "it is filled anew each night"
"""
BEFORE, AFTER = date(2027, 1, 31), date(2027, 2, 1)


def policy(text: str = RULES) -> Policy:
    return read_policy(Source("modelcheck.toml", text))


def wanted(topic: str, today: date = BEFORE) -> list[str]:
    return list(map(str, policy().required(topic, today).requirements))


def test_all_rules_for_a_topic_count() -> None:
    assert wanted("clicks") == ["durable:1"]
    assert wanted("ledger") == ["durable:1", "durable:2", "writable:1:crash"]
    assert wanted("payments.eu") == wanted("ledger")
    assert list(map(str, policy().requirements)) == ["durable:1", "durable:2", "writable:1:crash"]


def test_an_exception_from_fewer_faults_is_one_from_more_of_the_same_kind() -> None:
    assert wanted("payments.cache") == ["writable:1:crash"]
    assert policy().required("payments.cache", BEFORE).exempted == (
        "durable:1 until 2027-01-31 (modelcheck.toml:12, payments: it is filled anew each night)",
        "durable:2 until 2027-01-31 (modelcheck.toml:12, payments: it is filled anew each night)",
    )


def test_after_its_day_an_exception_ends_and_the_reason_says_so() -> None:
    found = policy().required("payments.cache", AFTER)

    assert [str(each) for each in found.requirements] == ["durable:1", "durable:2", "writable:1:crash"]
    assert found.exempted == ()
    assert [each.by for each in found.requirements] == [
        "modelcheck.toml:2; the exception at line 12 ended on 2027-01-31",
        "modelcheck.toml:6, payments: money is booked by them; the exception at line 12 ended on 2027-01-31",
        "modelcheck.toml:6, payments: money is booked by them",
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "", "the policy requires nothing"),
        ("[[require]\n", "]", "this is no TOML: Expected ']]' at the end of an array declaration"),
        ("[[requires]]\n" + RULES, "[[requires]]", "a policy has no `requires`"),
        ("limit = 3\n" + RULES, "limit", "a policy has no `limit`"),
        ('[require]\ntopics = "*"\n', "[require]", "`require` is a list of entries"),
        ('[[require]]\ntopic = "*"\n', "topic", "[[require]] has no `topic`"),
        ('[[require]]\ntopics = "*"\n', "[[require]]", "`guarantees` is missing"),
        ('[[require]]\nguarantees = "durable:1"\n', "[[require]]", "`topics` is missing"),
        ('[[require]]\ntopics = 3\nguarantees = "durable:1"\n', "topics", "a text or a list of them"),
        (
            '[[require]]\ntopics = "*"\nguarantees = ["durable:1", "durabel:1"]\n',
            '"durabel:1"',
            "there is no guarantee `durabel`",
        ),
        (
            '[[require]]\ntopics = "*"\nguarantees = "durable:1"\nowner = 3\n',
            "owner",
            "`owner` is a text",
        ),
        (
            '[[except]]\ntopics = "*"\nguarantees = "durable:1"\n',
            "[[except]]",
            "an exception ends on a day",
        ),
        (
            '[[except]]\ntopics = "*"\nguarantees = "durable:1"\nuntil = "2027-01-31"\n',
            "until",
            "`until` is a day",
        ),
        (
            'except = [{ topics = "*", guarantees = "durable:1", until = 3 }]\n'
            + RULES[: RULES.index("[[except")],
            "except",
            "`until` is a day",
        ),
    ],
)
def test_a_mistake_is_reported_at_its_place(text: str, place: str, message: str) -> None:
    given = text if "requir" in text or not text else text + RULES

    with pytest.raises(SpecError) as caught:
        policy(given)

    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.code == ("R0732" if "no guarantee" in message else "R0750")
    assert found.span is not None
    assert given[found.span.start : found.span.end] == place
    assert found.help


# ------------------------------------------------------------------ the command

TOPICS = (
    "Topic: clicks\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:\n"
    "\tTopic: clicks\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    "Topic: ledger\tPartitionCount: 1\tReplicationFactor: 2\tConfigs:\n"
    "\tTopic: ledger\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
)
OF_ONE = """
[[require]]
topics = "*"
guarantees = "durable:1"

[[except]]
topics = "clicks"
guarantees = "durable:1"
until = {until}
"""


def review(folder: Path, *options: str) -> int:
    """The exit code of a review of both topics, under a release that leaves one case."""
    (folder / "topics.txt").write_text(TOPICS, "utf-8")
    (folder / "server.properties").write_text("process.roles=broker\nnode.id=1\nlog.dirs=/d\n", "utf-8")
    (folder / "producer.properties").write_text("acks=all\nbootstrap.servers=a\n", "utf-8")
    files = [str(folder / name) for name in ("topics.txt", "server.properties", "producer.properties")]
    return main(["kafka", "review", *files, "--kafka", "3.9", "--all-topics", "--faults", "1", *options])


def test_a_topic_that_is_exempted_fails_no_review_until_its_day_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "modelcheck.toml"

    path.write_text(OF_ONE.format(until="2999-12-31"), "utf-8")
    assert review(tmp_path, "--policy", str(path)) == Exit.EXPECTED
    assert "exempted durable:1 until 2999-12-31" in capsys.readouterr().out

    path.write_text(OF_ONE.format(until="2020-01-01"), "utf-8")
    assert review(tmp_path, "--policy", str(path)) == Exit.VIOLATED
    assert "the exception at line 6 ended on 2020-01-01" in " ".join(capsys.readouterr().out.split())


def test_a_policy_to_begin_with_is_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.toml"

    assert review(tmp_path, "--write-policy", str(path)) == Exit.EXPECTED
    assert '  "clicks",' in path.read_text("utf-8")
    assert review(tmp_path, "--policy", str(path)) == Exit.EXPECTED
    assert review(tmp_path, "--require", "durable:1") == Exit.VIOLATED
    assert "durable:1: NOT met by clicks" in " ".join(capsys.readouterr().out.split())


def test_a_requirement_that_some_kinds_break_says_which_narrower_ones_are_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert review(tmp_path, "--require", "durable:1") == Exit.VIOLATED
    text = " ".join(capsys.readouterr().out.split())

    assert "because of power, disk" in text
    assert "durable:1:crash" in text
