from __future__ import annotations

import io

from modelcheck.answers.progress import ProgressLine
from modelcheck.contract.report import AnswersDone, Progress, Proving, RunFound


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


def test_a_pipe_sees_nothing() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, "kisr · jepsen", columns=80)
    line.tell(EVENT)
    line.clear()

    assert stream.getvalue() == ""
