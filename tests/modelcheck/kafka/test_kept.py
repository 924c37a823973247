"""What one review has found, the next one need not search for; and nothing else is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from modelcheck.answers.progress import ProgressLine
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Violated
from modelcheck.kafka.questions.answers import Answer, ask_all, ask_mixed
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.search import Asking, Effort
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.resolution.settings import resolve
from modelcheck.storage.cache import ANSWERS, Cache

PRODUCER = "bootstrap.servers=one:9092\nacks=1\n"
SERVER = "broker.id=1\nzookeeper.connect=z:1\ndefault.replication.factor=2\n"

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.fixture
def subject(tmp_path: Path) -> PartitionModel:
    (tmp_path / "producer.properties").write_text(PRODUCER)
    (tmp_path / "server.properties").write_text(SERVER)
    files = [str(tmp_path / name) for name in ("producer.properties", "server.properties")]
    return partition(resolve(read_files(files), kafka="3.7", brokers=2, topic=None))


class Line(ProgressLine):
    """Counts the searches."""

    def __init__(self) -> None:
        super().__init__(StringIO(), "", columns=80)
        self.searches = 0

    def begin(self, title: str) -> None:
        """One search more."""
        self.searches += 1
        super().begin(title)


def asked(subject: PartitionModel, states: int | None = None) -> tuple[tuple[Answer, ...], int, int, int]:
    """The answers, how many searches that took, and the states: all of them, and those of earlier runs."""
    line = Line()
    with Asking(Effort(states), line) as asking:
        answers = ask_all(asking, subject, 1, ask_mixed(asking, subject, 1))
        return answers, line.searches, asking.states, asking.known


def test_a_second_run_finds_the_same_without_a_search(subject: PartitionModel) -> None:
    first, searches, states, known = asked(subject)
    assert searches > 0
    assert known == 0
    assert any(answer.loss is not None for answer in first)

    assert asked(subject) == (first, 0, states, states)


def test_another_question_is_searched_for(subject: PartitionModel) -> None:
    asked(subject)
    other = replace(subject, config={**subject.config, "acks": "all"})

    _, searches, _, known = asked(other)

    assert searches > 0
    assert known == 0


def test_a_review_that_was_cut_short_goes_on_each_time(subject: PartitionModel) -> None:
    whole, _, states, _ = asked(subject)
    forget()
    found, runs = asked(subject, states * 2 // 3)[0], 1
    while not all(answer.complete for answer in found):
        found, runs = asked(subject, states * 2 // 3)[0], runs + 1
        assert runs < 30

    assert runs > 1
    assert [answer.survived for answer in found] == [answer.survived for answer in whole]


def forget() -> None:
    for path in kept():
        path.unlink()


def kept() -> Iterator[Path]:
    return Cache().folder.glob("*-answer")


def cut_off(data: bytes) -> bytes:
    return data[: len(data) // 2]


def other_verdict(data: bytes) -> bytes:
    return data.replace(b'"holds"', b'"bolds"').replace(b'"violated"', b'"violates"')


def other_run(data: bytes) -> bytes:
    """The first step of each run is said to be another."""
    answer = json.loads(data)
    for verdict in answer.get("verdicts", {}).values():
        verdict["run"] = verdict.get("run", "").replace('"action": "', '"action": "not_', 1)
    return json.dumps(answer).encode()


@pytest.mark.parametrize(
    "damage",
    [cut_off, other_verdict, other_run, lambda _: b"[]", lambda _: b"null", lambda _: b'{"verdicts": 3}'],
)
def test_what_is_damaged_is_searched_for_again(
    subject: PartitionModel, damage: Callable[[bytes], bytes]
) -> None:
    first, searches, states, _ = asked(subject)
    cache = Cache(kept=ANSWERS)
    changed = 0
    for path in kept():
        before = cache.get(path.name)
        assert before is not None
        changed += damage(before) != before
        cache.put(path.name, damage(before))
    assert changed

    again, searched, same_states, _ = asked(subject)

    assert again == first
    assert same_states == states
    assert 0 < searched <= searches


def test_the_run_that_is_kept_is_the_run_that_was_found(subject: PartitionModel) -> None:
    def losses() -> list[object]:
        return [answer.loss for answer in asked(subject)[0] if answer.loss is not None]

    assert losses() == losses()
    assert losses()
    assert any(Violated.__name__.lower() in path.read_text(errors="replace") for path in kept())


def test_where_nothing_can_be_kept_the_answers_are_the_same(
    subject: PartitionModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, searches, *_ = asked(subject)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "file"))

    assert asked(subject)[:2] == (first, searches)
    assert asked(subject)[:2] == (first, searches)


def test_the_report_says_what_an_earlier_run_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "producer.properties").write_text(PRODUCER)
    command = ["kafka", "review", str(tmp_path / "producer.properties"), "--brokers", "1", "--faults", "1"]
    assert main(command) == Exit.EXPECTED
    first = capsys.readouterr().out
    assert main(command) == Exit.EXPECTED
    again = capsys.readouterr().out

    assert "earlier run" not in first
    assert "states, all found by an earlier run, in" in " ".join(again.split())
