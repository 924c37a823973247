"""Processes that work for this one: none outlives it, and Ctrl-C is left to it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import ModuleType

from modelcheck.processes.signals import blocked


@dataclass(slots=True, eq=False)
class Child:
    """A process, and our end of the pipe to it, which is its own.

    A process that is killed while it holds a lock of a shared queue would keep all others waiting for ever.
    """

    process: SpawnProcess
    pipe: Connection

    def end(self) -> None:
        """End it at once, whatever it does, and leave nothing behind."""
        self.process.terminate()
        self.process.join()
        self.process.close()
        self.pipe.close()


def started(serve: Callable[[Connection], None]) -> Child:
    """A new process that runs `serve` with its end of a pipe, until it returns or either of us ends.

    It knows nothing of the program that runs here, which need not be importable.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_in_child, args=(serve, theirs), daemon=True)
    resource_tracker.ensure_running()  # as it starts it lets Ctrl-C through again
    with blocked(signal.SIGINT), _without_main():  # what a process that starts inherits
        process.start()
    theirs.close()  # so that the pipe ends with the process
    return Child(process, ours)


@contextmanager
def _without_main() -> Iterator[None]:
    """A process that starts does not run the main program again, which may be a script without a guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _in_child(serve: Callable[[Connection], None], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    serve(pipe)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
