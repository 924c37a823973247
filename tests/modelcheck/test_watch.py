"""Limits of time and memory hold whatever runs: one evaluation, compiling, reading, telling, drawing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from modelcheck import api
from modelcheck.api import check
from modelcheck.contract.engine import Limits, Refusal, Task
from modelcheck.contract.report import Reporter, Stopped
from modelcheck.contract.result import End, Findings, Unknown
from modelcheck.processes.watch import CAN_RAISE, held, watched
from modelcheck.search.reference import ReferenceEngine
from spec.load import loads

LIMIT = 0.3  # seconds, where a test gives a limit
ROOM = 1.0  # seconds, in which something else is done
PAST = 2.0  # seconds: a limit of a tenth of a second is passed by far, though not so far that all ends
HUNG = 30.0  # seconds: what takes so long on any machine does not end by its limit

MOVES = "state { a: bool = false }\naction go { a := not a }\n"
LONG = "(sum k in 0..999999. sum l in 0..999999. if a then k else l)"  # 10^12 additions
EVALUATED = {
    "sums": f"protocol m\n{MOVES}invariant i: {LONG} > 5\ncheck c {{ }}\n",
    "range": f"protocol m\n{MOVES}state {{ n: 1..9 = 1 }}\n"
    "invariant i: size(0..n * 1000000000000) > 5\ncheck c { }\n",
    "subsets": f"protocol m\nsort S\n{MOVES}invariant i: size(subsets({{s in S where true}})) > 5\n"
    "check c { scope S = 64 }\n",
    "power": f"protocol m\n{MOVES}fun p(x: int): int = x * x\n"
    + "".join(f"fun p{n}(x: int): int = {'p' if n == 1 else f'p{n - 1}'}(p(x))\n" for n in range(1, 40))
    + "invariant i: p39(7) > 5\ncheck c { }\n",
    "network": "protocol m\nsort S\nnat N\nrecord M { n: N }\nnetwork net[S, S]: bag of M\n"
    "action put(s: S, t: S) { net[s][t].send(M(n = 0)) }\ninvariant i: forall s: S. size(net[s][s]) >= 0\n"
    "check c { scope S = 64, N = 1000000, net = 1000000 }\n",
}


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelcheck", *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=HUNG,
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def written(folder: Path, text: str) -> str:
    path = folder / "m.rsm"
    path.write_text(text, encoding="utf-8")
    return str(path)


# ------------------------------------------------------------------ from outside


@pytest.mark.parametrize(
    ("what", "engine"),
    [
        pytest.param(
            what, engine, marks=[] if engine == "explicit" or what == "sums" else [pytest.mark.nightly]
        )
        for what in EVALUATED
        for engine in ("explicit", "reference", "bmc", "induction", "ic3")
    ],
)
def test_an_evaluation_ends_with_the_limit(what: str, engine: str, tmp_path: Path) -> None:
    path = written(tmp_path, EVALUATED[what])
    found = run("check", path, "--engine", engine, "--max-time", str(LIMIT), "--max-memory", "2G")

    assert (found.returncode, "Traceback" in found.stderr) == (3, False)


@pytest.mark.parametrize("engine", ["explicit", "reference"])
def test_what_runs_for_ever_says_that_the_time_was_up(engine: str, tmp_path: Path) -> None:
    path = written(tmp_path, EVALUATED["sums"])
    found = run("check", path, "--engine", engine, "--max-time", str(LIMIT))

    assert End.SECONDS.value in found.stdout + found.stderr


def test_one_check_that_takes_too_long_is_no_loss_to_the_next(tmp_path: Path) -> None:
    text = f"protocol m\n{MOVES}config on: bool = true\n"
    text += f"invariant i: on implies {LONG} > 5\ncheck slow {{ }}\ncheck quick {{ config on = false }}\n"
    found = run("check", written(tmp_path, text), "--engine", "reference", "--max-time", str(ROOM), "-q")

    assert found.stdout.splitlines()[:2] == ["m · slow: no verdict on i", "m · quick: holds"]
    assert found.returncode == 3


def test_one_evaluation_keeps_to_the_memory(tmp_path: Path) -> None:
    text = EVALUATED["subsets"].replace("64", "22")
    found = run("check", written(tmp_path, text), "--engine", "reference", "--max-memory", "200M")

    assert (found.returncode, End.MEMORY.value in found.stdout) == (3, True)


def test_reading_ends_with_the_limit(tmp_path: Path) -> None:
    """Four seconds of reading are always allowed: the text is as long as may be, and all of short tokens."""
    text = "protocol m\nstate { x: 0..9 = 0 }\n"
    text += "".join(f"action a{i} {{ x := {'1+' * 50}1 }}\n" for i in range(16_000))
    found = run("check", written(tmp_path, text), "--max-time", "0.2")

    assert found.returncode == 3
    assert found.stderr == "modelcheck: the limit of time is reached; no verdict\n"


SAYS = f"""protocol m
state {{ a: bool = false }}
action go says "{{{LONG}}}" {{ a := true }}
invariant i: not a
check c {{ }}
"""


def test_telling_ends_with_the_limit_and_keeps_the_verdict(tmp_path: Path) -> None:
    found = run("check", written(tmp_path, SAYS), "--engine", "reference", "--max-time", str(2 * ROOM))

    assert "m · c: violated: i" in found.stdout
    assert "modelcheck: not everything is shown: the limit of time is reached" in found.stderr
    assert found.returncode == 1


@pytest.mark.parametrize("output", ["--draw=svg", "--html=page.html", "--junit=report.xml"])
def test_drawing_ends_with_the_limit_and_keeps_the_verdict(
    output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, SAYS)
    found = run("check", path, "-q", "--engine", "reference", "--max-time", str(2 * ROOM), output)

    assert "m · c: violated: i" in found.stdout
    assert "is not written: the limit of time is reached" in found.stderr
    assert found.returncode == 1


# -------------------------------------------------------------------- the watch


pytestmark = pytest.mark.skipif(not CAN_RAISE, reason="nothing can be raised in the main thread here")


def wait_for_ever() -> NoReturn:
    while True:
        pass


def test_python_is_stopped_when_the_time_is_up() -> None:
    with pytest.raises(Stopped) as stopped, watched(0.1, None):
        wait_for_ever()

    assert stopped.value.end is End.SECONDS


def test_a_stop_does_not_get_lost_where_a_value_is_let_go() -> None:
    class Slow:
        def __del__(self) -> None:
            time.sleep(PAST)

    def work() -> None:
        with watched(0.1, None):
            Slow()
            wait_for_ever()

    with pytest.raises(Stopped):
        work()


def test_a_stop_does_not_get_lost_where_garbage_is_collected() -> None:
    def slowly(phase: str, _: object) -> None:
        if phase == "start":
            time.sleep(PAST)

    def work() -> None:
        with watched(0.1, None):
            gc.collect()
            wait_for_ever()

    gc.callbacks.append(slowly)
    try:
        with pytest.raises(Stopped):
            work()
    finally:
        gc.callbacks.remove(slowly)


def test_who_keeps_a_stop_to_himself_is_stopped_again() -> None:
    def work() -> None:
        with watched(0.1, None):
            with suppress(Stopped):
                wait_for_ever()
            wait_for_ever()

    with pytest.raises(Stopped):
        work()


def test_what_a_watch_has_stopped_is_not_stopped_at_once_by_the_one_around_it() -> None:
    """Both have often the same limit, and what was found up to it is told between the two."""
    told = False
    with watched(0.2, None):
        with suppress(Stopped), watched(0.1, None):
            wait_for_ever()
        time.sleep(0.5)  # seconds, in which the limit of the outer one is passed by far too
        told = True

    assert told


def test_a_wait_is_stopped_too() -> None:
    began = time.monotonic()
    with pytest.raises(Stopped), watched(0.1, None):
        threading.Event().wait(HUNG)

    assert time.monotonic() - began < HUNG / 2


def test_the_watch_around_another_is_heard() -> None:
    with pytest.raises(Stopped), watched(0.1, None), watched(HUNG, None):
        wait_for_ever()


def test_nothing_is_raised_when_all_is_done_in_time() -> None:
    with watched(0.01, None):
        pass
    time.sleep(PAST)  # a late signal would be raised here


def test_what_is_held_is_left_in_order_first() -> None:
    done = []

    def work() -> None:
        with watched(0.1, None), held():
            time.sleep(PAST)
            done.append("in order")

    with pytest.raises(Stopped):
        work()
    assert done == ["in order"]


def test_what_cannot_be_stopped_ends_in_the_last_word() -> None:
    words: list[End] = []

    def work() -> None:
        with watched(0.1, None, words.append), held():
            while not words:
                time.sleep(0.05)

    with pytest.raises(Stopped):
        work()
    assert words == [End.SECONDS]


def test_the_last_word_ends_the_program_with_the_exit_of_the_unknown() -> None:
    program = (
        "import sys, time\nfrom modelcheck.storage.output import Output\n"
        "from modelcheck.processes.watch import held, watched\n"
        "with watched(0.1, None, Output(sys.stdout, sys.stderr).give_up), held():\n    time.sleep(1000)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=HUNG
    )

    assert found.returncode == 3
    assert found.stderr == (
        "modelcheck: the limit of time is reached, in the midst of one computation; no verdict\n"
    )


def test_an_engine_has_what_is_left_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ReferenceEngine):
        """Takes its time to refuse."""

        def refusals(self, task: Task) -> tuple[Refusal, ...]:  # noqa: ARG002 - whatever is asked
            time.sleep(0.1)
            return (Refusal("anything", "reference"),)

    class Next(ReferenceEngine):
        """Remembers how long it may take."""

        def run(self, task: Task, reporter: Reporter) -> Findings:
            assert task.limits.seconds is not None
            left.append(task.limits.seconds)
            return super().run(task, reporter)

    left: list[float] = []
    monkeypatch.setattr(api, "PREFERRED", (Slow(), Next()))
    (model,) = loads(f"protocol m\n{MOVES}check c {{ }}\n")

    check(model, model.checks[0], limits=Limits(seconds=HUNG))

    assert left[0] <= HUNG - 0.1


def test_from_another_thread_there_is_but_what_the_engine_minds() -> None:
    (model,) = loads(f"protocol m\n{MOVES}invariant i: size(subsets({{0, 1}})) == 4\ncheck c {{ }}\n")
    found = []
    limits = Limits(seconds=HUNG)
    thread = threading.Thread(
        target=lambda: found.append(check(model, model.checks[0], engine="reference", limits=limits))
    )
    thread.start()
    thread.join()

    assert not found[0].findings.end.partial


def test_nothing_is_known_where_everything_was_stopped() -> None:
    (model,) = loads(EVALUATED["sums"])
    outcome = check(model, model.checks[0], engine="bmc", limits=Limits(seconds=0.1))

    assert (outcome.findings.end, outcome.verdict("i")) == (End.SECONDS, Unknown(End.SECONDS.value))
