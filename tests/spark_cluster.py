"""A real standalone cluster of Spark on this machine, and processes of it to kill.

Spark allows one session in a process, so tests that share one name the cluster by its fixture
(see tests/spark_explore/conftest.py) and tests of drivers start processes of their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import TypeVar

import pyspark

from spark_explore.cluster.java import find
from spark_explore.cluster.session import SparkSettings

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
PATIENCE = 300  # seconds; the machine may have better things to do
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # half the work of starting a Java, for what ends soon
LOCAL = SparkSettings(
    master="local[2]",
    conf={"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": QUICK},
    patience=PATIENCE,
)
# A process group that ends with this process, however that ends: its standard input is then closed.
SUPERVISED = '"$@" & cat >/dev/null; kill -KILL 0'


@dataclass(frozen=True)
class Cluster:
    """A master and two workers, each a process; the workers know nothing of this project."""

    url: str
    workers: tuple[Popen[bytes], ...]
    folder: Path

    def executors(self) -> list[int]:
        """The executors that run now, by their process numbers: what the workers have started."""
        groups = {worker.pid for worker in self.workers}
        workers = {each.pid for each in _processes() if each.parent in groups}
        return sorted(
            each.pid
            for each in _processes()
            if each.parent in workers and "CoarseGrainedExecutorBackend" in each.command
        )

    def pythons(self) -> list[int]:
        """The Python processes that run tasks now, by their numbers: what executors' daemons have forked."""
        executors, each = {*self.executors()}, _processes()
        daemons = {one.pid for one in each if one.parent in executors}
        return sorted(one.pid for one in each if one.parent in daemons)

    def settings(self) -> SparkSettings:
        """Of a session on this cluster with an executor on each worker."""
        conf = {
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": QUICK,
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK,
        }
        return SparkSettings(self.url, conf, patience=PATIENCE)

    def kill_executor(self, number: int = 0) -> int:
        """End one executor as a machine that fails does; Spark starts another. The number of its process.

        `number` is taken modulo how many there are: one that was killed before may just be missing.
        """
        running = until(self.executors)
        pid = running[number % len(running)]
        os.kill(pid, signal.SIGKILL)
        return pid


@contextlib.contextmanager
def cluster(folder: Path, *, workers: int = 2, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster on free ports of the loopback, with all its files in that folder."""
    with contextlib.ExitStack() as stack:
        log = folder / "master.log"
        own: tuple[str | Path, ...] = ("--port", "0", "--webui-port", "0")
        stack.enter_context(_daemon(folder, log, 1, "master.Master", *own))
        url = until(lambda: _found(log, r"Starting Spark master at (spark://\S+)"))
        started = []
        for number in range(workers):
            log = folder / f"worker{number}.log"
            own = (
                "--cores",
                "1",
                "--memory",
                memory,
                "--webui-port",
                "0",
                "--work-dir",
                folder / f"{number}",
            )
            started.append(stack.enter_context(_daemon(folder, log, number + 1, "worker.Worker", *own, url)))
        for number in range(workers):
            log = folder / f"worker{number}.log"
            until(lambda log=log: _found(log, r"(Successfully registered)"))  # type: ignore[misc]
        yield Cluster(url, tuple(started), folder)


@contextlib.contextmanager
def _daemon(folder: Path, log: Path, host: int, name: str, *words: str | Path) -> Iterator[Popen[bytes]]:
    """One process of the cluster, on a machine of its own as far as Spark can tell."""
    address = f"127.0.0.{host}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "JAVA_HOME": str(find().home),
        "SPARK_LOCAL_IP": address,
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
    }
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [str(program), f"org.apache.spark.deploy.{name}", "--host", address, *map(str, words)]
    with log.open("wb") as out:
        process = supervised(command, cwd=folder, env=environment, stdout=out, stderr=out)
    try:
        yield process
    finally:
        end(process)


def supervised(command: Sequence[str], **options: object) -> Popen[bytes]:
    """A process in a group that does not outlive this process."""
    words = ["sh", "-c", SUPERVISED, "sh", *command]
    return Popen(words, stdin=PIPE, start_new_session=True, **options)  # type: ignore[call-overload, no-any-return]


def end(process: Popen[bytes]) -> None:
    """End a supervised process and all of its group."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait(PATIENCE)


@contextlib.contextmanager
def driver(program: str, *words: str, cwd: Path, **variables: str) -> Iterator[Popen[str]]:
    """A Python process that runs a program with this project on its path, to be watched and killed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", program, *words]
    with Popen(command, cwd=cwd, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as made:
        try:
            yield made
        finally:
            made.kill()


def javas_of(pid: int) -> list[int]:
    """The Java processes that a process has started and that still run."""
    return [each.pid for each in _processes() if each.parent == pid and "java" in each.command]


def is_running(pid: int) -> bool:
    """Whether there is such a process."""
    return any(each.pid == pid for each in _processes())


def until(ask: Callable[[], T | None]) -> T:
    """The first answer that is one; fails when none comes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"nothing within {PATIENCE} seconds")


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    command: str


def _processes() -> list[_Process]:
    """Every process that runs; those that have ended and that nobody has buried yet do not."""
    command = ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    each = (line.split(maxsplit=3) for line in told.splitlines())
    return [_Process(int(pid), int(parent), command) for pid, parent, stat, command in each if stat[0] != "Z"]


def _found(log: Path, pattern: str) -> str | None:
    found = re.search(pattern, log.read_text(encoding="utf-8", errors="replace"))
    return found.group(1) if found else None
