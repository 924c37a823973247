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
    monkeypatch.setattr(progress, "FIRST", 0.1)
    with (tmp_path / "log").open("w", encoding="utf-8") as stream:
        line = ProgressLine(stream, "kisr · jepsen", columns=30)
        line.tell(EVENT)
        sleep(1.0)  # lines after 0.1, 0.2, 0.4 and 0.8 s, though nothing more is told
        line.clear()

    told = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert 2 <= len(told) <= 4
    for each in told:
        assert re.fullmatch(
            r"after 0\.\d s: kisr · jepsen · 2 faults · depth 14 · 1,200,000 states · .* · 10 s", each
        )


def test_nothing_follows_what_the_work_printed_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.05)
    with (tmp_path / "log").open("w", encoding="utf-8", buffering=1) as stream:
        line = ProgressLine(stream, "", columns=80)
        line.begin("a search")
        sleep(0.2)
        line.clear()
        stream.write("the end\n")
        sleep(0.2)

    told = (tmp_path / "log").read_text().splitlines()
    assert (len(told) > 1, told[-1]) == (True, "the end")


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

    assert re.match(r"after 0\.\d s: \w+ · number_shared", (tmp_path / "err").read_text("utf-8"))
    assert "after 0" not in (tmp_path / "out").read_text("utf-8")
