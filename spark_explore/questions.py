"""Questions as a DataFrame, answers as a DataFrame: equal questions are asked once, by one job.

The job is `mapInArrow` of Spark, in the session that the DataFrame is of: a task that fails, or whose
executor is killed, is asked again, and its rows are those of one attempt.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col
from pyspark.sql.pandas.types import from_arrow_schema

from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides
from modelcheck.asking.sweep import FAULTS, Axis, Orders, SweepAnswer, answer, points
from modelcheck.asking.sweep_rows import rows_of
from modelcheck.contract.engine import Engine
from modelcheck.engines.registry import engine
from spark_explore.cluster.session import ship
from spec.diagnostics import SpecError, mistyped
from spec.frozen import frozen
from spec.load import load
from spec.model.ir import Model

TASKS = 16  # for each core: a question may take a thousand times as long as another
OWN = "_asked_"  # before the names of the columns by which answers find their questions
ANSWERS = pa.schema(
    [
        ("model", pa.string()),
        ("check", pa.string()),
        ("property", pa.string()),
        ("verdict", pa.string()),
        ("run_faults", pa.int64()),
        ("run_steps", pa.int64()),
        ("states", pa.int64()),
        ("transitions", pa.int64()),
        ("seconds", pa.float64()),
        ("problem", pa.string()),
    ]
)
Asked = Mapping[str, str]  # the values of a question, by the names of its columns
Ask = Callable[[Asked], Iterator[Mapping[str, Any]]]
Batches = Iterator[pa.RecordBatch]


def sweep(
    questions: DataFrame,
    model: str | Path | Sequence[Model],
    check: str | None = None,
    *,
    given: Overrides | None = None,
    properties: Sequence[str] = (),
    orders: Orders | None = None,
) -> DataFrame:
    """Each row with the answers of its check: a row for each property, with the columns of `ANSWERS`.

    Columns with names of the scope, of the configuration, or `faults`, are the values there, null for
    those of the check; others are carried along.  `problem` says which value does not fit.
    Lazy: every action asks again, unless the result is cached or written.  Costs a search on one core
    for each distinct row.  Raises SpecError for what is wrong with the model, the check, or the columns.
    """
    models = load(model) if isinstance(model, str | Path) else tuple(model)
    checked = pick_checks(models, [] if check is None else [check]) if any(m.checks for m in models) else []
    varied = [name for name in questions.columns if name in _names(models)]
    if not varied:
        known = ", ".join(sorted(_names(models)))
        raise mistyped("columns", ", ".join(questions.columns), f"no column is one of: {known}")
    asked = SweepAsked(models, tuple(checked), given or Overrides(), tuple(properties), orders or Orders())
    return answered(questions, varied, asked, ANSWERS)


def answered(questions: DataFrame, asked: Sequence[str], ask: Ask, to: pa.Schema) -> DataFrame:
    """Each row of questions with the rows that `ask` has for the columns `asked`, as columns of `to`.

    Distinct questions are asked once, each in a task's turn.  Raises SpecError for a column of both.
    """
    for name in to.names:
        if name in questions.columns:
            raise mistyped("columns", name, f"`{name}` is a column of the answers", "rename it")
    context = questions.sparkSession.sparkContext
    ship(context)
    own = [OWN + name for name in asked]
    distinct = questions.select([_of(name).cast("string").alias(OWN + name) for name in asked]).distinct()
    parts = distinct.repartition(TASKS * context.defaultParallelism)
    work = AskRows(uuid.uuid4().hex, context.broadcast(cloudpickle.dumps(ask)), tuple(asked), to)
    schema = pa.schema([*((name, pa.string()) for name in own), *to])
    found = parts.mapInArrow(work, from_arrow_schema(schema)).hint("merge")  # a broadcast has 300 seconds
    same = [_of(name).cast("string").eqNullSafe(col(_quoted(OWN + name))) for name in asked]
    return questions.join(found, reduce(Column.__and__, same), "left").drop(*own)


def _of(name: str) -> Column:
    """The column with a name, which may have dots."""
    return col(_quoted(name))


def _quoted(name: str) -> str:
    """A name as SQL takes it."""
    return f"`{name}`"


@frozen
class AskRows:
    """A Spark task: asks each question of its rows, and gives the rows of the answers."""

    token: str
    ask: Any
    asked: Sequence[str]
    to: pa.Schema

    def __call__(self, batches: Batches) -> Batches:
        """A batch for each question, as soon as it is answered."""
        ask = _unpickled(self.token, self.ask.value)
        schema = pa.schema([*((OWN + name, pa.string()) for name in self.asked), *self.to])
        for batch in batches:
            for row in batch.to_pylist():
                values = {name: row[OWN + name] for name in self.asked}
                rows = ask({name: value for name, value in values.items() if value is not None})
                yield pa.RecordBatch.from_pylist([{**row, **each} for each in rows], schema=schema)


@lru_cache(maxsize=1)
def _unpickled(_token: str, data: bytes) -> Ask:
    """What asks, kept by a worker for its next task."""
    made: Ask = pickle.loads(data)  # noqa: S301 - by our own driver
    return made


# ---------------------------------------------------------------------------- a sweep


@frozen
class SweepAsked:
    """Asks the checks of a model with the values of a row."""

    models: tuple[Model, ...]
    checks: tuple[Any, ...]
    given: Overrides
    properties: tuple[str, ...]
    orders: Orders

    def __call__(self, values: Asked) -> Iterator[Mapping[str, Any]]:
        """The rows of the answers; one with the problem where the values do not fit."""
        axes = [Axis(name, (value,)) for name, value in values.items()]
        try:
            made = points(self.models, self.checks, axes, self.given, properties=self.properties)
        except SpecError as error:
            told = "; ".join(each.message for each in error.diagnostics)
            yield {"verdict": "unknown", "problem": told}
            return
        for point in made:
            yield from rows_of(point, {}, self._answer(point))

    def _answer(self, point: Any) -> SweepAnswer:  # noqa: ANN401 - a point
        """The answer of one point."""
        return answer(point, self.orders, engine=_engine())


@lru_cache(maxsize=1)
def _engine() -> Engine:
    """The engine of this worker, which keeps what it has compiled."""
    return engine("explicit", series=True)


def _names(models: Sequence[Model]) -> set[str]:
    """The names that a row may give values for."""
    found = {FAULTS}
    for model in models:
        found |= {each.name for part in (model.sorts, model.nats, model.configs) for each in part}
        found |= {variable.name for variable in model.variables if variable.network}
    return found
