"""Processes that answer jobs until there are none, an interrupt, or one of them is killed.

None of them outlives this one, however it ends: they leave signals to it (NOTE(ending)),
and exit on their own when it is gone.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from modelcheck.processes.children import Child, started
from modelcheck.processes.cores import cores
from modelcheck.processes.signals import Interruptible

T = TypeVar("T")
Work = Callable[[int], T]  # what is done for the job of a number
Waits = Callable[[], object]
Reducer = Callable[[Any], tuple[Any, ...]]

SLICE = 0.1  # seconds between looks at whether to end


class WorkerGone(Exception):  # noqa: N818 - it is reported in other words
    """Raised if a worker process has ended unexpectedly."""

    def __init__(self, worker: Child) -> None:
        self.worker = worker
        super().__init__(worker)


class Workers(Interruptible, Generic[T]):
    """A pool of processes, one per core, that do jobs given by number; a context.

    Each is sent the work once, and with it the `shared` objects, such as models: what
    goes to and fro later only names them.  Of jobs of one of the `kinds`, given for each number, a
    process makes something once; so as long as there are others to begin, no second one gets them.
    """

    def __init__(self, work: Work[T], shared: Sequence[object] = (), kinds: Sequence[Hashable] = ()) -> None:
        super().__init__()
        self._most = cores()
        self._order = pickle.dumps((tuple(shared), work))
        self._mail = Mail(shared)
        self._idle: list[Child] = []
        self._busy: dict[Connection, tuple[Child, int]] = {}
        self._kinds = kinds
        self._begun: dict[Hashable, Connection] = {}  # the process that began with a kind

    def each(self, count: int, waits: Waits = lambda: None) -> Iterator[tuple[int, T]]:
        """The results of jobs 0 … `count` - 1, as `some` returns them."""
        yield from self.some(range(count), waits)

    def some(self, numbers: Iterable[int], waits: Waits = lambda: None) -> Iterator[tuple[int, T]]:
        """The number and result of each job as they are ready; `waits` is called meanwhile."""
        waiting: dict[Hashable, deque[int]] = {}
        for number in numbers:
            waiting.setdefault(self._kind(number), deque()).append(number)
        try:
            while (waiting or self._busy) and not self.ended:
                while waiting and len(self._busy) < self._most:
                    self._submit(waiting)
                ready = wait(list(self._busy), SLICE)
                for pipe in ready:
                    assert isinstance(pipe, Connection)
                    yield self._result(pipe)
                if not ready:
                    waits()
        except WorkerGone as gone:
            self.ended = self.ended or f"a worker process {gone.worker.ending()}"
        finally:
            if self._busy or self.ended:
                self.close()

    def _kind(self, number: int) -> Hashable:
        """The kind of a job."""
        return self._kinds[number] if self._kinds else None

    def _submit(self, waiting: dict[Hashable, deque[int]]) -> None:
        """Send a waiting job to a free process."""
        worker = self._idle.pop() if self._idle else self._started()
        number = self._next(waiting, worker)
        self._busy[worker.pipe] = worker, number
        with _gone(worker):
            worker.pipe.send(number)

    def _next(self, waiting: dict[Hashable, deque[int]], worker: Child) -> int:
        """Take a job for a process: of a kind that it began, or one that no process did, or any."""
        own = (kind for kind, pipe in reversed(self._begun.items()) if pipe is worker.pipe)
        new = (kind for kind in waiting if kind not in self._begun)
        kind = next(chain((kind for kind in own if kind in waiting), new, waiting))
        self._begun.setdefault(kind, worker.pipe)
        number = waiting[kind].popleft()
        if not waiting[kind]:
            del waiting[kind]
            del self._begun[kind]
        return number

    def _started(self) -> Child:
        """A new process."""
        worker = started(_serve)
        with _gone(worker):
            worker.pipe.send_bytes(self._order)
        return worker

    def _result(self, pipe: Connection) -> tuple[int, T]:
        """The number and result of a job from a pipe."""
        worker, number = self._busy[pipe]
        with _gone(worker):
            result, error = self._mail.read(pipe.recv_bytes())
        del self._busy[pipe]
        self._idle.append(worker)
        if error is not None:
            raise error
        return number, result

    def close(self) -> None:
        """Kill the processes."""
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        self._idle, self._busy = [], {}
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.end()


class Mail:
    """Pickles in which objects known to both sides are replaced by numbers.

    `reduced` says how objects of a class are sent, as `copyreg` does, where not as they are.
    """

    def __init__(self, shared: Sequence[object], reduced: Mapping[type, Reducer] | None = None) -> None:
        self._shared, self._reduced = tuple(shared), dict(reduced or {})
        self._numbers = {id(each): number for number, each in enumerate(self._shared)}

    def encoded(self, value: object) -> bytes:
        """The pickle of a value."""
        text = io.BytesIO()
        pickler = pickle.Pickler(text)
        pickler.dispatch_table = {**copyreg.dispatch_table, **self._reduced}
        pickler.persistent_id = lambda each: self._numbers.get(id(each))  # type: ignore[method-assign]
        pickler.dump(value)
        return text.getvalue()

    def read(self, text: bytes) -> Any:  # noqa: ANN401 - whatever was written
        """The value of a pickle from our own process."""
        unpickler = pickle.Unpickler(io.BytesIO(text))  # noqa: S301 - from a child, by its own pipe
        unpickler.persistent_load = lambda number: self._shared[number]  # type: ignore[method-assign]
        return unpickler.load()


@contextmanager
def _gone(worker: Child) -> Iterator[None]:
    """A context that turns a broken pipe into WorkerGone."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise WorkerGone(worker) from error


def _serve(pipe: Connection) -> None:
    """The worker process: receive the work, and do it for each number."""
    try:
        shared, work = pipe.recv()
        mail = Mail(shared)
        while True:
            number = pipe.recv()
            answer: tuple[Any, Exception | None]
            try:
                answer = work(number), None
            except Exception as error:  # noqa: BLE001 - whatever it is, it is passed to the parent
                answer = None, error
            pipe.send_bytes(mail.encoded(answer))
    except EOFError:
        return
