"""A DataFrame of questions → a DataFrame of answers: equal questions are asked once, by one job.

Rows are read to questions first, each with a key, which brings equal ones to one task; that asks once, and
gives the answers to every row that asks.  All of it is `mapInArrow` of Spark, in the session that the
DataFrame is of: a task that fails, or whose executor is killed, is done again, and its rows are those of
one attempt.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, sha2, struct, to_json
from pyspark.sql.pandas.types import from_arrow_schema

from modelcheck.kafka.settings.keys.releases import kafka
from modelcheck.processes.workers import Mail
from spark_explore.cluster.session import ship
from spec.diagnostics import SpecError, mistyped
from spec.frozen import frozen

TASKS = 16  # for each core: a question may take a thousand times as long as another
ROW, KEY, QUESTION = "_asked_row", "_asked_key", "_asked_question"  # no column of a table is called like that
VALUES = "_asked_values"
PROBLEM = "problem"
Asked = Mapping[str, Any]  # the values of a row, by the names of its columns; without those that are null
Row = Mapping[str, Any]
Batches = Iterator[pa.RecordBatch]


@frozen
class TableQuestion:
    """A question: those with equal keys have equal answers.  `told` are columns of the row that asks it."""

    key: object
    question: Any
    told: Row


class Asker(Protocol):
    """The interface of what is asked of a table; a worker keeps it from one question to the next."""

    @property
    def told(self) -> pa.Schema:
        """The columns that a question gives its row, besides answers."""
        ...

    @property
    def answer(self) -> pa.Schema:
        """The columns of an answer, with `problem`."""
        ...

    def read(self, values: Asked) -> Iterator[TableQuestion]:
        """The questions of a row, soon. Raises SpecError, which is the problem of that row."""
        ...

    def ask(self, question: Any) -> Iterator[Row]:  # noqa: ANN401 - what `read` has made
        """The rows of the answer to a question, which may take long."""
        ...


def answered(rows: DataFrame, columns: Sequence[str], asker: Asker, *, keeps: bool = True) -> DataFrame:
    """Each row with the answers to its questions: the columns of `rows`, of `asker.told`, of `asker.answer`.

    Only `columns` are read to questions; unless it `keeps` them they are dropped.
    Lazy: every action asks again, unless the result is cached or written.  A row is read once.
    Raises SpecError for a column of both.
    """
    for name in (*asker.told.names, *asker.answer.names):
        if name in rows.columns and (keeps or name not in columns):
            raise mistyped("columns", name, f"`{name}` is a column of the answers", "rename it")
    context = rows.sparkSession.sparkContext
    ship(context)
    sent, token = context.broadcast(cloudpickle.dumps(asker)), uuid.uuid4().hex
    values = to_json(struct(*map(column, columns)))
    marked = rows.withColumn(ROW, sha2(values, 256))
    distinct = marked.select(ROW, values.alias(VALUES)).dropDuplicates([ROW])
    read = pa.schema([(ROW, pa.string()), *asker.told, (KEY, pa.binary()), (QUESTION, pa.binary())])
    questions = distinct.mapInArrow(ReadQuestions(token, sent, read), from_arrow_schema(read))
    parts = questions.repartition(TASKS * context.defaultParallelism, KEY)
    asked = parts.sortWithinPartitions(
        KEY, col(QUESTION).isNull()
    )  # what is asked, before who only has the key
    answer = pa.schema([(ROW, pa.string()), *asker.told, *asker.answer])
    found = asked.mapInArrow(AskQuestions(token, sent, answer), from_arrow_schema(answer))
    kept = marked if keeps else marked.drop(*columns)
    return kept.join(found.hint("merge"), ROW, "left").drop(ROW)  # a broadcast has 300 seconds


def column(name: str) -> Column:
    """The column with a name, which may have dots."""
    return col(f"`{name}`")


@frozen
class ReadQuestions:
    """A Spark task: reads rows to questions; each question comes along with the first row that asks it."""

    token: str
    sent: Any
    to: pa.Schema

    def __call__(self, batches: Batches) -> Batches:
        """A batch for each row."""
        asker, mail = _opened(self.token, self.sent.value)
        sent = set[bytes]()
        for batch in batches:
            for row, values in zip(batch[ROW].to_pylist(), batch[VALUES].to_pylist(), strict=True):
                found = []
                for each in _read(asker, json.loads(values)):
                    key = hashlib.sha256(repr(each.key).encode()).digest()
                    question = None if key in sent else mail.encoded(each.question)
                    sent.add(key)
                    found.append({ROW: row, **each.told, KEY: key, QUESTION: question})
                yield pa.RecordBatch.from_pylist(found, schema=self.to)


@frozen
class AskQuestions:
    """A Spark task: asks each question once, and gives its rows the answers; equal keys are together."""

    token: str
    sent: Any
    to: pa.Schema

    def __call__(self, batches: Batches) -> Batches:
        """A batch for each question, as soon as it is answered; more where many rows ask it."""
        asker, mail = _opened(self.token, self.sent.value)
        schema, last = pa.schema([self.to.field(name) for name in asker.answer.names]), None
        for batch in batches:
            keys = batch[KEY].to_pylist()
            for key, same in groupby(range(len(keys)), keys.__getitem__):
                first, *others = same
                if key != last:
                    question = mail.read(batch[QUESTION][first].as_py())
                    answers = pa.RecordBatch.from_pylist(list(_asked(asker, question)), schema=schema)
                    last = key
                yield self._of_each(batch.slice(first, 1 + len(others)), answers)

    def _of_each(self, rows: pa.RecordBatch, answers: pa.RecordBatch) -> pa.RecordBatch:
        """Each of the rows with each of the answers."""
        many, several = rows.num_rows, answers.num_rows
        own = rows.take(pa.array(np.repeat(np.arange(many), several)))
        theirs = answers.take(pa.array(np.tile(np.arange(several), many)))
        columns = [(theirs if name in answers.schema.names else own)[name] for name in self.to.names]
        return pa.RecordBatch.from_arrays(columns, schema=self.to)


@frozen
class NoQuestion:
    """The question of a row that cannot be read: its problem."""

    problem: str


def _read(asker: Asker, values: Asked) -> Iterator[TableQuestion]:
    """The questions of a row, or the one that says why there are none."""
    try:
        yield from asker.read(values)
    except SpecError as error:
        told = _said(error)
        yield TableQuestion((PROBLEM, told), NoQuestion(told), {})


def _asked(asker: Asker, question: Any) -> Iterator[Row]:  # noqa: ANN401 - what the asker has made
    """The rows of the answer; one with the problem where there is none."""
    if isinstance(question, NoQuestion):
        yield {PROBLEM: question.problem}
        return
    try:
        yield from asker.ask(question)
    except SpecError as error:
        yield {PROBLEM: _said(error)}


def _said(error: SpecError) -> str:
    """What is wrong, in a line."""
    return "; ".join(each.message for each in error.diagnostics)


@lru_cache(maxsize=1)
def _opened(_token: str, data: bytes) -> tuple[Asker, Mail]:
    """What is asked, and how questions are sent; kept by a worker for its next task.

    Models of Kafka are named, so that each worker has them and what was compiled of them once.
    """
    asker: Asker = pickle.loads(data)  # noqa: S301 - by our own driver
    return asker, Mail(tuple(kafka().values()))
