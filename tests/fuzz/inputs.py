"""The mode `inputs`: wrong files and silly arguments, each in a process of its own.

Whatever comes in, the command ends in time, by an exit code that says what was wrong,
with a word on it and without a traceback.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import current_process
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from modelcheck.cli import main
from modelcheck.commands.registry import COMMANDS
from modelcheck.commands.serve.mcp.work import answered
from modelcheck.contract.exits import Exit
from modelcheck.engines.registry import ENGINES
from spec.load import loads
from tests.fuzz.cases import text_of
from tests.fuzz.commands import LIMIT, ROOT, Input, input_of
from tests.fuzz.findings import Answer, Differences, Finding
from tests.fuzz.outside import REQUEST
from tests.fuzz.pool import answer_each
from tests.hostile_files import put

TWICE = 2 * LIMIT + 2  # seconds, the start of other processes and what is shown included
LONGER = {  # seconds
    "certify": 30.0,  # which has many questions to a solver
    "kafka frontier": 20.0,  # and this many searches
    "library grade": 15.0,
    REQUEST: 20.0,
    "serve mcp": 40.0,  # a process for each request
    "serve lsp": 30.0,
}
SERVERS = {  # by the package that each needs
    "mcp": "modelcheck.commands.serve.mcp.server",
    "pygls": "modelcheck.commands.serve.lsp.server",
}
SHRINKING = 60.0  # seconds for one finding
PATIENCE = 60.0
CODES = {Exit.EXPECTED, Exit.VIOLATED, Exit.WRONG, Exit.UNKNOWN}
TRACES = (("kafka", "jepsen"), ("quorum", "n3_w2_r1"), ("two_phase_commit", "hasty_coordinator"))


@dataclass(frozen=True)
class Job:
    """An input to be tried; or one that is to be made small."""

    seed: int
    shrink: str = ""

    @property
    def patience(self) -> float:
        """So many seconds it may take."""
        return PATIENCE + (SHRINKING if self.shrink else 0)

    @property
    def again(self) -> str:
        """The command that does it once more."""
        return f"python -m tests.fuzz --mode inputs --seed {self.seed} --models 1"

    def smaller(self, found: Finding) -> Job | None:
        """The job that makes the input small; None where it is as small as it gets."""
        return None if self.shrink else replace(self, shrink=found.look)


def serve(pipe: Connection) -> None:
    """Answer jobs until there are none."""
    engines = (where.partition(":")[0] for where in ENGINES.values())
    servers = [server for package, server in SERVERS.items() if find_spec(package) is not None]
    for module in (*(each.module for each in COMMANDS.values()), *engines, *servers):
        import_module(module)
    loads(text_of(0))  # all this so that no child has to
    with TemporaryDirectory() as folder:
        os.environ["MODELCHECK_CACHE"] = f"{folder}/kernels"
        traces = Path(folder) / "traces"
        write_traces(traces)
        answer_each(pipe, partial(run, traces=traces))


def write_traces(folder: Path) -> None:
    """Traces of shipped models, to be made wrong."""
    for model, name in TRACES:
        there = folder / model
        words = ["check", str(ROOT / f"spec/protocols/{model}.rsm"), "--check", name, "--itf", str(there)]
        _in_child(words, folder, seconds=60)
        for path in sorted(there.glob("*.itf.json")):
            path.rename(folder / f"{model}.{path.name}")


def run(job: Job, traces: Path) -> Answer:
    """What a command makes of an input; or an input made small."""
    given, answer = input_of(job.seed, traces), Answer()
    wrong = tried(given)
    if wrong and "seconds" in wrong:
        wrong = tried(given)  # a machine may have been busy
    if wrong and job.shrink:
        given = _smallest(given, lambda less: tried(less).keys() == wrong.keys(), monotonic() + SHRINKING)
        wrong = tried(given) or wrong
    if not job.shrink:
        answer.looks.append(given.look)
    if wrong:
        answer.found.append(Finding(given.look, job.seed, wrong, str(given), job.again))
    return answer


def tried(given: Input) -> Differences:
    """What should not be so when a command has this input; nothing where all is well."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name, data in given.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        for name, kind in given.put.items():
            put(kind, folder / name)
        most = LONGER.get(given.command, TWICE)
        code, said = _in_child(given.words, folder, most, given.stdin)
    if code is None:
        return {"seconds": (f"at most {most}", "more")}
    if "Traceback (most recent call last)" in said:
        return {"traceback": (None, said.strip().splitlines()[-2:])}
    if code not in CODES:
        return {"exit code": (sorted(CODES), code)}
    return {"said": ("what is wrong", "nothing")} if code == Exit.WRONG and not said.strip() else {}


def _in_child(
    words: list[str] | tuple[str, ...], folder: Path, seconds: float, stdin: bytes = b""
) -> tuple[int | None, str]:
    """The exit code of a command in a folder and what it said; no code where it takes longer."""
    folder.mkdir(parents=True, exist_ok=True)
    said, given = folder / "said", folder / "given"
    given.write_bytes(stdin)
    child = os.fork()
    if child == 0:
        _become(words, folder, said, given)
    until = monotonic() + seconds
    while monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), said.read_text(encoding="utf-8", errors="replace")
        sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, ""


def _become(words: list[str] | tuple[str, ...], folder: Path, said: Path, given: Path) -> None:
    """In the child: do the command, as if it had been typed there."""
    code = 99
    try:
        os.setsid()  # so that what it starts ends with it
        current_process()._config["daemon"] = False  # type: ignore[attr-defined] # it may start some
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        read, out = os.open(given, os.O_RDONLY), os.open(said, os.O_WRONLY | os.O_CREAT)
        for number, handle in enumerate((read, out, out)):
            os.dup2(handle, number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as Python has it at its start
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(  # noqa: SIM115
            2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1
        )
        code = main(list(words)) if words[0] != REQUEST else _answered(Path())
        sys.stdout.flush()
    finally:
        os._exit(code)


def _answered(folder: Path) -> int:
    """The exit code of an agent's request on the input, whose answer is told."""
    answer = answered({**json.loads(sys.stdin.read()), "folders": [str(folder.resolve())]})
    sys.stdout.write(answer["says"])
    return int(answer["exit"])


def _smallest(given: Input, still: Callable[[Input], bool], until: float) -> Input:
    """The input with shorter files and fewer words, as long as there is time."""
    for name in given.files:
        data, size = given.files[name], len(given.files[name]) // 2
        while size and monotonic() < until:
            at = 0
            while at < len(data) and monotonic() < until:
                less = data[:at] + data[at + size :]
                if still(given.with_file(name, less)):
                    data = less
                    given = given.with_file(name, data)
                else:
                    at += size
            size //= 2
    for name in given.put:
        others = replace(given, put={each: kind for each, kind in given.put.items() if each != name})
        if monotonic() < until and still(others):
            given = others
    for word in given.words[1:]:
        words = tuple(each for each in given.words if each != word)
        if monotonic() < until and still(replace(given, words=words)):
            given = replace(given, words=words)
    return given
