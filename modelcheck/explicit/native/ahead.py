"""Code for searches that will come, made beside those before them."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait

from modelcheck.contract.engine import Task
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel, shared_name
from modelcheck.processes.cores import cores


class Ahead:
    """Makes code in a thread of its own, which runs while a search or LLVM works in another.

    Nothing is decided by it: what it has not made when it is needed is made then, and a
    problem is told by whoever needs it.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._coming: dict[str, Future[Kernel]] = {}
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, task: Task) -> None:
        """Make the code that a task's family shares, after all that was asked for before."""
        name = shared_name(task)
        if cores() > 1 and name not in self._coming:
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._coming[name] = self._pool.submit(Kernel, task, self._codes)

    def wait(self, task: Task) -> None:
        """Wait for the code of a task if it is being made; what has not begun is not made here."""
        coming = self._coming.get(shared_name(task)) if self._coming else None
        if coming is not None and not coming.cancel():
            wait([coming])

    def close(self) -> None:
        """Begin nothing more."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
