"""A command run to its end: its output, how long it took, and the most memory it held."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from modelcheck.processes.safe_path import environment
from spec.frozen import frozen


@frozen
class Ran:
    """A command that has ended; `peak` are the bytes of its largest process, as the kernel counts them."""

    code: int
    said: str
    seconds: float
    peak: int


def run(command: Sequence[str], folder: Path) -> Ran:
    """Run a command in a folder. When we are interrupted, it is ended and waited for first.

    The kernel starts to count a process's memory with what its parent held, so
    `peak` is never less than what this program takes: keep it small.
    """
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen(  # noqa: S603 - no shell, and the commands are ours
            command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except KeyboardInterrupt:
            child.kill()
            child.wait()
            raise
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)  # it has ended: it must not be waited for again
        out.seek(0)
        said = out.read().decode(errors="replace")
    return Ran(child.returncode, said, seconds, usage.ru_maxrss * 1024)
