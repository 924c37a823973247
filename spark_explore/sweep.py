"""A sweep on Spark: one job, in which each point is a task that the native engine answers on one core.

Answers come to the driver as tasks end, by an accumulator: what is known is not lost with a job.
"""

from __future__ import annotations

import pickle
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from modelcheck.asking.sweep import Answering, Orders, SweepAnswer, SweepPoint
from modelcheck.processes.signals import Interruptible
from modelcheck.processes.workers import SLICE, Waits
from spark_explore.cluster.session import PATIENCE, SparkSettings, reason, session
from spark_explore.search.remote import numbers
from spec.frozen import frozen

FRUITLESS = 3  # jobs in a row that fail for one reason and answer nothing: so would all others
Answers = dict[int, bytes]  # by the number of the point


class SparkWorkers:
    """Workers for a sweep: the executors of a Spark cluster, or this machine's cores."""

    def __init__(
        self,
        *,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._settings = SparkSettings(master, dict(conf or {}), patience=patience)

    def answers(
        self, points: Sequence[SweepPoint], orders: Orders, waits: Waits = lambda: None
    ) -> Iterator[tuple[int, SweepAnswer]]:
        """The index and answer of each point in order of completion, by one Spark job.

        A task that fails is tried again by Spark; where it fails for good, that is the problem of its
        point, and another job answers what is left.  Raises CannotStart.
        """
        with session(self._settings) as spark, Interruptible() as work:
            left, fruitless = list(range(len(points))), 0
            asking = SweepJobs(spark, points, orders)
            while left and not work.ended:
                job = asking.begin(left)
                before = len(left)
                for number, answer in job.answers(work, waits):
                    left.remove(number)
                    yield number, answer
                fruitless = fruitless + 1 if len(left) == before else 0
                if job.problem is not None and left:
                    blamed = left if fruitless >= FRUITLESS else job.blamed(left)
                    for number in list(blamed):
                        left.remove(number)
                        yield number, SweepAnswer(None, f"the task failed: {job.problem}")


class SweepJobs:
    """Begins jobs that answer points of a sweep, which are sent to each executor once."""

    def __init__(self, spark: SparkSession, points: Sequence[SweepPoint], orders: Orders) -> None:
        self._spark = spark
        self._token = uuid.uuid4().hex
        self._asked = spark.sparkContext.broadcast(pickle.dumps((tuple(points), orders)))

    def begin(self, left: Sequence[int]) -> SweepJob:
        """A job that answers the points with these numbers, a task for each."""
        context = self._spark.sparkContext
        told = context.accumulator({}, _Told())
        work = AnswerPoints(self._token, self._asked, tuple(left), told)
        job = SweepJob(self._spark, work, self._token)
        job.start()
        return job


class SweepJob:
    """A job that runs, with the answers that have come so far; `problem` is why it has failed."""

    def __init__(self, spark: SparkSession, work: AnswerPoints, group: str) -> None:
        self._spark, self._work, self._group = spark, work, group
        self._thread: Thread = InheritableThread(target=self._run, daemon=True)
        self._error = ""
        self.problem: str | None = None

    def start(self) -> None:
        """Start the job in a thread."""
        self._thread.start()

    def _run(self) -> None:
        """Run the job."""
        context, many = self._spark.sparkContext, len(self._work.left)
        try:
            context.setJobGroup(self._group, f"modelcheck sweep: {many} points", interruptOnCancel=True)
            self._spark.range(0, many, 1, many).mapInArrow(self._work, "number bigint").collect()
        except (Py4JError, PySparkException, OSError) as error:
            self._error, self.problem = str(error), reason(error)

    def answers(self, work: Interruptible, waits: Waits) -> Iterator[tuple[int, SweepAnswer]]:
        """The answers as they come, until the job has ended, or is to end."""
        given = set[int]()
        try:
            while not work.ended:
                has_ended = not self._thread.is_alive()
                for number, data in list(self._work.told.value.items()):
                    if number not in given:
                        given.add(number)
                        yield number, pickle.loads(data)  # noqa: S301 - by our own task
                if has_ended:
                    return
                self._thread.join(SLICE)
                waits()
        finally:
            if self._thread.is_alive():
                with suppress(Py4JError, OSError):  # there may be no Java any more
                    self._spark.sparkContext.cancelJobGroup(self._group)

    def blamed(self, left: Sequence[int]) -> Sequence[int]:
        """The point whose task has failed, of those left; all where Spark does not say which."""
        found = re.search(r"Task (\d+) in stage [\d.]+ failed", self._error)
        number = None if found is None else self._work.left[int(found.group(1))]
        return [number] if number is not None and number in left else left


class _Told(AccumulatorParam[Answers]):
    """Answers of tasks put together; one that comes twice counts once."""

    def zero(self, value: Answers) -> Answers:  # noqa: ARG002 - as Spark asks
        """No answers."""
        return {}

    def addInPlace(self, value1: Answers, value2: Answers) -> Answers:  # noqa: N802 - Spark's name
        """The answers of both."""
        value1.update(value2)
        return value1


@frozen
class AnswerPoints:
    """A Spark task: answers points of a sweep, by their place in `left`."""

    token: str
    asked: Any
    left: Sequence[int]
    told: Any

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """No rows; the accumulator has the answers."""
        for place in numbers(batches):
            number = self.left[place]
            answer = _answering(self.token, self.asked)(number)
            self.told.add({number: pickle.dumps(answer)})
            yield pa.RecordBatch.from_arrays([pa.array([], pa.int64())], names=["number"])


@lru_cache(maxsize=1)
def _prepared(_token: str, data: bytes) -> Answering:
    """What answers the points, kept by a worker for its next task."""
    return Answering(*pickle.loads(data))  # noqa: S301 - by our own driver


def _answering(token: str, asked: Any) -> Answering:  # noqa: ANN401 - a broadcast value
    """What answers the points of a broadcast value."""
    return _prepared(token, asked.value)
