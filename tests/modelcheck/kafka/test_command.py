"""`modelcheck kafka review` as a process of its own: bad input, Ctrl-C, a killed compiler, the limits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LARGE = {
    "server.properties": "process.roles=broker\ndefault.replication.factor=5\nmin.insync.replicas=2\n",
    "producer.properties": "bootstrap.servers=b:1\nacks=all\n",
}
PATIENCE = 120  # seconds that whatever must come, or must end, is waited for
Start = Callable[..., subprocess.Popen[str]]


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelcheck", "kafka", "review", *args],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Start]:
    """`started("--max-time", "9")`: a review that takes long, in a process group of its own."""
    begun: list[subprocess.Popen[str]] = []

    def start(*options: str) -> subprocess.Popen[str]:
        for name, text in LARGE.items():
            (tmp_path / name).write_text(text)
        command = [
            sys.executable,
            "-m",
            "modelcheck",
            "kafka",
            "review",
            *LARGE,
            "--kafka",
            "3.7",
            "--faults",
            "5",
        ]
        review = subprocess.Popen(
            [*command, *options],
            cwd=tmp_path,
            env={**environment(), "MODELCHECK_CACHE": str(tmp_path / "cache")},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        begun.append(review)
        return review

    yield start
    for review in begun:
        with suppress(ProcessLookupError):
            os.killpg(review.pid, signal.SIGKILL)
        review.communicate()


def compilers(of: int) -> list[int]:
    """The processes that compile for a review, without those that only look after others."""
    ps = shutil.which("ps")
    if ps is None:
        pytest.skip("there is no ps")
    listed = subprocess.run([ps, "-ww", "-eo", "pid,pgid,args"], capture_output=True, text=True, check=True)
    rows = [row.split(maxsplit=2) for row in listed.stdout.splitlines()[1:]]
    return [int(row[0]) for row in rows if int(row[1]) == of and "spawn_main" in row[-1]]


def wait_for_compilers(review: subprocess.Popen[str]) -> list[int]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = compilers(review.pid)
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("nothing was compiled beside the search")


def failures(err: str) -> list[str]:
    """What a review says on stderr, without its progress, which a busy machine gives it time for."""
    return [line for line in err.splitlines() if not line.startswith("after ")]


def wait_for_a_search(folder: Path) -> None:
    """A search has begun when its kernel has been kept."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if list((folder / "cache").glob("*-quick")):
            return
        time.sleep(0.05)
    pytest.fail("no search began")


BAD: dict[str, tuple[bytes, str]] = {
    "misspelt.properties": (b"broker.id=1\nmin.insync.replica=2\n", "did you mean `min.insync.replicas`?"),
    "contradiction.properties": (
        b"bootstrap.servers=b:1\nacks=1\nenable.idempotence=true\n",
        "contradicts `enable.idempotence=true`",
    ),
    "empty.properties": (b"", "the file is empty"),
    "binary.properties": (bytes(range(256)) * 8, "the file is binary"),
    "large.properties": (b"x" * 33 * 1024 * 1024, "too much for a configuration"),
    "malformed.yaml": (b"apiVersion: kafka.strimzi.io/v1\nkind: Kafka\n  spec: [\n", "YAML"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_in_a_message(name: str, tmp_path: Path) -> None:
    data, message = BAD[name]
    (tmp_path / name).write_bytes(data)
    done = run(tmp_path, name)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith(name)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "message"), [("missing.properties", "no such file"), (".", "is a directory")]
)
def test_what_is_no_file_is_told_in_a_message(name: str, message: str, tmp_path: Path) -> None:
    done = run(tmp_path, name)

    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_large_file_is_read(tmp_path: Path) -> None:
    rows = "".join(f"# {number:>60}\n" for number in range(160_000))
    (tmp_path / "large.properties").write_text(rows + "bootstrap.servers=b:1\nacks=0\n")
    done = run(tmp_path, "large.properties", "--faults", "0", "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["complete"] is True


def test_mistakes_are_data_where_data_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_bytes(BAD["misspelt.properties"][0])
    done = run(tmp_path, "a.properties", "--json")

    assert done.returncode == 2
    assert [each["code"] for each in json.loads(done.stdout)["errors"]] == ["R0712"]


@pytest.mark.parametrize("after", [0.0, 0.5, 6.0])
def test_ctrl_c_ends_in_what_was_found_until_then(after: float, started: Start, tmp_path: Path) -> None:
    review = started()
    wait_for_a_search(tmp_path)
    time.sleep(after)
    os.killpg(review.pid, signal.SIGINT)
    out, err = review.communicate(timeout=PATIENCE)

    assert review.returncode == 3
    assert failures(err) == []
    assert "partly unknown" in out.splitlines()[0]
    assert "How many faults of each kind are survived" in out
    assert "Cut short: interrupted." in out
    assert compilers(review.pid) == []


def test_ctrl_c_leaves_whole_json(started: Start, tmp_path: Path) -> None:
    review = started("--json", "--require", "durable:5")
    wait_for_a_search(tmp_path)
    os.killpg(review.pid, signal.SIGINT)
    out, err = review.communicate(timeout=PATIENCE)
    found = json.loads(out)

    assert review.returncode == 3
    assert failures(err) == []
    assert found["complete"] is False
    assert found["ended"] == "interrupted"
    assert found["required"] == [{"requirement": "durable:5", "met": None}]


def test_a_killed_compiler_takes_nothing_from_the_review(started: Start) -> None:
    review = started("--max-time", "25")  # a limit of states may end it before anything is compiled
    for compiler in wait_for_compilers(review):
        os.kill(compiler, signal.SIGKILL)
    out, err = review.communicate(timeout=PATIENCE)

    assert review.returncode == 3
    assert failures(err) == []
    assert "partly unknown" in out.splitlines()[0]
    assert compilers(review.pid) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_compilers_do_not_outlive_the_review(number: signal.Signals, started: Start) -> None:
    review = started()
    wait_for_compilers(review)
    review.send_signal(number)
    review.communicate(timeout=PATIENCE)
    until = time.monotonic() + PATIENCE
    while compilers(review.pid) and time.monotonic() < until:
        time.sleep(0.05)

    assert compilers(review.pid) == []


def test_the_time_bounds_all_of_it(started: Start) -> None:
    """But for what a review of one state takes too: to start and to end."""

    def seconds(*limit: str) -> float:
        began = time.monotonic()
        review = started(*limit)
        out, err = review.communicate(timeout=PATIENCE)

        assert review.returncode == 3
        assert failures(err) == []
        assert "Cut short: --max-states or --max-time gives more" in out
        return time.monotonic() - began

    assert seconds("--max-time", "5s") < 5 + 5 * seconds("--max-states", "1")


def test_the_limit_of_states_says_the_same_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in LARGE.items():
        (tmp_path / name).write_text(text)
    given = (*LARGE, "--kafka", "3.7", "--faults", "1", "--max-states", "3000", "--json")
    found = []
    for machine in ("one", "another"):
        monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / machine))
        found.append(json.loads(run(tmp_path, *given).stdout))
        del found[-1]["seconds"]

    assert found[0] == found[1]
    assert found[0]["complete"] is False
