"""The fuzzer itself: it looks, it finds, it makes small, and it says so; a handful of seeds in each mode."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import pytest

from spec.diagnostics import SpecError
from spec.load import loads
from tests.fuzz import ordinals, proofs
from tests.fuzz.__main__ import main
from tests.fuzz.cases import case_of, text_of
from tests.fuzz.commands import input_of
from tests.fuzz.comparisons import COMPARISONS, Comparison, alike, differing
from tests.fuzz.findings import Answer
from tests.fuzz.inputs import tried
from tests.fuzz.models import Job, run
from tests.fuzz.mutate import mutated, mutated_json
from tests.fuzz.pool import Lost, Queue, answers
from tests.fuzz.shrink import smallest
from tests.oracles import needs_tlc

ROOT = Path(__file__).parents[2]
SELDOM = [  # what is asked once in so many models, and of no engine
    *("other names", "other names, by an editor", "another order", "variant", "import", "settings"),
    *("trace files", "runs in another order", "shrink", "distinct", "simulate"),
    *("core", "no return", "explanation", "pictures", "necessity", "rates", "sweep", "play", "play, table"),
]


def test_a_handful_of_models_has_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mode", "models", "--models", "8"]) == 0

    said = capsys.readouterr().out
    assert "8 models" in said
    assert "explicit, 1 thread" in said


def test_a_handful_of_inputs_has_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mode", "inputs", "--inputs", "8"]) == 0

    assert "8 inputs" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        *("explicit, resumed", "explicit, symmetry", "partial order, queues", "family", "bmc"),
        "partial order, interpreted",
        *("search on files", "layout", "manual"),
    ],
)
@pytest.mark.usefixtures("quickly_compiled")
def test_what_is_looked_at_rarely_is_looked_at(name: str) -> None:
    comparison = next(each for each in COMPARISONS if each.name == name)
    found = [differing(comparison, case_of(seed, text_of(seed))) for seed in range(20, 28)]

    assert {} in found
    assert all(each is None or not each for each in found)


@pytest.mark.parametrize("name", SELDOM)
def test_what_else_is_asked_of_a_model_is_asked(name: str) -> None:
    if name.startswith("play") and shutil.which("node") is None:
        pytest.skip("Node is not installed")
    comparison = next(each for each in COMPARISONS if each.name == name)
    found = [differing(comparison, case_of(seed, text_of(seed))) for seed in (30, 36, 50)]

    assert {} in found
    assert all(each is None or not each for each in found)


# ------------------------------------------------------------------ models


def test_a_seed_is_always_the_same_model() -> None:
    assert text_of(5) == text_of(5) != text_of(6)


def test_random_models_are_well_typed() -> None:
    for seed in range(60):
        assert loads(text_of(seed)), seed


@pytest.mark.usefixtures("quickly_compiled")
def test_a_difference_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(case: object) -> dict[str, tuple[object, object]]:
        return {"choices": (0, 1)} if "choose" in getattr(case, "text", "") else {}

    seed = next(seed for seed in range(100) if "choose" in text_of(seed))
    monkeypatch.setattr("tests.fuzz.models.COMPARISONS", (Comparison("broken", 1, differs, of_tiny=1),))
    (first,) = run(Job(seed)).found
    small = Job(seed).smaller(first)
    assert small is not None
    (found,) = run(small).found

    assert len(found.text.splitlines()) < 10 < len(first.text.splitlines())
    assert "choose" in found.text
    assert loads(found.text)
    assert f"--seed {seed} --models 1" in str(found)
    assert "choices: 0 expected, 1 found" in str(found)


def test_an_exception_is_a_difference() -> None:
    def fails(_: object) -> None:
        raise KeyError("x")

    found = differing(Comparison("broken", 1, fails), case_of(0, text_of(0)))

    assert found == {"exception": (None, "KeyError: 'x'")}
    assert alike(found, {"exception": (None, "KeyError: 'y'")})
    assert not alike(found, {"exception": (None, "TypeError: 'x'")})


def test_a_shrunk_text_is_a_model_and_still_differs() -> None:
    def still(text: str) -> bool:
        try:
            return bool(loads(text)) and "append" in text
        except SpecError:
            return False

    text = next(text for text in map(text_of, range(100)) if "append" in text)
    small = smallest(text, still)

    assert still(small)
    assert len(small) < len(text) / 3


# ------------------------------------------------------------------ nats without a bound


def test_a_handful_of_nats_without_a_bound_has_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mode", "ordinals", "--models", "6", "--jobs", "1"]) == 0

    said = capsys.readouterr().out
    assert "6 ordinals" in said
    assert "bounds" in said
    assert "engines" in said


@pytest.mark.oracle
@needs_tlc
def test_tlc_finds_within_a_bound_what_we_find() -> None:
    asked = [ordinals.run(ordinals.Job(seed, (("tlc", 1),), only=("tlc",))) for seed in range(12)]

    assert [each.found for each in asked if each.found] == []
    assert sum(each.looks == ["tlc"] for each in asked) >= 6


def test_a_difference_without_a_bound_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.ordinals.engines_agree", lambda *_: 1 / 0)
    (found,) = ordinals.run(ordinals.Job(3, only=("engines",))).found

    assert found.look == "engines"
    assert "--mode ordinals --seed 3 --models 1" in str(found)


# ------------------------------------------------------------------ inputs


def test_mistakes_are_made_and_the_same_for_a_seed() -> None:
    text = "state { x: 0..3 = 1 }\naction go { x := 2 }\n"
    made = [mutated(text, Random(seed)) for seed in range(50)]  # noqa: S311 - no secret

    assert made == [mutated(text, Random(seed)) for seed in range(50)]  # noqa: S311
    assert len(set(made)) > 40
    assert mutated_json('{"a": [1, 2]}', Random(1)) != '{"a": [1, 2]}'  # noqa: S311


def test_a_command_that_fails_without_a_word_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "quorum.quorum.n3_w2_r1.x.itf.json").write_text("{}")
    given = input_of(3, traces)
    said = {0: {}, 2: {"said": ("what is wrong", "nothing")}, -11: {"exit code": ([0, 1, 2, 3], -11)}}
    for code, expected in said.items():
        monkeypatch.setattr("tests.fuzz.inputs._in_child", lambda *_, code=code: (code, ""))

        assert tried(given) == expected
    monkeypatch.setattr("tests.fuzz.inputs._in_child", lambda *_: (0, "Traceback (most recent call last)\nx"))
    assert "traceback" in tried(given)
    monkeypatch.setattr("tests.fuzz.inputs._in_child", lambda *_: (None, ""))
    assert "seconds" in tried(given)


# ------------------------------------------------------------------ proofs


def numbers_of(what: str) -> list[int]:
    """The changes of `quorum any_n` with some words in them."""
    return [
        n for n, (file, _, change) in enumerate(proofs.every()) if file == "quorum" and what in str(change)
    ]


def test_there_are_enough_changes_of_what_is_proved() -> None:
    every = proofs.every()
    kinds = {change.kind for _, _, change in every}

    assert len(every) > 300
    assert {"guard", "quorum", "durable", "reset", "assumption", "lemma", "action", "claim"} == kinds
    assert all(name in {file for file, _, _ in every} for name in ("quorum", "raft", "kafka_log"))


@pytest.mark.usefixtures("quickly_compiled")
def test_a_change_that_breaks_a_claim_is_refused() -> None:
    (number,) = numbers_of("commit.acked: dropped")
    answer = proofs.run(proofs.Job(number))

    assert answer.looks == ["broken, refused"]
    assert answer.found == []
    assert "breaks enough_know (0 faults" in answer.told[0]


@pytest.mark.usefixtures("quickly_compiled")
def test_a_proof_of_what_a_run_breaks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.proofs.proved", lambda change, *_: change.claims)
    (number,) = numbers_of("commit.acked: dropped")
    (found,) = proofs.run(proofs.Job(number)).found

    assert "enough_know" in found.differences
    assert f"--mode proofs --seed {number} --models 1" in str(found)


# ------------------------------------------------------------------ many processes


@dataclass(frozen=True)
class Task:
    """What a process is to do."""

    what: str
    patience: float = 30.0


def serve(pipe: Connection) -> None:
    """Do what is asked, well or badly."""
    while True:
        task = pipe.recv()
        if task.what == "die":
            os._exit(7)
        if task.what == "sleep":
            time.sleep(60)
        pipe.send(Answer([task.what]))


def test_a_job_that_dies_or_takes_too_long_ends_no_other() -> None:
    queue = Queue([Task("a"), Task("die"), Task("sleep", 0.5), Task("b")])
    got = {job.what: answer for job, answer in answers(serve, queue, 2)}

    assert got["a"] == Answer(["a"])
    assert got["b"] == Answer(["b"])
    assert got["die"] == Lost("ended the process, with 7")
    assert isinstance(got["sleep"], Lost)


def test_after_its_time_a_queue_has_only_what_is_urgent() -> None:
    queue = Queue(iter([Task("late")]), until=0.0)
    queue.add(Task("urgent"))

    assert queue.take() == Task("urgent")
    assert queue.take() is None


def test_ctrl_c_tells_what_was_found() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--minutes", "2", "--jobs", "1"]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout is not None
    assert "1 process" in running.stdout.readline()
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)

    assert "interrupted" in said
    assert "models" in said
    assert running.returncode in {0, 1}
    assert "Traceback" not in said
