"""A DataFrame of questions → a DataFrame of answers: equal questions are asked once, by one job.

Rows are read to questions first, each with a key, which brings equal ones to one task; that asks once, and
gives the answers to every row that asks.  A row of many questions is read in parts, by several tasks.
All of it is `mapInArrow` of Spark, in the session that the DataFrame is of: a task that fails, or whose
executor is killed, is done again, and its rows are those of one attempt.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, sha2, struct, to_json
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import DataType

from modelcheck.processes.workers import Mail
from spark_explore.cluster.session import ship
from spec.diagnostics import SpecError, mistyped
from spec.frozen import frozen

TASKS = 16  # for each core: a question may take a thousand times as long as another
ROW, KEY, QUESTION = "_asked_row", "_asked_key", "_asked_question"  # no column of a table is called like that
VALUES, PART = "_asked_values", "_asked_part"
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

    @property
    def mail(self) -> Mail:
        """How questions are sent: without the objects that a worker has with the asker."""
        ...

    def read(self, values: Any) -> Iterator[TableQuestion]:  # noqa: ANN401 - of a `PartAsker` a part
        """The questions of a row, its values `Asked`, soon. Raises SpecError, which is its problem."""
        ...

    def ask(self, question: Any) -> Iterator[Row]:  # noqa: ANN401 - what `read` has made
        """The rows of the answer to a question, which may take long."""
        ...


@runtime_checkable
class PartAsker(Asker, Protocol):
    """The interface of what has many questions of a row, so that several tasks read it, each a part."""

    def parts(self, values: Asked) -> Iterator[Any]:
        """What `read` is given, in place of the row. Raises SpecError, which is the problem of that row."""
        ...


def answered(rows: DataFrame, columns: Sequence[str], asker: Asker, *, keeps: bool = True) -> DataFrame:
    """Each row with the answers to its questions: the columns of `rows`, of `asker.told`, of `asker.answer`.

    Only `columns` are read to questions; unless it `keeps` them they are dropped.
    Lazy: every action asks again, unless the result is cached or written.  A row, or a part of one, is read
    once.  Raises SpecError for a column of both.
    """
    for name in (*asker.told.names, *asker.answer.names):
        if name in rows.columns and (keeps or name not in columns):
            raise mistyped("columns", name, f"`{name}` is a column of the answers", "rename it")
    context = rows.sparkSession.sparkContext
    ship(context)
    tasks = TASKS * context.defaultParallelism
    sent, token = context.broadcast(cloudpickle.dumps(asker)), uuid.uuid4().hex
    values = to_json(struct(*map(column, columns)))
    marked = rows.withColumn(ROW, sha2(values, 256))
    distinct = marked.select(ROW, values.alias(VALUES)).dropDuplicates([ROW]).coalesce(tasks)
    if isinstance(asker, PartAsker):
        parts = distinct.mapInArrow(DivideRows(token, sent), from_arrow_schema(PARTS))
        distinct = parts.repartition(tasks, ROW, PART)
    read = pa.schema([(ROW, pa.string()), *asker.told, (KEY, pa.binary()), (QUESTION, pa.binary())])
    questions = distinct.mapInArrow(ReadQuestions(token, sent, read), from_arrow_schema(read))
    # What is asked comes before who only has the key.
    asked = questions.repartition(tasks, KEY).sortWithinPartitions(KEY, col(QUESTION).isNull())
    answer = pa.schema([(ROW, pa.string()), *asker.told, *asker.answer])
    found = asked.mapInArrow(AskQuestions(token, sent, answer), from_arrow_schema(answer))
    kept = marked if keeps else marked.drop(*columns)
    return kept.join(found.hint("merge"), ROW, "left").drop(ROW)  # a broadcast has 300 seconds


def column(name: str) -> Column:
    """The column with a name, which may have dots."""
    return col(f"`{name}`")


def insist_on_type(rows: DataFrame, name: str, wanted: DataType) -> None:
    """Raise SpecError for a column of another type."""
    found = rows.schema[name].dataType.simpleString()
    if found != wanted.simpleString():
        raise mistyped("columns", name, f"`{name}` is {found}, and no {wanted.simpleString()}")


PARTS = pa.schema([(ROW, pa.string()), (PART, pa.int32()), (VALUES, pa.binary())])


@frozen
class DivideRows:
    """A Spark task: divides rows, each into parts by number."""

    token: str
    sent: Any

    def __call__(self, batches: Batches) -> Batches:
        """A batch for each part."""
        asker = _opened(self.token, self.sent.value)
        for batch in batches:
            for row, values in zip(batch[ROW].to_pylist(), batch[VALUES].to_pylist(), strict=True):
                for number, part in enumerate(_parts(asker, json.loads(values))):
                    own = {ROW: row, PART: number, VALUES: pickle.dumps(part)}
                    yield pa.RecordBatch.from_pylist([own], schema=PARTS)


@frozen
class ReadQuestions:
    """A Spark task: reads rows to questions; each question comes along with the first row that asks it."""

    token: str
    sent: Any
    to: pa.Schema

    def __call__(self, batches: Batches) -> Batches:
        """A batch for each row, or part of one."""
        asker = _opened(self.token, self.sent.value)
        mail, sent = asker.mail, set[bytes]()
        for batch in batches:
            for row, values in zip(batch[ROW].to_pylist(), batch[VALUES].to_pylist(), strict=True):
                found = []
                for each in _read(asker, _opened_values(values)):
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
        asker = _opened(self.token, self.sent.value)
        mail = asker.mail
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
    """The question, or part, of a row that cannot be read: its problem."""

    problem: str


def no_question(problem: str, told: Row | None = None) -> TableQuestion:
    """A question that cannot be asked; its answer is the problem."""
    return TableQuestion((PROBLEM, problem), NoQuestion(problem), told or {})


def _parts(asker: PartAsker, values: Asked) -> Iterator[Any]:
    """The parts of a row, or the one that says why there are none."""
    try:
        yield from asker.parts(values)
    except SpecError as error:
        yield NoQuestion(said(error))


def _opened_values(values: str | bytes) -> Any:  # noqa: ANN401 - a row, or what the asker has made
    """What is read: the values of a row, or a part of it."""
    return json.loads(values) if isinstance(values, str) else pickle.loads(values)  # noqa: S301 - by our own task


def _read(asker: Asker, values: Any) -> Iterator[TableQuestion]:  # noqa: ANN401 - of a `PartAsker` a part
    """The questions of a row, or the one that says why there are none."""
    if isinstance(values, NoQuestion):
        yield no_question(values.problem)
        return
    try:
        yield from asker.read(values)
    except SpecError as error:
        yield no_question(said(error))


def _asked(asker: Asker, question: Any) -> Iterator[Row]:  # noqa: ANN401 - what the asker has made
    """The rows of the answer; one with the problem where there is none."""
    if isinstance(question, NoQuestion):
        yield {PROBLEM: question.problem}
        return
    try:
        yield from asker.ask(question)
    except SpecError as error:
        yield {PROBLEM: said(error)}


def said(error: SpecError) -> str:
    """What is wrong, in a line."""
    return "; ".join(each.message for each in error.diagnostics)


@lru_cache(maxsize=1)
def _opened(_token: str, data: bytes) -> Any:  # noqa: ANN401 - an `Asker`, or a `PartAsker`
    """What asks; kept by a worker for its next task."""
    return pickle.loads(data)  # noqa: S301 - by our own driver
