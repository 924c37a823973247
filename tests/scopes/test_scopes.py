"""A review's answers do not change with a larger scope: `python -m tests.scopes` asks all, and these some."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.asking.next_scope.larger import is_monotone, limits
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.kafka.questions.answers import ask_all, ask_mixed
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.question import GUARANTEES, as_check, group_of, under_any
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from modelcheck.kafka.report.wording import cell, sentence
from modelcheck.kafka.settings.resolution.settings import resolve
from tests.configurations import read
from tests.scopes.asked import Comparing
from tests.scopes.grid import RAISED, jobs, larger
from tests.scopes.record import model, questions, recorded

LIMITS = Path(__file__).parents[2] / "docs/explanation/limits.md"
Table = dict[str, dict[str, str]]


def reviewed(kafka: str, broker: str, *, replicas: int = 3) -> Table:
    """What a review prints for a producer with `acks=all`, by guarantee and row, and its sentences."""
    subject = subject_of(kafka, broker, replicas=replicas)
    with Asking(Effort(threads=1), Unwatched()) as asking:
        found = ask_all(asking, subject, 2, ask_mixed(asking, subject, 2))
    table: Table = {}
    for each in found:
        table.setdefault(each.guarantee.name, {})[each.kind] = cell(each)[0]
        table.setdefault("in words", {})[f"{each.guarantee.name} {each.kind}"] = sentence(each)
    return table


def subject_of(kafka: str, broker: str, *, replicas: int = 3, acks: str = "all") -> PartitionModel:
    clean = "unclean.leader.election.enable=false\n"
    server = f"broker.id=1\ndefault.replication.factor={replicas}\n{broker or clean}"
    producer = f"bootstrap.servers=b:9092\nacks={acks}\n"
    given = read(server, "server.properties"), read(producer, "producer.properties")
    return partition(resolve(given, kafka=kafka, brokers=replicas))


@pytest.mark.parametrize(
    ("kafka", "broker"),
    [
        ("1.0.0", "unclean.leader.election.enable=false\nmin.insync.replicas=2\n"),
        ("1.0.0", "unclean.leader.election.enable=false\nmin.insync.replicas=1\n"),
        ("0.9.0.1", "unclean.leader.election.enable=false\nmin.insync.replicas=1\n"),
        ("0.8.2.2", "unclean.leader.election.enable=false\nmin.insync.replicas=2\n"),
        ("0.8.2.2", "min.insync.replicas=1\nunclean.leader.election.enable=true\n"),
    ],
)
def test_before_2_0_consumers_read_uncommitted_records_without_a_fault(kafka: str, broker: str) -> None:
    read_ = reviewed(kafka, broker)["read"]
    rows = ("move", "session", "cutoff", "crash", "power", "disk", "any")

    assert [read_[row] for row in rows] == ["no", "1", "1", "1", "1", "1", "no"]


def test_moves_of_the_leadership_count_beside_faults() -> None:
    found = reviewed("2.0.0", "unclean.leader.election.enable=false\nmin.insync.replicas=2\n")
    committed = found["committed"]

    assert (committed["move"], committed["isolation"], committed["any"]) == ("ok", "2+", "0")
    assert "while leadership is moved" in found["in words"]["committed any"]


def test_three_moves_without_a_fault_lose_what_two_do_not() -> None:
    assert (
        reviewed("1.0.0", "unclean.leader.election.enable=false\nmin.insync.replicas=2\n")["durable"]["move"]
        == "no"
    )
    assert reviewed("0.9.0.1", "", replicas=2)["durable"]["move"] == "no"


def test_a_request_is_lost_no_more_often_than_there_are_records() -> None:
    subject = subject_of("3.7", "", replicas=2, acks="0")
    with Asking(Effort(threads=1), Unwatched()) as asking:
        found = ask_all(asking, subject, 2, ask_mixed(asking, subject, 2))

    lost = {each.guarantee.name: cell(each)[0] for each in found if each.kind == "request"}
    assert lost == {"durable": "0", "committed": "2+", "read": "2+", "consistent": "2+", "writable": "all"}


def test_logs_with_room_for_more_than_all_records_add_no_state() -> None:
    subject = subject_of("3.7", "unclean.leader.election.enable=false\nmin.insync.replicas=2\n")
    question = under_any(subject, group_of(GUARANTEES[0]), 1)
    checked, asked = as_check(subject, question)
    more = replace(asked.scope, nats={**asked.scope.nats, "Offset": asked.scope.nats["Offset"] + 1})
    counts = [
        check(checked, each, engine=ExplicitEngine(), symmetry=True).findings.stats.states
        for each in (asked, replace(asked, scope=more))
    ]

    assert counts[0] == counts[1] > 4_000


# ------------------------------------------------------------------ the grid


def test_the_grid_was_asked_of_the_model_and_the_questions_as_they_are() -> None:
    found = recorded()

    assert (found["model"], found["questions"]) == (model(), questions(jobs())), (
        "ask again: python -m tests.scopes"
    )


def test_no_larger_scope_changes_an_answer_of_the_grid() -> None:
    found = recorded()

    assert [row["raised"] for row in found["rows"]] == [str(each) for each in RAISED]
    assert all(row["jobs"] > 0 for row in found["rows"])
    assert found["left"] == 0
    assert [row["different"] for row in found["rows"]] == [[] for _ in RAISED]


def test_the_page_of_limits_says_how_many_answers_no_larger_scope_changes() -> None:
    rows = recorded()["rows"]
    cells, unknown = sum(row["cells"] for row in rows), sum(len(row["unknown"]) for row in rows)

    said = f"of {cells:,} answers none changes, and {unknown} ("
    assert said in LIMITS.read_text(encoding="utf-8")


def test_records_and_offsets_are_limits_so_that_each_alone_lies_between() -> None:
    """One record more, or one offset more, changes nothing that both together do not: NOTE(monotone)."""
    for job in jobs():
        for posed in job.posed:
            if posed.check.scope.nats["Record"]:
                assert limits(posed.model) >= {"Record", "Offset"}
                assert is_monotone(posed.model, posed.check)


def test_some_of_the_grid_is_asked_again() -> None:
    small = [job for job in jobs() if len(job.mixture.check.scope.sorts["Broker"]) == 2]
    comparing = Comparing(tuple(small[::100]))
    found = [comparing(number) for number in range(len(small[::100]))]

    assert [cell for one in found for each in one.compared for cell in each.different + each.unknown] == []


def test_a_scope_that_is_too_small_is_found() -> None:
    """With one record in place of two the comparison sees what the second one changes."""
    old = next(job for job in jobs() if job.mixture.check.scope.config["truncation"] == 1)  # KIP-101
    one = larger(old, replace(RAISED[0], nats={"Record": -1, "Offset": -1}))
    assert one is not None
    comparing = Comparing((one,), (RAISED[0].name,))

    assert any(cell.guarantee == "read" for each in comparing(0).compared for cell in each.different)
