"""The Spark engine: the fault-layered search on files, its large levels as jobs of a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from pyspark.sql import SparkSession

from modelcheck.contract.engine import (
    CannotResume,
    Refusal,
    Task,
    not_by_partial_order,
    not_without_bounds,
)
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Findings
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.processes.watch import held
from spark_explore.cluster.session import PATIENCE, SparkSettings, session, shown
from spark_explore.search.jobs import JobFailed, SparkExecutors
from spark_explore.search.layers import FileSearch
from spark_explore.search.local_level import Executors, LocalExecutor
from spark_explore.search.recovery import FileFindings
from spark_explore.storage.pieces import Damaged
from spark_explore.storage.run import begin, resume, see_room
from spark_explore.storage.store import seen_from_anywhere, store_at
from spec.meaning.semantics import Machine
from spec.model.kinds import OF_FAIR_RUNS

DRIVER_STATES = 250_000  # that this process expands in the time that a job takes at least
COLD = 8  # times as many while Spark gets going,
BYTES = 1 << 26  # as long as the states that are to be expanded are no more than this
SEEN = 100  # states that were seen and are read in the time in which one state is expanded
SHARDS = 2  # for each core
MOST_SHARDS = 65_536  # each is a task and a file of each level
JAVA = {  # Java only passes names on, so what pays is to be quick at once
    f"spark.{who}.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    for who in ("driver", "executor")
}
LIKE = {  # two attempts of a task leave the same states under different names, so one may replace the other
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}


class SparkEngine:
    """The engine that explores every state in files, on a Spark cluster or this machine's cores.

    `run_dir` is where the files are, a path or a URI that all machines see; a folder that is
    removed at the end if None.  `shards` is into how many parts the states are cut, by their
    hashes, at most 65,536; None: two for each core.  `driver_states`: a level stays in this
    process when that takes no longer than for that many states, and more while Spark gets
    going; None: all levels do, and there is no Spark.  `patience` is as in SparkSettings.
    """

    name: ClassVar[str] = "spark"

    def __init__(
        self,
        *,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
        shards: int | None = None,
        run_dir: str | None = None,
        resume: bool = False,
        driver_states: int | None = DRIVER_STATES,
    ) -> None:
        self._settings = SparkSettings(master, {**JAVA, **LIKE, **(conf or {})}, patience=patience)
        self._shards = shards
        self._run_dir = run_dir
        self._resume = resume
        self._driver_states = driver_states

    def settings(self) -> dict[str, str]:
        """The settings that Spark is started with. Raises CannotStart."""
        return shown(self._settings)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot do: fair runs, checkpoints, and what the explicit engine refuses."""
        refused = [*not_without_bounds(task), *not_by_partial_order(task)]
        if self._shards is not None and self._shards > MOST_SHARDS:
            refused.append(Refusal(f"{self._shards:,} shards: at most {MOST_SHARDS:,}"))
        refused += [] if task.keep is None else [Refusal("checkpoints: its run directory is one")]
        for prop in task.properties:
            if prop.kind in OF_FAIR_RUNS:
                up_to = " up to symmetry" if task.symmetry else ""
                refused.append(
                    Refusal(f"{prop.kind.value} {prop.name}{up_to}", None if up_to else "explicit")
                )
        if not refused:
            try:
                Kernel(task, blocks=True)
            except TooWide as wide:
                refused.append(Refusal(str(wide), "reference"))
        return tuple(refused)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search. Raises CannotStart, CannotResume."""
        with self._place() as place, held():  # what is in files and in Java is to be left in order
            try:
                return self._findings(task, reporter, place)
            except (Damaged, OSError) as error:
                reason = str(error) if isinstance(error, Damaged | JobFailed) else _said(error)
                raise CannotResume(f"the search in {place} cannot continue: {reason}") from None

    def _findings(self, task: Task, reporter: Reporter, place: str) -> Findings:
        """The findings of the search in the folder or URI `place`."""
        store = store_at(place)
        before = resume(store, task) if self._resume else None
        if before is None:
            see_room(store)  # before anything is started
        with self._spark() as spark:
            run, status = before or (begin(store, task, self._shards or _shards(spark)), None)
            kernel, machine = Kernel(task, blocks=True), Machine(task.model, task.scope)
            search = FileSearch(task, machine, kernel, reporter, run, status)
            here = LocalExecutor(kernel, run)
            if spark is None or self._driver_states is None:
                search.executors = lambda *_: here
            else:
                there = SparkExecutors(spark, task, kernel, run, place, search.left)
                search.executors = partial(self._executors, search, here, there)
            return FileFindings(search, search.run()).findings(self.name)

    def _executors(
        self,
        search: FileSearch,
        here: LocalExecutor,
        there: SparkExecutors,
        states: int,
        read: int,
        what: str,
    ) -> Executors:
        """The executors expected to finish a level of that size first: here or on Spark."""
        most = self._driver_states or 0
        if not there.is_warm and states * search.kernel.layout.words * 8 <= BYTES:
            most *= COLD
        if states + read // SEEN <= most:
            return here
        there.title = f"modelcheck: {what}, {states:,} states"
        return there

    @contextmanager
    def _spark(self) -> Iterator[SparkSession | None]:
        """A context with the Spark session, or None for this process alone."""
        if self._driver_states is None:
            yield None
            return
        with session(self._settings) as spark:
            yield spark

    @contextmanager
    def _place(self) -> Iterator[str]:
        """A context with the run's folder or URI, which is temporary by default."""
        if self._run_dir is not None:
            yield seen_from_anywhere(self._run_dir)
            return
        with tempfile.TemporaryDirectory(prefix="modelcheck-run-") as name:
            yield name


def _shards(spark: SparkSession | None) -> int:
    """The number of shards for a session."""
    return SHARDS * (1 if spark is None else spark.sparkContext.defaultParallelism)


def _said(error: OSError) -> str:
    """The system's error message with its file; else the error's text."""
    about = f" ({error.filename})" if error.filename else ""
    return (error.strerror or "").lower() + about or str(error)
