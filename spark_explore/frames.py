"""The tables of a run as DataFrames, for SQL, and as Parquet; and what is often asked of them.

How many states of each level have one replica in sync is
`states(spark, "run").where("size(isr) = 1").groupBy("_depth").count()`.
"""

from __future__ import annotations

from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr, lit
from pyspark.sql.pandas.types import from_arrow_schema

from spark_explore.cluster.session import SparkSettings, reason, session, ship
from spark_explore.parquet import write_parquet
from spark_explore.storage.store import seen_from_anywhere
from spark_explore.tables import (
    DEPTH,
    FAULTS,
    STATE,
    TRANSITIONS,
    RunModel,
    TableRefused,
    levels_of,
    of_states,
    run_at,
)


def states(spark: SparkSession, place: str, columns: Sequence[str] | None = None) -> DataFrame:
    """A run's states as a DataFrame: layer, depth, the packed state, and variables.

    Only `columns` are unpacked and go through Java, if they are given; layer and depth come along.

    Numbers and truth values are what Spark calls them, members are their names, sequences, sets
    and bags arrays, maps maps, records structs, tuples structs of `_1`, `_2`; a union is a struct of
    its case's name, `_case`, and a struct for each case that has fields, all but one of them null.
    With symmetry a state represents all that differ by a renaming.  Costs 0.4 to
    3 µs to unpack a state of the levels that are asked for, some 10 more for Java to take all columns,
    and 50 ms a level to plan.  Raises CannotResume, OSError, Damaged; KeyError for no column.
    """
    return _table(spark, place, columns=columns)


def transitions(spark: SparkSession, place: str) -> DataFrame:
    """Every step from a run's states: layer and depth of the state, action, both states packed.

    `_state` and `_next` are as `_state` of `states`.  Costs expanding the states again.  Raises as `states`.
    """
    return _table(spark, place, of_steps=True)


def violating(spark: SparkSession, place: str, prop: str) -> DataFrame:
    """The states of a run that violate an invariant or lemma (a `reachable`: satisfy). Raises KeyError."""
    of_states(run_at(place), prop)
    return _table(spark, place, violating=prop)


def distribution(found: DataFrame, expression: str) -> DataFrame:
    """The number of states for each value of a Spark SQL expression, the most frequent first."""
    return found.groupBy(expr(expression).alias("value")).count().orderBy("count", ascending=False)


def write_run(
    place: str,
    where: str,
    *,
    transitions: bool = False,
    violating: str | None = None,
    columns: Sequence[str] | None = None,
    is_name: bool = False,
    settings: SparkSettings | None = None,
) -> None:
    """Write a table of the run at a place, in the session that there is or one of its own.

    `where` is a folder or a URI for Parquet, which must not exist; or the name of a table, which Spark's
    catalog makes.  Both are partitioned by layer and depth.
    Raises KeyError for a property and a column, CannotStart, TableRefused; for the run CannotResume,
    OSError and Damaged.
    """
    here = run_at(place)
    if violating is not None:
        of_states(here, violating)
    names = _names(here, columns)
    with session(settings or SparkSettings()) as spark:
        if is_name:
            _save(_table(spark, place, of_steps=transitions, violating=violating, columns=columns), where)
        else:
            levels = levels_of(place, of_steps=transitions, violating=violating, names=names)
            write_parquet(spark, levels, seen_from_anywhere(where))


def _save(found: DataFrame, name: str) -> None:
    """Write a table of Spark's catalog, partitioned by layer and depth. Raises TableRefused."""
    try:
        found.write.partitionBy(FAULTS, DEPTH).saveAsTable(name)
    except (PySparkException, Py4JJavaError) as error:
        raise TableRefused(reason(error)) from None


def _table(
    spark: SparkSession,
    place: str,
    *,
    of_steps: bool = False,
    violating: str | None = None,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """A table of a run: of each level a DataFrame in which layer and depth are constants, put together.

    So Spark drops the levels that a filter on them leaves out, and their files are not read.
    """
    ship(spark.sparkContext)
    here = run_at(place)
    names = _names(here, columns)
    frames, schema = [], from_arrow_schema(TRANSITIONS if of_steps else here.schema_of(names))
    for level in levels_of(place, of_steps=of_steps, violating=violating, names=names):
        tasks = len(level.read.pieces)
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(level.read, schema)
        frames.append(rows.select(lit(level.faults).alias(FAULTS), lit(level.depth).alias(DEPTH), "*"))
    if not frames:  # the run was ended before its first level was whole
        empty = spark.createDataFrame([], schema)
        frames = [empty.select(lit(0).alias(FAULTS), lit(0).alias(DEPTH), "*")]
    return _together(frames)


def _names(here: RunModel, columns: Sequence[str] | None) -> Sequence[str]:
    """The names of the columns that are asked for, all by default; Arrow counts no rows without any.

    Raises KeyError for one there is not.
    """
    known: Sequence[str] = here.schema.names
    for name in columns or ():
        if name not in known:
            raise KeyError(name)
    return known if columns is None else tuple(dict.fromkeys(columns)) or (STATE,)


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all; by halves, for Spark looks at each union whole."""
    if len(frames) == 1:
        return frames[0]
    half = len(frames) // 2
    return _together(frames[:half]).union(_together(frames[half:]))
