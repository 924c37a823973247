"""What is said of a process that ended: its signal, and no cause that is not known."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import modelcheck.commands.serve.mcp.asked as asked
import modelcheck.processes.workers as workers
import modelcheck.teaching.course.guarded as guarded
from modelcheck.processes.children import started
from modelcheck.processes.endings import ending_words
from modelcheck.processes.workers import Workers
from modelcheck.symbolic.process import ProcessAnswer, Program, ask
from spec.source import Source

SAID = {
    signal.SIGKILL: "was killed (SIGKILL), by the system as when memory runs out, or by another process",
    signal.SIGTERM: "was terminated (SIGTERM) by another process",
    signal.SIGSEGV: "crashed (SIGSEGV), by a bug in it or in a library, or for want of memory",
    signal.SIGABRT: "crashed (SIGABRT), by a bug in it or in a library, or for want of memory",
    signal.SIGUSR1: "was ended by SIGUSR1",
}


def die_by(number: int) -> None:
    """End this process by a signal, without a core file."""
    import resource  # noqa: PLC0415 - in a process of its own

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    signal.pthread_sigmask(
        signal.SIG_UNBLOCK, {number}
    )  # a worker leaves some to the process that has started it
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SAID, ids=lambda number: number.name)
def test_a_process_ended_by_a_signal_is_told_by_it(number: signal.Signals) -> None:
    code = f"from tests.modelcheck.test_endings import die_by; die_by({int(number)})"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=root)

    assert ending_words(done.returncode) == SAID[number]


@pytest.mark.parametrize(
    ("code", "said"),
    [(None, "ended without an answer"), (0, "ended without an answer"), (3, "ended with exit code 3")],
)
def test_a_process_that_ended_by_itself_is_told_by_its_exit_code(code: int | None, said: str) -> None:
    assert ending_words(code) == said


def _crash(_: object) -> None:
    die_by(signal.SIGSEGV)


def test_a_child_that_crashed_is_no_lack_of_memory_alone() -> None:
    child = started(_crash)
    try:
        with pytest.raises((EOFError, ConnectionError)):
            child.pipe.recv()

        assert child.ending() == SAID[signal.SIGSEGV]
    finally:
        child.end()


class _DiesAt:
    """Work whose second job ends its process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, job: int) -> int:
        if job == 1:
            die_by(self.number)
        return job


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV], ids=lambda n: n.name)
def test_workers_say_how_one_of_them_ended(number: signal.Signals) -> None:
    with Workers(_DiesAt(int(number))) as workers:
        list(workers.each(2))

        assert workers.ended == f"a worker process {SAID[number]}"


def _process_of(_: int) -> int:
    return os.getpid()


def test_a_process_begins_with_jobs_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cores", lambda: 2)
    with Workers(_process_of, (), "aaaaab") as some:
        process = dict(some.each(6))

    assert process.keys() == set(range(6))
    assert process[5] != process[0]


def _serve_and_crash(_: object) -> None:
    die_by(signal.SIGABRT)


def test_a_grader_that_crashed_is_told_by_its_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_serve", _serve_and_crash)

    grade = guarded.graded("survives", Source("mine.rsm", "protocol mine"))

    assert grade.ended == f"the process that grades {SAID[signal.SIGABRT]}"


def test_an_agent_is_told_how_the_process_of_a_search_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")

    with pytest.raises(asked.NoAnswer, match="the process of the search ended with exit code 1; no verdict"):
        asyncio.run(asked.answer({}, 5.0, None))


def test_a_solver_that_was_killed_had_not_run_out_of_time() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    said = ask(Program("it", (sys.executable, "-c", code)), "", seconds=5.0)

    assert said.answer is ProcessAnswer.ENDED
    assert said.text == f"its process {SAID[signal.SIGKILL]}"
