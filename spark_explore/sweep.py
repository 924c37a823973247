"""A sweep on Spark: each point is a task, which the native engine answers on one core of some machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from modelcheck.asking.sweep import Orders, SweepAnswer, SweepPoint, answer
from modelcheck.processes.signals import Interruptible
from modelcheck.processes.workers import SLICE, Waits
from spark_explore.cluster.session import PATIENCE, SparkSettings, reason, session

WAITING = 4  # jobs for each core, so that none waits for this process


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
        """The index and answer of each point in order of completion, a Spark job for each.

        A task that fails is tried again by Spark, and is its point's problem alone.  Raises CannotStart.
        """
        with session(self._settings) as spark, Interruptible() as work:
            context = spark.sparkContext
            with ThreadPoolExecutor(min(len(points), WAITING * context.defaultParallelism)) as pool:
                jobs = {pool.submit(_job, context, each, orders): n for n, each in enumerate(points)}
                try:
                    while jobs and not work.ended:
                        done = wait(jobs, SLICE, FIRST_COMPLETED).done
                        for job in done:
                            yield jobs.pop(job), job.result()
                        if not done:
                            waits()
                finally:
                    pool.shutdown(wait=False, cancel_futures=True)
                    with suppress(Py4JError, OSError):  # there may be no Java any more
                        context.cancelAllJobs()


def _job(context: SparkContext, point: SweepPoint, orders: Orders) -> SweepAnswer:
    """The answer to one point, computed on an executor."""
    try:
        (found,) = context.parallelize([point], 1).map(lambda each: answer(each, orders)).collect()
    except (Py4JError, PySparkException, OSError) as error:
        return SweepAnswer(None, f"the task failed: {reason(error)}")
    return found
