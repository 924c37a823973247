"""What is written to the standard streams: lost output is a failure, and a reader who leaves is none."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from modelcheck.storage.output import Unfailing

ROOT = Path(__file__).parents[2]
TINY = "tests/modelcheck/tiny.rsm"
REVIEW = "examples/producer.properties"
COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {  # and the exit codes of their verdicts
    "help": (0, ("--help",)),
    "help of a command": (0, ("check", "--help")),
    "check": (0, ("check", TINY, "--check", "as_expected")),
    "check that fails": (1, ("check", TINY, "--check", "surprise")),
    "check --json": (1, ("check", TINY, "--check", "surprise", "--json")),
    "check of no file": (2, ("check", "missing.rsm", "--json")),
    "check --estimate": (3, ("check", TINY, "--check", "as_expected", "--estimate")),
    "sweep": (0, ("sweep", TINY, "--check", "as_expected", "--vary", "faults=0,1", "--property", "full")),
    "review": (0, ("kafka", "review", REVIEW, "--kafka", "0.8.1", "--brokers", "2", "--faults", "0")),
    "graph": (0, ("trace", "graph", TINY, "--check", "as_expected", "--merge", "up")),
    "export": (0, ("export", TINY, "--check", "as_expected", "--to", "promela")),
    "fmt": (0, ("fmt", "--stdout", TINY)),
    "explain": (0, ("explain", "R0101")),
}


def shell(words: tuple[str, ...], streams: str) -> subprocess.CompletedProcess[str]:
    """A command whose streams a shell has arranged."""
    line = f'exec "$@" {streams}'
    program = ["sh", "-c", line, "sh", sys.executable, "-m", "modelcheck", *words]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        program, cwd=ROOT, env=buffered, capture_output=True, text=True, check=False, timeout=120
    )


def worse(code: int) -> int:
    return code if code == 1 else 2


# Each is a process of its own: the quick ones stand for the others.


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("streams", "why"), [(">/dev/full", "no space left on device"), (">&-", "bad file descriptor")]
)
def test_lost_output_is_a_failure(name: str, streams: str, why: str) -> None:
    code, words = COMMANDS[name]
    found = shell(words, streams)

    assert found.returncode == worse(code)
    assert found.stderr.splitlines()[-1] == f"modelcheck: the output cannot be written: {why}"
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full"])
def test_the_verdict_stays_where_nobody_can_be_told_anything_beside_it(name: str, streams: str) -> None:
    code, words = COMMANDS[name]
    found = shell(words, streams)

    assert (found.returncode, found.stderr) == (code, "")
    assert found.stdout != ""


@pytest.mark.parametrize("name", ["check", "sweep", "check of no file"])
def test_without_any_stream_there_is_still_an_exit_code(name: str) -> None:
    code, words = COMMANDS[name]
    found = shell(words, "<&- >&- 2>&-")

    assert (found.returncode, found.stdout, found.stderr) == (worse(code), "", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_verdict_stays_where_the_reader_leaves(name: str) -> None:
    code, words = COMMANDS[name]
    reader, writer = os.pipe()
    os.close(reader)
    program = [sys.executable, "-m", "modelcheck", *words]
    found = subprocess.run(
        program, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=120
    )
    os.close(writer)

    assert found.returncode == code
    assert "pipe" not in found.stderr.lower()
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


def test_what_has_nothing_to_write_can_do_without_an_output(tmp_path: Path) -> None:
    (path := tmp_path / "model.rsm").write_text((ROOT / TINY).read_text(encoding="utf-8"), encoding="utf-8")

    assert shell(("fmt", str(path)), ">&-").returncode == 0


def test_a_file_does_not_get_the_number_of_a_stream_that_is_closed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = shell(("check", TINY, "--check", "as_expected", "--html", str(page)), "<&- >&- 2>&-")

    assert found.returncode == 2
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("words", [("fmt", "-"), ("trace", "show", "-", TINY)], ids=" ".join)
def test_an_input_that_is_closed_is_told(words: tuple[str, ...]) -> None:
    found = shell(words, "<&-")

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "-: error[R0904]: cannot be read: bad file descriptor\n"


def test_a_disk_that_fills_up_midway_is_told(tmp_path: Path) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    with (tmp_path / "out").open("wb") as out:
        found = subprocess.run(
            [sys.executable, "-m", "modelcheck", "explain", "--json"],
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=little,
        )

    assert found.returncode == 2
    assert found.stderr == "modelcheck: the output cannot be written: file too large\n"


def test_a_stream_that_does_not_wait_gets_all() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    much = b"x" * 1_000_000
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print(len(sys.stdin.buffer.read()))"],
        stdin=reader,
        stdout=subprocess.PIPE,
    ) as counts:
        os.close(reader)
        with Unfailing(writer, "w") as stream:
            rest = memoryview(much)
            while rest:
                rest = rest[stream.write(rest) :]
        told, _ = counts.communicate(timeout=60)

    assert int(told) == len(much)


# ------------------------------------------------------------------ Ctrl-C at the start

INTERRUPTED_BY_IMPORT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

module = sys.argv.pop(1)

class CtrlC:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
from modelcheck.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "name", ["modelcheck.cli", "argparse", "spec.diagnostics", "modelcheck.commands.check.command"]
)
def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_word(name: str) -> None:
    found = started_and_interrupted(name)

    assert (found.returncode, found.stdout, found.stderr) == (130, "", "")


@pytest.mark.parametrize("name", ["modelcheck.explicit.engine", "llvmlite", "modelcheck.answers.card"])
def test_ctrl_c_while_more_is_loaded_shows_no_traceback(name: str) -> None:
    found = started_and_interrupted(name)

    assert found.returncode in {3, 130}
    assert "Traceback" not in found.stderr
    assert "Exception" not in found.stderr


def started_and_interrupted(name: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", INTERRUPTED_BY_IMPORT, name, "check", TINY, "--check", "as_expected"]
    return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_ctrl_c_stays_ignored_where_it_was() -> None:
    program = INTERRUPTED_BY_IMPORT.replace("signal.default_int_handler", "signal.SIG_IGN")
    words = ["modelcheck.cli", "explain", "R0101"]
    found = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, check=False
    )

    assert found.returncode == 0
