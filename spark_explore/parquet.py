"""A table of a run as Parquet, written by the tasks that read it: no row goes through Java.

A task writes under a name of its own in a folder that readers pass over; when all are done, the driver moves
the file of one attempt of each to its place.  So a task may fail, or run twice, as in `search/remote.py`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_explore.cluster.session import reason, ship
from spark_explore.search.remote import REPORT, answered, numbers
from spark_explore.storage.store import forget, store_at
from spark_explore.tables import DEPTH, FAULTS, LevelRows, Rows, TableRefused
from spec.frozen import frozen

GROUP = 1 << 17  # rows that are compressed together
UNFINISHED = "_temporary"  # readers pass over what begins like that
DONE = "_SUCCESS"


def write_parquet(spark: SparkSession, levels: Sequence[LevelRows], where: str) -> None:
    """Write the rows of levels to a new folder or URI, partitioned by layer and depth.

    Costs 2 to 4 µs of a core a state, and the memory of a task's rows.  What cannot be written leaves
    nothing, but for tasks that still run.  Raises TableRefused, OSError.
    """
    store = store_at(where)
    if store.names():
        raise TableRefused(f"{where} already exists")
    ship(spark.sparkContext)
    parts = [(at, number) for at, level in enumerate(levels) for number in range(len(level.read.pieces))]
    try:
        told = _written_parts(spark, WriteParts(tuple(levels), parts, where))
    except BaseException:
        forget(store, UNFINISHED)  # so that there is room, and the folder may be named again
        raise
    for number, (at, _) in enumerate(parts):
        if told[number]:
            folder = f"{FAULTS}={levels[at].faults}/{DEPTH}={levels[at].depth}"
            store.move(told[number], f"{folder}/part-{number:06}.parquet")
    forget(store, UNFINISHED)
    store.put(DONE, [])


def _written_parts(spark: SparkSession, work: WriteParts) -> dict[int, str]:
    """The name of the file of each part. Raises TableRefused."""
    count = len(work.parts)
    spark.sparkContext.setJobDescription(f"modelcheck: {work.where}, {count} parts")
    try:
        rows = spark.range(0, count, 1, max(count, 1)).mapInArrow(work, REPORT).collect()
    except (PySparkException, Py4JJavaError) as error:
        raise TableRefused(reason(error)) from None
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]
    told = dict(json.loads(bytes(row.report)) for row in rows)
    if sorted(told) != list(range(count)):
        raise TableRefused("not every part was written once")
    return told


@frozen
class WriteParts:
    """A Spark task: writes parts, given by number, to a file for each."""

    levels: Sequence[LevelRows]
    parts: Sequence[tuple[int, int]]  # a level, by its place, and the number of a piece
    where: str

    def __call__(self, batches: Rows) -> Rows:
        """The number of each part and the name of its file, which is empty where the part has no row."""
        told = [json.dumps((number, self._written(number))).encode() for number in numbers(batches)]
        yield answered(told)

    def _written(self, number: int) -> str:
        """Write a part; the name of its file."""
        at, piece = self.parts[number]
        read, into = self.levels[at].read, pa.BufferOutputStream()
        count, group, room = 0, list[pa.RecordBatch](), GROUP
        with pq.ParquetWriter(into, read.schema) as writer:
            for batch in read.rows([piece]):
                count, room = count + batch.num_rows, room - batch.num_rows
                group.append(batch)
                if room <= 0:
                    writer.write_table(pa.Table.from_batches(group))
                    group, room = [], GROUP
            if group:
                writer.write_table(pa.Table.from_batches(group))
        if not count:
            return ""
        name = f"{UNFINISHED}/{uuid.uuid4().hex}.parquet"
        store_at(self.where).put(name, [into.getvalue()])
        return name
