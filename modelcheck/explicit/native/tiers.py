"""Better code for a longer search, switched to between two rounds.

First with cheap optimisations, compiled between the rounds; then with all, compiled by another process.
"""

from __future__ import annotations

import os
from pickle import PicklingError
from typing import TYPE_CHECKING

from modelcheck.contract.engine import Task
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.processes.cores import cores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from modelcheck.processes.children import Child

# Seconds of processors that one search takes, for each byte of its quick code, before it has cheap
# optimisations: to write and compile them takes some 6.5 µs a byte, and they spare two fifths of the rest.
WARM = 20e-6
# Seconds of processors, of all threads, that a search takes before better code is worth its price: some two
# seconds, of which no more than a third of what is left comes back.
HOT = 6.0
NICE = 10  # where there is one core, and the search is to have it


class Optimiser:
    """Compiles optimised code in the background for kernels whose searches take long.

    It is for one search, or with `shared` for all of one family, one after the other.
    Whoever needs less time pays nothing for it.  Where the process is killed, or cannot
    start, searches continue with the code that they have.
    """

    def __init__(self, *, shared: bool = False, after: float | None = None) -> None:
        self._shared = shared
        self._after = HOT if after is None else after
        self._spent = self._latest = 0.0
        self._child: Child | None = None
        self._given_up = False

    def begin(self, task: Task, kernel: Kernel) -> None:
        """Begin to watch a search with this kernel."""
        self._task, self._kernel = task, kernel
        self._spent, self._latest = self._spent + self._latest, 0.0
        if kernel.tier is Tier.FULL:
            self.close()

    def look(self, seconds: float) -> None:
        """Give the kernel better code after enough processor seconds, or begin to compile it.

        The kernel must not be in use.
        """
        self._latest = seconds
        if self._kernel.tier is Tier.QUICK and seconds >= WARM * self._kernel.size:
            self._kernel.improve()
        if self._given_up or self._spent + seconds < self._after:
            return
        from modelcheck.processes.children import is_worker, started  # noqa: PLC0415 - for long searches

        if is_worker():
            self.close()
            return
        try:
            if self._child is None:
                self._child = started(_serve)
                self._child.pipe.send((self._task, self._kernel.layout, self._shared))
            elif self._child.pipe.poll():
                self._kernel.replace(self._child.pipe.recv(), shared=self._shared)
                self.close()
        except (OSError, EOFError, PicklingError, AttributeError):
            self.close()

    def close(self) -> None:
        """Stop the background process."""
        self._given_up = True
        if self._child is not None:
            self._child.end()
            self._child = None


def _serve(pipe: Connection) -> None:
    """The background process: compile each task's code with full optimisation."""
    from modelcheck.explicit.native.writing import full  # noqa: PLC0415 - in that process alone

    if cores() == 1 and hasattr(os, "nice"):
        os.nice(NICE)
    task, layout, shared = pipe.recv()
    pipe.send(full(task, layout, shared=shared))
