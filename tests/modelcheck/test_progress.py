from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from time import sleep

import pytest

from modelcheck.answers import progress
from modelcheck.answers.progress import ProgressLine
from modelcheck.cli import main
from modelcheck.contract.report import AnswersDone, Progress, Proving, RunFound, Spilled
from modelcheck.contract.result import Spill


class Terminal(io.StringIO):
    """A terminal that remembers what was written."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


EVENT = Progress(
    faults=2, depth=14, states=1_200_000, transitions=9, waiting=30_000, seconds=10.0, memory=310_000_000
)


def test_a_proof_tells_how_much_it_has_learned() -> None:
    stream = Terminal()
    ProgressLine(stream, "kisr · any_crashes", columns=200).tell(Proving(7, 1300, 5000, 10.0))

    for part in ("kisr · any_crashes", "runs of 7 steps", "1,300 clauses", "5,000 questions", "500/s"):
        assert part in stream.getvalue()


def test_a_table_tells_how_many_questions_are_answered() -> None:
    stream = Terminal()
    ProgressLine(stream, "kafka", columns=200).tell(AnswersDone("part", 12, 99, 5000, 10.0))

    for part in ("kafka", "12 of 99 parts", "5,000 states", "500/s"):
        assert part in stream.getvalue()


def test_a_terminal_sees_one_line_with_a_rate() -> None:
    stream = Terminal()
    line = ProgressLine(stream, "kisr · jepsen", columns=200)
    line.tell(RunFound("safe", 1, 5))
    line.tell(EVENT)

    seen = stream.getvalue()
    assert "\n" not in seen
    for part in (
        "kisr · jepsen",
        "2 faults",
        "depth 14",
        "1,200,000 states",
        "120,000/s",
        "30,000 waiting",
        "safe",
    ):
        assert part in seen
    line.clear()
    assert stream.getvalue().endswith("\x1b[2K")


def test_a_narrow_terminal_gets_no_second_line() -> None:
    stream = Terminal()
    ProgressLine(stream, "kisr · jepsen", columns=30).tell(EVENT)

    assert len(stream.getvalue().removeprefix("\r\x1b[2K")) < 30


def test_short_work_shows_a_pipe_nothing(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="utf-8") as stream:
        line = ProgressLine(stream, "kisr · jepsen", columns=80)
        line.tell(EVENT)
        line.clear()

    assert (tmp_path / "log").read_text() == ""


def test_long_work_shows_a_pipe_whole_lines_at_longer_and_longer_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        """A clock that stands still but for who waits, until somebody has waited an hour."""

        now = 0.0

        def wait(self, seconds: float) -> bool:
            self.now += seconds
            return self.now > 3600

    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", lambda: clock.now)
    monkeypatch.setattr(progress._ProgressLog, "start", lambda _: None)
    with (tmp_path / "log").open("w", encoding="utf-8") as stream:
        line = ProgressLine(stream, "kisr · jepsen", columns=30)
        line.tell(EVENT)
        monkeypatch.setattr(line._log, "_over", clock)
        assert line._log is not None
        line._log.run()

    told = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert {each.partition(": ")[2] for each in told} == {
        "kisr · jepsen · 2 faults · depth 14 · 1,200,000 states · 120,000/s · 30,000 waiting · 310 MB · 10 s"
    }
    assert [each.partition(": ")[0].removeprefix("after ") for each in told[:8]] == [
        "10 s", "20 s", "40 s", "1 min 20 s", "2 min 40 s", "5 min 20 s", "10 min 40 s", "20 min 40 s",
    ]  # fmt: skip
    assert len(told) == 11


def test_nothing_follows_what_the_work_printed_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.05)
    with (tmp_path / "log").open("w", encoding="utf-8", buffering=1) as stream:
        line = ProgressLine(stream, "", columns=80)
        line.begin("a search")
        log = line._log
        while not (tmp_path / "log").read_text():
            sleep(0.01)
        line.clear()
        stream.write("the end\n")

    assert log is not None
    assert not log.is_alive()
    assert (tmp_path / "log").read_text().splitlines()[-1] == "the end"


def test_a_search_that_begins_again_on_disk_says_so_in_a_pipe() -> None:
    stream = io.StringIO()
    ProgressLine(stream, "kisr · m", columns=80).tell(Spilled(Spill(5, "states")))

    assert stream.getvalue() == (
        "memory is full after 5 states: the search begins again with its states on disk, in states"
        " (--no-disk: end instead)\n"
    )


def test_a_command_without_a_terminal_shows_that_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.01)
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        main(["check", "paxos", "--check", "number_shared"])

    assert re.match(r"after [\d.]+ s: \w+ · number_shared", (tmp_path / "err").read_text("utf-8"))
    assert "after 0" not in (tmp_path / "out").read_text("utf-8")
