"""A level as one job of Spark: expand, shuffle by shard, deduplicate; a few numbers come back."""

from __future__ import annotations

import contextlib
import json
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event, Thread
from time import perf_counter
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from modelcheck.contract.engine import Task
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.cluster.session import reason
from spark_explore.search.blocks import Expanded, least
from spark_explore.search.local_level import Advance, Pieces
from spark_explore.search.marks import Aim, Marked, Marks, joined, marks_from_json
from spark_explore.search.remote import (
    REPORT,
    ROWS,
    Deduplicate,
    DeduplicateWaiting,
    Expand,
    LookBack,
    Mission,
    Work,
)
from spark_explore.search.remote_marks import AnswerQuestions, Ask, Goals, Part, WriteMarks
from spark_explore.storage.pieces import Damaged
from spark_explore.storage.run import RunFolder, left_folder
from spark_explore.storage.sorted_pieces import PieceBlocks, SortedPiece, count_states, split
from spark_explore.storage.spent import JOBS, CoreSeconds
from spark_explore.storage.store import forget

PART = 1 << 15  # states that are worth a task
UNLIKE = "indeterminate output"  # in Spark's message if an attempt has left other names than the one before
ONCE_MORE = 5  # times a job is tried again then: each time an executor died during it
AGAIN = 0.2  # seconds until a job that was not there yet is cancelled again
GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
LIMIT = "spark.executor.pyspark.memory"
SCARCE = (  # as what the lack of memory may come
    "MemoryError",
    "llocate memory",
    "shared object",
    "failed to map",
    "can't load",
    "exited unexpectedly",
)
WAVES = 1  # tasks for each core: more would find less of what is made twice


class JobFailed(OSError):  # noqa: N818 - the report of Spark, not what went wrong
    """Raised if Spark gives up on a job; has the last attempt's error."""


class SparkExecutors:
    """Runs the parts of a search as Spark jobs. Costs the driver a few rows per shard and task.

    `left` returns how many seconds a job may still take, None for no limit;
    one that takes longer is ended, and the search with it.  `title` is what jobs are called in Spark's UI.
    """

    def __init__(
        self,
        spark: SparkSession,
        task: Task,
        kernel: Kernel,
        run: RunFolder,
        place: str,
        left: Callable[[], float | None],
    ) -> None:
        self.title = "modelcheck"
        self._spark = spark
        self._kernel = kernel
        self._run = run
        self._left = left
        by_files = "://" not in place  # where a file costs no more than to send it
        self._token = uuid.uuid4().hex
        mission = Mission(task, place, run.name, run.shards, self._token, by_files)
        self._mission = spark.sparkContext.broadcast(pickle.dumps(mission))
        self._warmed = Thread(target=self._warm, daemon=True)
        self._warmed.start()

    @property
    def is_warm(self) -> bool:
        """Whether workers are running and have the model, so that a job starts at once."""
        return not self._warmed.is_alive()

    def _warm(self) -> None:
        """Run an empty level, so that workers start while first levels are done locally."""
        with contextlib.suppress(Exception):  # the first job that matters will fail, if there is a reason
            self._job(
                self._sharded(Expand(self._mission, 0, (), paid=False), 1), Deduplicate(self._mission, 0, ())
            )

    def advance(self, level: int, frontier: Pieces, woken: Pieces, *, paid: bool) -> Advance:
        """Search one level."""
        parts = self._parts(frontier)
        started = perf_counter()
        rows = self._sharded(Expand(self._mission, level, parts, paid), len(parts))
        answers = self._collected(rows, Deduplicate(self._mission, level, tuple(woken)))
        spent = CoreSeconds({JOBS: (perf_counter() - started) * self._spark.sparkContext.defaultParallelism})
        for answer in answers:
            spent.add(answer.get("spent", {}))
        forget(self._run.store, left_folder(level))
        self._all_there(answer["shard"] for answer in answers if "shard" in answer)
        deduplicated = sorted((a for a in answers if "shard" in a), key=lambda answer: int(answer["shard"]))
        finds = least(find for answer in deduplicated for find in answer["finds"])
        return Advance(
            [SortedPiece(*piece) for answer in deduplicated for piece in answer["new"]],
            [SortedPiece(*piece) for answer in deduplicated for piece in answer["waiting"]],
            self._together(answers, len(parts)),
            finds,
            spent,
        )

    def deduplicate_waiting(self, level: int, waiting: Sequence[Pieces]) -> list[list[SortedPiece]]:
        """The waiting states for each depth, deduplicated."""
        work = DeduplicateWaiting(self._mission, level, [tuple(pieces) for pieces in waiting])
        answers = self._collected(self._numbers(self._run.shards), work)
        self._all_there(answer["shard"] for answer in answers)
        answers.sort(key=lambda answer: int(answer["shard"]))
        return [
            [SortedPiece(*piece) for answer in answers for piece in answer["entering"][number]]
            for number in range(len(waiting))
        ]

    def leads_elsewhere(self, frontier: Pieces) -> tuple[bool, Expanded]:
        """Whether a fault leads from these states to new ones."""
        parts = self._parts(frontier)
        level = len(self._run.levels)
        rows = self._sharded(Expand(self._mission, level, parts, paid=True), len(parts))
        answers = self._collected(rows, Deduplicate(self._mission, level, (), keep=False))
        forget(self._run.store, left_folder(level))
        return any(answer.get("elsewhere") for answer in answers), self._together(answers, len(parts))

    def predecessor(self, pieces: Pieces, state: Words, *, by_fault: bool) -> Words | None:
        """The first of the states with a step to `state`."""
        parts = self._parts(pieces)
        work = LookBack(self._mission, parts, state, by_fault)
        answers = self._collected(self._numbers(len(parts)), work)
        first = min(answers, key=lambda answer: int(answer["part"]), default=None)
        return None if first is None else tuple(first["predecessor"])

    def goals(self, aim: Aim) -> list[Marks]:
        """The marks of all levels: which states are goals."""
        parts = self._ranges()
        work = Goals(self._mission, parts, len(self._run.levels), aim)
        answers = self._collected(self._numbers(len(parts)), work)
        return _by_level(answers, parts)

    def look(self, aim: Aim, at: Sequence[Marked], seen: Sequence[Marked]) -> tuple[list[Marks], bool]:
        """The marks of levels after one more step back; whether any was added."""
        parts, folder = self._ranges(), len(self._run.levels)
        own, met = ([(each.level.number, each.name) for each in which] for which in (at, seen))
        rows = self._sharded(Ask(self._mission, parts, own, folder, aim), len(parts))
        rows = self._by_shard(rows.mapInArrow(AnswerQuestions(self._mission, met), ROWS))
        answers = self._collected(rows, WriteMarks(self._mission, parts, own, aim))
        forget(self._run.store, left_folder(folder))
        return _by_level(answers, parts), True

    # -------------------------------------------------------------------- parts

    def _ranges(self) -> list[Part]:
        """The shards in ranges, at most one per core."""
        shards = self._run.shards
        count = min(shards, WAVES * self._spark.sparkContext.defaultParallelism)
        return [(shards * n // count, shards * (n + 1) // count) for n in range(count)]

    def _parts(self, pieces: Pieces) -> list[list[PieceBlocks]]:
        """The pieces in parts of similar size; a small level in one."""
        states, cores = count_states(pieces), self._spark.sparkContext.defaultParallelism
        if not states:
            return []
        most = -(-states // min(-(-states // PART), WAVES * cores))
        parts: list[list[PieceBlocks]] = []
        room = 0
        for piece in split(pieces, max(most // 8, PART)):
            if room < piece.count // 2 or not parts:
                parts.append([])
                room = most
            parts[-1].append(piece)
            room -= piece.count
        return parts

    def _numbers(self, count: int) -> DataFrame:
        """A DataFrame with a row for each task's number."""
        return self._spark.range(0, max(count, 1), 1, max(count, 1))

    def _sharded(self, work: Work, tasks: int) -> DataFrame:
        """The output of `tasks` tasks, partitioned by shard."""
        return self._by_shard(self._numbers(tasks).mapInArrow(work, ROWS))

    def _by_shard(self, rows: DataFrame) -> DataFrame:
        """The rows partitioned by shard (or part)."""
        if hasattr(rows, "repartitionById"):
            return rows.repartitionById(self._run.shards, "shard")
        return rows.repartition(self._run.shards, "shard")  # perhaps several shards in one task

    def _collected(self, rows: DataFrame, work: Work) -> list[dict[str, Any]]:
        """The results of the last stage. Raises JobFailed, Stopped."""
        with self._in_time() as is_late:
            self._warmed.join(self._left())
            for is_last in (*[False] * ONCE_MORE, True):
                if is_late():
                    break
                try:
                    return self._job(rows, work)
                except JobFailed as failed:
                    if not is_late() and (is_last or UNLIKE not in str(failed)):
                        raise
        raise Stopped(End.SECONDS)

    @contextlib.contextmanager
    def _in_time(self) -> Iterator[Callable[[], bool]]:
        """A context that cancels jobs at the time limit, with a test whether it passed."""
        context, left = self._spark.sparkContext, self._left()
        late, done = Event(), Event()

        def watch() -> None:
            if not done.wait(left):
                late.set()
            while not done.wait(AGAIN):
                context.cancelJobGroup(self._token)

        context.setJobGroup(self._token, self.title, interruptOnCancel=True)
        watching = Thread(target=watch, daemon=True)
        if left is not None:
            watching.start()
        try:
            yield late.is_set
        finally:
            done.set()
            for name in GROUP:
                context.setLocalProperty(name, None)  # type: ignore[arg-type]  # which is how to remove one

    def _job(self, rows: DataFrame, work: Work) -> list[dict[str, Any]]:
        """Run a job, and return its rows."""
        try:
            found = rows.mapInArrow(work, REPORT).collect()
        except (PySparkException, Py4JJavaError) as error:
            said = reason(error).removeprefix(f"{Damaged.__module__}.Damaged: ")
            limit = self._spark.sparkContext.getConf().get(LIMIT)
            raise JobFailed(_explained(said, limit)) from None
        return [json.loads(bytes(row.report)) for row in found]

    # ------------------------------------------------------------------ answers

    def _together(self, answers: Iterable[dict[str, Any]], parts: int) -> Expanded:
        """The counters and findings of all expanders together."""
        context = self._kernel.context
        words, expanded = context.new(), [answer for answer in answers if "words" in answer]
        for answer in expanded:
            for place in range(context.taken, context.size):
                words[place] += answer["words"][place]
        if len(expanded) != parts:
            raise JobFailed(f"{len(expanded)} of {parts} tasks have answered")
        return Expanded(words, least(find for answer in expanded for find in answer["expanded"]))

    def _all_there(self, shards: Iterable[int]) -> None:
        """Check that every shard answered."""
        if sorted(shards) != list(range(self._run.shards)):
            raise JobFailed("not every shard has answered once")


def _by_level(answers: list[dict[str, Any]], parts: Sequence[Part]) -> list[Marks]:
    """The marks by level, joined from those of each part."""
    answers.sort(key=lambda answer: int(answer["part"]))
    if [answer["part"] for answer in answers] != list(range(len(parts))):
        raise JobFailed("not every part has answered once")
    every = ([marks_from_json(each) for each in answer["levels"]] for answer in answers)
    return [joined(level) for level in zip(*every, strict=True)]


def _explained(said: str, limit: str | None) -> str:
    """A job's error; if memory may be the cause, with the limit of a worker."""
    if not any(sign in said for sign in SCARCE):
        return said
    allowed = "" if limit is None else f" ({LIMIT}={limit})"
    return f"a Python worker seems to lack memory{allowed}: {said.partition('. ')[0]}"
