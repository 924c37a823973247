"""Jobs by number as tasks of one job of Spark, each on one core: a sweep, a frontier, reviews of topics.

Results come to the driver as tasks end, by an accumulator: what is known is not lost with a job.
"""

from __future__ import annotations

import pickle
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread
from typing import Any, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from modelcheck.asking.crew import CrewWork
from modelcheck.contract.engine import Limits
from modelcheck.processes.signals import Interruptible
from modelcheck.processes.workers import SLICE, Mail, Waits
from spark_explore.cluster.session import PATIENCE, SparkSettings, reason, session
from spark_explore.search.remote import numbers
from spec.frozen import frozen

T = TypeVar("T")
FRUITLESS = 3  # jobs in a row that fail for one reason and answer nothing: so would all others
Answers = dict[int, bytes]  # by the number of the job


class SparkWorkers:
    """A crew: the executors of a Spark cluster, or this machine's cores."""

    def __init__(
        self,
        *,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.ended = ""
        self._settings = SparkSettings(master, dict(conf or {}), patience=patience)

    def share(self, limits: Limits, searches: int) -> Limits:  # noqa: ARG002 - as a crew is asked
        """The limits as they are: what memory a worker has is a matter of the cluster."""
        return limits

    def done(
        self, work: CrewWork[T], count: int, shared: Sequence[object] = (), waits: Waits = lambda: None
    ) -> Iterator[tuple[int, T]]:
        """The number and result of each job in order of completion, by one Spark job.

        A task that fails is tried again by Spark; where it fails for good, `work.failed` is the result,
        and another job does what is left.  Raises CannotStart.
        """
        with session(self._settings) as spark, Interruptible() as watch:
            left, fruitless = list(range(count)), 0
            tasks = SparkTasks(spark, work, shared)
            while left and not watch.ended:
                job = tasks.begin(left)
                before = len(left)
                for number, result in job.results(watch, waits):
                    left.remove(number)
                    yield number, result
                fruitless = fruitless + 1 if len(left) == before else 0
                if job.problem is not None and left:
                    blamed = left if fruitless >= FRUITLESS else job.blamed(left)
                    for number in list(blamed):
                        left.remove(number)
                        yield number, work.failed(number, f"the task failed: {job.problem}")
            self.ended = watch.ended


class SparkTasks:
    """Begins jobs of Spark that do work by number; it is sent to each executor once."""

    def __init__(self, spark: SparkSession, work: CrewWork[Any], shared: Sequence[object] = ()) -> None:
        self._spark = spark
        self.group = uuid.uuid4().hex
        self._mail = Mail(shared)
        self._what = type(work).__name__
        self._sent = spark.sparkContext.broadcast(pickle.dumps((tuple(shared), work)))

    def begin(self, left: Sequence[int]) -> SparkTasksJob:
        """A job that does what has these numbers, a task for each."""
        told = self._spark.sparkContext.accumulator({}, _Told())
        tasks = DoNumbers(self.group, self._sent, tuple(left), told)
        job = SparkTasksJob(self._spark, tasks, self._mail, f"{self._what} of {len(left)}")
        job.start()
        return job


class SparkTasksJob:
    """A job that runs, with the results that have come so far; `problem` is why it has failed."""

    def __init__(self, spark: SparkSession, tasks: DoNumbers, mail: Mail, title: str) -> None:
        self._spark, self._tasks, self._mail, self._title = spark, tasks, mail, title
        self._thread: Thread = InheritableThread(target=self._run, daemon=True)
        self._error = ""
        self.problem: str | None = None

    def start(self) -> None:
        """Start the job in a thread."""
        self._thread.start()

    def _run(self) -> None:
        """Run the job."""
        context, many = self._spark.sparkContext, len(self._tasks.left)
        try:
            context.setJobGroup(self._tasks.token, f"modelcheck: {self._title}", interruptOnCancel=True)
            self._spark.range(0, many, 1, many).mapInArrow(self._tasks, "number bigint").collect()
        except (Py4JError, PySparkException, OSError) as error:
            self._error, self.problem = str(error), reason(error)

    def results(self, watch: Interruptible, waits: Waits) -> Iterator[tuple[int, Any]]:
        """The results as they come, until the job has ended, or is to end."""
        given = set[int]()
        try:
            while not watch.ended:
                has_ended = not self._thread.is_alive()
                for number, data in list(self._tasks.told.value.items()):
                    if number not in given:
                        given.add(number)
                        yield number, self._mail.read(data)
                if has_ended:
                    return
                self._thread.join(SLICE)
                waits()
        finally:
            if self._thread.is_alive():
                with suppress(Py4JError, OSError):  # there may be no Java any more
                    self._spark.sparkContext.cancelJobGroup(self._tasks.token)

    def blamed(self, left: Sequence[int]) -> Sequence[int]:
        """What has failed, of those left; all where Spark does not say which."""
        found = re.search(r"Task (\d+) in stage [\d.]+ failed", self._error)
        number = None if found is None else self._tasks.left[int(found.group(1))]
        return [number] if number is not None and number in left else left


class _Told(AccumulatorParam[Answers]):
    """Results of tasks put together; one that comes twice counts once."""

    def zero(self, value: Answers) -> Answers:  # noqa: ARG002 - as Spark asks
        """No results."""
        return {}

    def addInPlace(self, value1: Answers, value2: Answers) -> Answers:  # noqa: N802 - Spark's name
        """The results of both."""
        value1.update(value2)
        return value1


@frozen
class DoNumbers:
    """A Spark task: does the work of numbers, by their place in `left`."""

    token: str
    sent: Any
    left: Sequence[int]
    told: Any

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """No rows; the accumulator has the results."""
        for place in numbers(batches):
            number = self.left[place]
            mail, work = _opened(self.token, self.sent.value)
            self.told.add({number: mail.encoded(work(number))})
            yield pa.RecordBatch.from_arrays([pa.array([], pa.int64())], names=["number"])


@lru_cache(maxsize=1)
def _opened(_token: str, data: bytes) -> tuple[Mail, CrewWork[Any]]:
    """What is done, and how results are sent; kept by a worker for its next task."""
    shared, work = pickle.loads(data)  # noqa: S301 - by our own driver
    return Mail(shared), work
