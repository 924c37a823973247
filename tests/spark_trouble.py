"""Trouble for the tasks of a search on Spark: they fail, die, dawdle, or have no room to write.

Executors know nothing of tests, so this module goes there with what it wraps (see its last line).
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame

import spark_explore.engine as engines
from spark_explore.search.jobs import SparkExecutors
from spark_explore.search.remote import Batches, Work
from spark_explore.storage.store import LocalStore

MOMENTS = ("before", "as it writes", "within", "after")
ENDED = " (ended)"  # of the name of a file
Act = Callable[[Random], None]


@dataclass(frozen=True)
class Trouble:
    """What happens to the first attempts of one task in `one_in`; each attempt leaves a file in the folder.

    Which tasks these are depends on what they do alone, not on what the session has done before.
    """

    folder: Path
    act: Act
    seed: int = 0
    one_in: int = 3
    attempts: int = 1

    def attempt(self, work: Work, batches: Batches) -> Batches:
        """A work with its trouble."""
        context = TaskContext.get()
        assert context is not None
        task = f"{context.stageId()}-{context.partitionId()}"
        kind, about = type(work).__name__, getattr(work, "level", getattr(work, "state", None))
        random = Random(f"{self.seed} {kind} {about} {context.partitionId()}")  # noqa: S311 - no secret
        moment = random.choice(MOMENTS)
        is_chosen = not random.randrange(self.one_in) and context.attemptNumber() < self.attempts
        name = f"{kind} {task} {context.attemptNumber()} {moment if is_chosen else 'well'}"
        (self.folder / name).touch()

        def act(now: str) -> None:
            if is_chosen and now == moment:
                self.act(random)

        try:
            act("before")
            with _each_file(lambda: act("as it writes")):
                for batch in work(batches):
                    yield batch
                    act("within")
            act("after")
        finally:  # the process may have other tasks
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        (self.folder / (name + ENDED)).touch()


@dataclass(frozen=True)
class Troubled:
    """A work that has trouble, as Spark takes it."""

    work: Work
    trouble: Trouble

    def __call__(self, batches: Batches) -> Batches:
        return self.trouble.attempt(self.work, batches)


@contextlib.contextmanager
def _each_file(act: Callable[[], None]) -> Iterator[None]:
    """Something happens behind each file that is written, before anybody is told of it."""
    put = LocalStore.put

    def put_and_act(store: LocalStore, name: str, parts: Sequence[bytes]) -> None:
        put(store, name, parts)
        act()

    with mock.patch.object(LocalStore, "put", put_and_act):
        yield


def fail(random: Random) -> None:
    """An error in the task, or the end of its process."""
    if random.randrange(2):
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError("trouble")


def dawdle(random: Random) -> None:
    """Long enough for another attempt to begin, and sometimes to end."""
    time.sleep(random.uniform(0.5, 1))


def without_room(_: Random) -> None:
    """From now on the files of this process are cut off at a kilobyte."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, resource.RLIM_INFINITY))


def have(trouble: Trouble, patch: pytest.MonkeyPatch) -> None:
    """Every job of a search has trouble from now on, as long as the patch lasts."""

    class InTrouble(SparkExecutors):
        def __init__(self, *given: Any) -> None:  # noqa: ANN401 - whatever it is made of
            super().__init__(*given)
            self._warmed.join()  # so that it is always the same levels that are jobs

        def _sharded(self, work: Work, tasks: int) -> DataFrame:
            return super()._sharded(Troubled(work, trouble), tasks)

        def _job(self, rows: DataFrame, work: Work) -> list[dict[str, Any]]:
            return super()._job(rows, Troubled(work, trouble))

    trouble.folder.mkdir()
    patch.setattr(engines, "SparkExecutors", InTrouble)


@dataclass(frozen=True)
class Attempt:
    """An attempt of a task: of which work, the number of its stage and its part, when it had trouble."""

    work: str
    task: str
    number: int
    moment: str
    has_ended: bool


def told(trouble: Trouble) -> list[Attempt]:
    """Every attempt that has begun."""
    names = {path.name for path in trouble.folder.iterdir()}
    found = []
    for name in sorted(names):
        if name.endswith(ENDED):
            continue
        work, task, number, moment = name.split(" ", 3)
        found.append(Attempt(work, task, int(number), moment, name + ENDED in names))
    return found


cloudpickle.register_pickle_by_value(sys.modules[__name__])
