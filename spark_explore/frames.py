"""The states of a run as a DataFrame with a column for each variable, for SQL; and what is often asked of it.

with session(SparkSettings(master="local[2]")) as spark:
found = states(spark, "run")
found.where("size(isr) = 1").groupBy("_depth").count().show()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.pandas.types import from_arrow_schema

from modelcheck.explicit.codegen.states.layout import PackedLayout, layout
from spark_explore.search.blocks import words_at
from spark_explore.search.remote import numbers
from spark_explore.storage.pieces import FilePiece, blocks, split
from spark_explore.storage.run import Json, level_from_json, manifests, opened
from spark_explore.storage.store import store_at
from spec.frozen import frozen
from spec.load import loads
from spec.meaning.semantics import Machine, State
from spec.model.ir import Budget, Model, PropertyKind, Scope
from spec.model.kinds import OF_STATES
from spec.model.types import Bool, Enum, Int, Map, Nat, Option, Range, Record, Seq, Set, Sort, Type
from spec.model.values import decode, members, ordered, show

PART = 1 << 17  # states for a task
ROWS = 1 << 12  # states in a batch
FAULTS, DEPTH = "_faults", "_depth"  # how a state was found first; no variable is called like that
Column = tuple[pa.DataType, Callable[[Any], Any]]


def states(spark: SparkSession, place: str) -> DataFrame:
    """A run's states as a DataFrame: layer, depth and variables.

    Numbers, truth values, sequences, sets, records and maps are what Spark calls them, members
    are their names, and what else there is reads as in the language.  With symmetry a state
    represents all that differ by a renaming.  Costs some microseconds for each state that is
    looked at. Raises CannotResume, OSError, Damaged.
    """
    return _read(spark, place, None)


def violating(spark: SparkSession, place: str, prop: str) -> DataFrame:
    """The states of a run that violate an invariant or lemma (a `reachable`: satisfy). Raises KeyError."""
    found = _about(place).model.property(prop)
    if found.kind not in OF_STATES:
        raise KeyError(prop)
    return _read(spark, place, prop)


def distribution(found: DataFrame, expression: str) -> DataFrame:
    """The number of states for each value of a Spark SQL expression, the most frequent first."""
    return found.groupBy(expr(expression).alias("value")).count().orderBy("count", ascending=False)


# ------------------------------------------------------------------------- reading


class _LevelPiece(NamedTuple):
    """A piece of the states of one level."""

    faults: int
    depth: int
    piece: FilePiece


@frozen
class _RunModel:
    """The model, scope and layout that a run's states are of."""

    model: Model
    scope: Scope
    packed: PackedLayout


def _read(spark: SparkSession, place: str, prop: str | None) -> DataFrame:
    """The states of a run, or those that violate a property, as a DataFrame."""
    parts: list[_LevelPiece] = []
    about = _about(place)
    for data in manifests(store_at(place)):
        level = level_from_json(data)
        pieces = split(level.new, PART, 8 * about.packed.words)
        parts += [_LevelPiece(level.faults, level.depth, piece) for piece in pieces]
    tasks = max(1, min(len(parts), 4 * spark.sparkContext.defaultParallelism))
    shares = [parts[number::tasks] for number in range(tasks)]
    ddl = from_arrow_schema(_schema(about))
    return spark.range(0, tasks, 1, tasks).mapInArrow(_StateReader(place, shares, prop), ddl)


@frozen
class _StateReader:
    """A Spark task that unpacks pieces of states, given by number, and filters violations."""

    place: str
    shares: Sequence[Sequence[_LevelPiece]]
    prop: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        about, store = _about(self.place), store_at(self.place)
        schema, width, test = _schema(about), 8 * about.packed.words, _test(about, self.prop)
        convert = [column(variable.type, about.scope)[1] for variable in about.model.variables]
        names = [variable.name for variable in about.model.variables]
        for number in numbers(batches):
            rows: list[dict[str, Any]] = []
            for faults, depth, piece in self.shares[number]:
                for block in blocks(store, [piece], width):
                    for at in range(len(block) // width):
                        _, state = about.packed.unpack(words_at(block, at, about.packed.words))
                        if not test(state):
                            continue
                        data = (f(value) for f, value in zip(convert, state, strict=True))
                        rows.append({FAULTS: faults, DEPTH: depth, **dict(zip(names, data, strict=True))})
                        if len(rows) == ROWS:
                            yield pa.RecordBatch.from_pylist(rows, schema=schema)
                            rows = []
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _test(about: _RunModel, prop: str | None) -> Callable[[State], bool]:
    """The test that selects states for a property; all if None."""
    if prop is None:
        return lambda _: True
    found, machine = about.model.property(prop), Machine(about.model, about.scope)
    wanted = found.kind is PropertyKind.REACHABLE
    return lambda state: machine.holds(found, state) == wanted


def _schema(about: _RunModel) -> pa.Schema:
    """The Arrow schema of the DataFrame."""
    own = [(variable.name, column(variable.type, about.scope)[0]) for variable in about.model.variables]
    return pa.schema([(FAULTS, pa.int32()), (DEPTH, pa.int32()), *own])


def column(of: Type, scope: Scope) -> Column:
    """The Spark column for values of a type, and the function that converts values to it."""
    match of:
        case Bool():
            return pa.bool_(), bool
        case Int() | Range() | Nat():
            return pa.int64(), int
        case Option(inner):
            kind, convert = column(inner, scope)
            return kind, lambda value: None if value is None else convert(value)
        case Seq(inner):
            kind, convert = column(inner, scope)
            return pa.list_(kind), lambda value: [convert(each) for each in value]
        case Set(inner):
            kind, convert = column(inner, scope)
            return pa.list_(kind), lambda value: [convert(each) for each in ordered(value)]
        case Map(key, inner):
            kind, convert = column(inner, scope)
            keys = [show(key, each, scope) for each in members(key, scope)]
            return pa.map_(pa.string(), kind), lambda value: [
                (name, convert(each)) for name, each in zip(keys, value, strict=True)
            ]
        case Record(_, fields):
            each = [(field.name, column(field.type, scope)) for field in fields]
            return pa.struct([(name, kind) for name, (kind, _) in each]), lambda value: {
                name: convert(part) for (name, (_, convert)), part in zip(each, value, strict=True)
            }
        case Enum() | Sort():
            names = {value: show(of, value, scope) for value in members(of, scope)}
            return pa.string(), lambda value: names[value]
        case _:
            return pa.string(), lambda value: show(of, value, scope)


@lru_cache(maxsize=4)
def _about(place: str) -> _RunModel:
    """The model and scope of the run at a place."""
    _, data = opened(store_at(place))
    model = next(model for model in loads(data["text"], data["file"]) if model.name == data["model"])
    scope = _scope(model, data["scope"])
    total, kinds = data["budget"]
    return _RunModel(model, scope, layout(model, scope, Budget(total, kinds).counted))


def _scope(model: Model, data: Json) -> Scope:
    """The scope in a run's description."""
    sorts = {name: tuple(each) for name, each in data["sorts"].items()}
    bare = Scope(sorts, data["nats"], data["networks"], {})
    config = {e.name: decode(e.type, bare)(bytes.fromhex(data["config"][e.name])) for e in model.configs}
    return Scope(sorts, data["nats"], data["networks"], config)
