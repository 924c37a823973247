"""Ctrl-C, SIGTERM and SIGHUP are one thing: the first ends the work with what was found, the next at once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import modelcheck.processes.signals as signals
from modelcheck.api import check as run_check
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.processes.children import started
from modelcheck.processes.signals import ENDING, Interruptible, at_request, requests_to_end
from tests.interrupted import ROOT, ended

TINY = "tests/modelcheck/tiny.rsm"
SEARCHING = r"[1-9][\d,]* states"
NAMES = [signal.Signals(number).name for number in ENDING]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that a test puts forward."""
    now = [0.0]
    monkeypatch.setattr(signals, "monotonic", lambda: now[0])
    return now


# ------------------------------------------------------------------ in one process


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_each_of_them_is_a_request_on_a_command_line(number: int) -> None:
    heard: list[int] = []
    before = signal.getsignal(number)

    with requests_to_end():
        with at_request(lambda: heard.append(number)):
            signal.raise_signal(number)
        assert heard == [number]
    with requests_to_end(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)

    assert signal.getsignal(number) is before


def test_in_programs_of_others_only_ctrl_c_is_one() -> None:
    before = {number: signal.getsignal(number) for number in ENDING}

    with at_request(lambda: None):
        changed = {number for number in ENDING if signal.getsignal(number) is not before[number]}

    assert changed == {signal.SIGINT}


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` has it
    try:
        with requests_to_end(), at_request(lambda: pytest.fail("it was heard")):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signals_that_come_together_are_one_request_and_a_later_one_is_another(clock: list[float]) -> None:
    with requests_to_end(), Interruptible() as work:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # `timeout` sends it to the process, then to its group
        clock[0] = signals.ECHO / 2
        signal.raise_signal(signal.SIGHUP)
        assert work.ended == "interrupted"

        clock[0] = 2 * signals.ECHO
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_signal_in_the_midst_of_another_is_its_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is handled while the first one's handler looks at the clock."""
    heard: list[int] = []
    with requests_to_end(), at_request(lambda: heard.append(1)):
        again = [signal.SIGTERM]

        def look() -> float:
            if again:
                signal.raise_signal(again.pop())
            return 0.0

        monkeypatch.setattr(signals, "monotonic", look)
        signal.raise_signal(signal.SIGTERM)

    assert heard == [1]


def test_an_echo_is_known_though_the_first_was_heard_by_work_that_has_ended(clock: list[float]) -> None:
    clock[0] = 1.0
    with requests_to_end():
        with Interruptible() as work:
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # it would be a KeyboardInterrupt

    assert work.ended == "interrupted"


class Held:
    """What gets a signal while it is freed, where no exception can be raised."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_a_request_that_is_lost_in_a_finaliser_comes_again(number: int) -> None:
    hook = sys.unraisablehook
    held = [Held(number)]
    with requests_to_end():
        held.clear()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(30)

    assert sys.unraisablehook is hook


def test_work_in_other_work_leaves_it_to_that() -> None:
    heard: list[str] = []
    outer = at_request(lambda: heard.append("outer"))
    inner = at_request(lambda: heard.append("inner"), if_free=True)
    with requests_to_end(), outer, inner:
        signal.raise_signal(signal.SIGTERM)

    assert heard == ["outer"]


def test_native_code_that_heeds_ctrl_c_alone_gets_that_for_the_others() -> None:
    came: list[int] = []
    with requests_to_end(), at_request(lambda: None), signals.heard_in_native_code():
        before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))  # as z3 does
        signal.raise_signal(signal.SIGTERM)
        until = time.monotonic() + 30
        while not came and time.monotonic() < until:
            time.sleep(0.001)
        signal.signal(signal.SIGINT, before)

    assert came == [signal.SIGINT]


def serve(pipe: Connection) -> None:
    """Send what becomes of each signal here."""
    pipe.send([signal.getsignal(number) is signal.SIG_IGN for number in ENDING])
    pipe.recv()


def test_a_child_leaves_all_of_them_to_its_parent() -> None:
    child = started(serve)
    ignored = child.pipe.recv()
    child.end()

    assert ignored == [True] * len(ENDING)


# ------------------------------------------------------------------ commands


@pytest.mark.parametrize("number", ENDING, ids=NAMES)
def test_a_search_ends_in_what_was_found(number: int) -> None:
    found = ended("check", TINY, "--check", "large", seen=SEARCHING, signals=(number,))

    assert found.code == Exit.UNKNOWN
    assert "PARTIAL: interrupted" in found.out
    assert "Traceback" not in found.shown


def test_what_timeout_sends_is_one_request() -> None:
    """A signal to the command, then the same to it with its workers and compilers."""
    found = ended("check", TINY, "--check", "large", seen=SEARCHING, to_group=(signal.SIGTERM,))

    assert found.code == Exit.UNKNOWN
    assert "PARTIAL: interrupted" in found.out


ENGINES = {
    "reference": ["--engine", "reference"],
    "bmc": ["--engine", "bmc", "--depth", "90"],
    "ic3": ["--engine", "ic3"],
    "simulate": ["--simulate", "100000000"],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_ends_in_what_was_found(engine: str) -> None:
    words = ["check", "kisr", "--check", "m", "--scope", "Epoch=5", *ENGINES[engine]]
    found = ended(*words, seen=r"(?s)counted · m · .*counted · m · ")

    assert found.code == Exit.UNKNOWN
    assert "verdict" in found.out
    assert "interrupted" in found.out or engine == "simulate"
    assert "Traceback" not in found.shown


def test_the_solver_of_a_proof_is_ended_in_its_midst() -> None:
    found = ended(
        "check", "raft", "--check", "any_n_elections", "--engine", "prove", seen=r"[1-9]\d* questions"
    )

    assert found.code == Exit.UNKNOWN
    assert "PARTIAL: interrupted" in found.out
    proved, of = (int(number) for number in re.findall(r"(\d+) of (\d+) obligations proved", found.out)[0])
    assert 0 < proved < of


TABLES = {  # what is seen of the work, and what is there of the answer
    "sweep kisr --check s --vary Epoch=1..6": (r"[12] of 6 points", "not answered"),
    "necessity kisr --check xs": (r"[12] of \d+ parts", "not answered"),
    "kafka frontier kafka --kafka 3.7 --faults 3": (r"of [\d,]+ answers", "configurations (interrupted)"),
    "library compare quorum raft": (r"[1-9]\d* of \d+ checks", "NOT DECIDED"),
    "library claims C1 C2 C3": (r"[1-9]\d* of \d+ checks", "not decided"),
    "library grade modelcheck/teaching/course/exercises/survives.rsm --exercise survives": (
        r"[0-5] of 6 looked at",
        "not finished: interrupted",
    ),
    "kafka review examples/jepsen.properties --kafka 3.7 --brokers 3 --faults 4": (
        r"search [3-9]: ",
        "Cut short: interrupted.",
    ),
}


@pytest.mark.parametrize("line", TABLES, ids=lambda line: " ".join(line.split()[:2]))
def test_a_table_keeps_the_answers_that_there_are(line: str, tmp_path: Path) -> None:
    seen, told = TABLES[line]
    words = [str(ROOT / word) if (ROOT / word).is_file() else word for word in line.split()]
    cold = {"MODELCHECK_CACHE": str(tmp_path / "cache")}
    found = ended(*words, seen=seen, folder=tmp_path, environment=cold)

    assert found.code == Exit.UNKNOWN
    assert told in found.out
    assert "Traceback" not in found.shown


@pytest.mark.parametrize(
    "line", ["trace graph kisr --check m", "trace play kisr --check m --precomputed 9M --html p.html"]
)
def test_what_is_of_no_use_in_part_is_not_written_at_all(line: str, tmp_path: Path) -> None:
    seen = SEARCHING if line.startswith("trace graph") else "computing its states"
    found = ended(*line.split(), seen=seen, folder=tmp_path)

    assert (found.code, found.out) == (Exit.UNKNOWN, "")
    assert found.shown.endswith("modelcheck: interrupted\r\n")
    assert list(tmp_path.iterdir()) == []


def test_finished_checks_are_in_every_file_though_the_next_is_interrupted(tmp_path: Path) -> None:
    files = ["--json", "--junit", str(tmp_path / "a.xml"), "--sarif", str(tmp_path / "a.sarif")]
    names = ["--check", "as_expected", "--check", "large"]
    found = ended("check", TINY, *names, *files, seen=rf"large · .*{SEARCHING}")
    first, second = json.loads(found.out)

    assert found.code == Exit.UNKNOWN
    assert (first["check"], first["partial"]) == ("as_expected", False)
    assert (second["check"], second["partial"]) == ("large", True)
    assert "as_expected" in (tmp_path / "a.xml").read_text(encoding="utf-8")
    assert (tmp_path / "a.sarif").exists()


def test_a_check_that_is_interrupted_before_its_search_takes_none_of_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def once(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever a check takes
        if args[1].name == "surprise":
            os.kill(os.getpid(), signal.SIGTERM)
        return run_check(*args, **options)

    monkeypatch.setattr("modelcheck.commands.check.command.run_check", once)
    monkeypatch.chdir(ROOT)
    code = main(["check", TINY, "--check", "as_expected", "--check", "surprise", "--json"])
    (found,) = json.loads(capsys.readouterr().out)

    assert code == Exit.UNKNOWN
    assert found["check"] == "as_expected"


CAUGHT = """
import sys
import modelcheck.cli
from modelcheck.__main__ import main

def interrupt():
    raise KeyboardInterrupt

def console():
    try:
        exec("interrupt()")
    except KeyboardInterrupt:
        return 3

modelcheck.cli.console = console
sys.exit(main())
"""


def test_an_interrupt_that_was_caught_while_a_class_was_made_does_not_end_python(tmp_path: Path) -> None:
    (tmp_path / "caught.py").write_text(CAUGHT)
    places = os.pathsep.join(map(str, (tmp_path, ROOT)))
    done = subprocess.run(
        [sys.executable, "-m", "caught"], env={**os.environ, "PYTHONPATH": places}, check=False
    )

    assert done.returncode == Exit.UNKNOWN
