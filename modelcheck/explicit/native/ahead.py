"""Kernels that will be needed, made by another process while this one is at work on what comes before."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from modelcheck.contract.engine import CannotStart, Task
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel, shared_name

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from modelcheck.processes.children import Child


class Ahead:
    """A background process that compiles the kernels of tasks in order, and caches their code; `close` it.

    Costs a copy of this process on another core, and nothing where all of it is kept already.
    Where there can be no copy, where it is killed or cannot keep what it makes, whoever needs
    the code makes it.
    """

    def __init__(self, tasks: Iterable[Task], codes: Codes) -> None:
        named = {shared_name(task): task for task in tasks}
        missing = {name: task for name, task in named.items() if not codes.has(name)}
        self._left = set(missing)  # not begun, as far as is known
        self._begun = ""
        self._child: Child | None = None
        if missing:
            from modelcheck.processes.children import forked  # noqa: PLC0415 - not where all is there

            self._child = forked(_serve, missing)

    def wait(self, task: Task) -> None:
        """Wait until the code for a task is cached, or surely never will be; tasks not begun are skipped."""
        if not (self._left or self._begun):
            return
        name = shared_name(task)
        try:
            while self._child is not None and (name in self._left or name == self._begun):
                if name != self._begun and not self._child.pipe.poll():
                    self._child.pipe.send(name)
                    self._left.discard(name)
                else:
                    self._begun = self._child.pipe.recv()
                    self._left.discard(self._begun)
        except (OSError, EOFError):
            self.close()

    def close(self) -> None:
        """Stop the background process."""
        if self._child is not None:
            self._child.end()
            self._child = None


def _serve(pipe: Connection, tasks: dict[str, Task]) -> None:
    """The background process: compile each task's kernel, and report which one is begun."""
    unwanted: set[str] = set()
    with suppress(OSError, EOFError):
        for name, task in tasks.items():
            while pipe.poll():
                unwanted.add(pipe.recv())
            if name not in unwanted:
                pipe.send(name)
                with suppress(TooWide, CannotStart, MemoryError):  # reported when it is needed
                    Kernel(task, Codes())
        pipe.send("")
