"""Processes that work for this one: none outlives it, and signals that ask to end are left to it."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TypeVar

from modelcheck.processes.endings import ending_words
from modelcheck.processes.safe_path import for_children
from modelcheck.processes.signals import ENDING, blocked, ignore_all
from modelcheck.processes.watch import LOOKS

T = TypeVar("T")

LAST_BREATH = 5.0  # seconds in which a process ends whose pipe has ended


@dataclass(slots=True, eq=False)
class Child:
    """A child process, with our end of the pipe to it.

    A process that is killed while it holds a lock of a shared queue would keep all others waiting for ever.
    """

    process: BaseProcess
    pipe: Connection

    def ending(self) -> str:
        """How the process ended, in words, after waiting briefly for it."""
        self.process.join(LAST_BREATH)
        return ending_words(self.process.exitcode)

    def end(self) -> None:
        """Kill the process, and close its pipe."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


def is_worker() -> bool:
    """Whether this process is one of many workers, which has one core and must start no process."""
    return current_process().daemon


def started(serve: Callable[[Connection], None]) -> Child:
    """A new process that runs `serve` with its end of a pipe; it ends with this process.

    It knows nothing of the program that runs here, which may not be importable.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_in_child, args=(serve, theirs), daemon=True)
    with for_children(), _without_main():
        with blocked(*ENDING):
            resource_tracker.ensure_running()  # as it starts it lets some of them through again
        with blocked(*ENDING):  # what a process that starts inherits
            process.start()
    theirs.close()  # so that the pipe ends with the process
    return Child(process, ours)


def forked(serve: Callable[[Connection, T], None], given: T) -> Child | None:
    """A fork of this process that runs `serve`, at once; None if forking is not possible.

    It knows all that is known here.  A copy has one thread, and locks that others held are never
    given back in it: so there may be none, but for a watch.  Workers make no processes.
    """
    others = {thread.name for thread in threading.enumerate()} - {threading.main_thread().name, LOOKS}
    if sys.platform != "linux" or others or is_worker():
        return None
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_in_copy, args=(serve, ours, theirs, given), daemon=True)
    with blocked(*ENDING), warnings.catch_warnings(), suppress(OSError):
        warnings.simplefilter("ignore", DeprecationWarning)  # of a copy of a process that has threads
        process.start()
    if process.pid is None:  # there was no room for another process
        ours.close()
        theirs.close()
        return None
    theirs.close()
    return Child(process, ours)


@contextmanager
def _without_main() -> Iterator[None]:
    """A context in which new processes do not import the main program again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _in_copy(serve: Callable[[Connection, T], None], theirs: Connection, ours: Connection, given: T) -> None:
    """Run `serve` in the fork."""
    theirs.close()
    _in_child(lambda pipe: serve(pipe, given), ours)


def _in_child(serve: Callable[[Connection], None], pipe: Connection) -> None:
    """Run `serve` in the new process."""
    ignore_all()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    serve(pipe)


def _leave_with_parent() -> None:
    """Exit when the parent process has ended."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
