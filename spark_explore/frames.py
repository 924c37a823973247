"""The tables of a run as DataFrames, for SQL, and as Parquet; and what is often asked of them.

with session(SparkSettings(master="local[2]")) as spark:
found = states(spark, "run")
found.where("size(isr) = 1").groupBy("_depth").count().show()
"""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from spark_explore.cluster.session import SparkSettings, reason, session
from spark_explore.source import (
    DEPTH,
    FAULTS,
    PUSHDOWN,
    SOURCE,
    STATES,
    TRANSITIONS,
    RunSource,
    of_states,
    run_at,
)
from spark_explore.storage.store import seen_from_anywhere


class TableRefused(OSError):  # noqa: N818 - the report of Spark, not what went wrong
    """Raised if Spark does not read or write a table; has its reason."""


def states(spark: SparkSession, place: str) -> DataFrame:
    """A run's states as a DataFrame: layer, depth, the packed state, and variables.

    Numbers and truth values are what Spark calls them, members are their names, sequences, sets
    and bags arrays, maps maps, records structs, tuples structs of `_1`, `_2`; a union is a struct of
    its case's name, `_case`, and a struct for each case that has fields, all but one of them null.
    With symmetry a state represents all that differ by a renaming.  Costs about a microsecond for
    each state of the levels that are asked for.  Raises CannotResume, OSError, Damaged, TableRefused.
    """
    return _table(spark, place, STATES)


def transitions(spark: SparkSession, place: str) -> DataFrame:
    """Every step from a run's states: layer and depth of the state, action, both states packed.

    `_state` and `_next` are as `_state` of `states`.  Costs expanding the states again.  Raises as `states`.
    """
    return _table(spark, place, TRANSITIONS)


def violating(spark: SparkSession, place: str, prop: str) -> DataFrame:
    """The states of a run that violate an invariant or lemma (a `reachable`: satisfy). Raises KeyError."""
    of_states(run_at(place), prop)
    return _table(spark, place, STATES, violating=prop)


def distribution(found: DataFrame, expression: str) -> DataFrame:
    """The number of states for each value of a Spark SQL expression, the most frequent first."""
    return found.groupBy(expr(expression).alias("value")).count().orderBy("count", ascending=False)


def write(found: DataFrame, where: str, *, is_name: bool = False) -> None:
    """Write a table of a run as Parquet, partitioned by layer and depth. Raises TableRefused.

    `where` is a folder or a URI, which must not exist; or the name of a table, of Spark's catalog.
    """
    writer = found.write.partitionBy(FAULTS, DEPTH)
    try:
        if is_name:
            writer.saveAsTable(where)
        else:
            writer.parquet(seen_from_anywhere(where))
    except (PySparkException, Py4JJavaError) as error:
        raise TableRefused(reason(error)) from None


def write_run(
    place: str,
    where: str,
    *,
    transitions: bool = False,
    violating: str | None = None,
    is_name: bool = False,
    settings: SparkSettings | None = None,
) -> None:
    """Write a table of the run at a place, in the session that there is or one of its own, as `write` does.

    Raises KeyError for a property, CannotStart, TableRefused; CannotResume, OSError and Damaged for the run.
    """
    here = run_at(place)
    if violating is not None:
        of_states(here, violating)
    options = {} if violating is None else {"violating": violating}
    with session(settings or SparkSettings()) as spark:
        write(_table(spark, place, TRANSITIONS if transitions else STATES, **options), where, is_name=is_name)


def _table(spark: SparkSession, place: str, table: str, **options: str) -> DataFrame:
    """A table of a run; whatever is wrong with the run is said before Spark is asked."""
    run_at(place)
    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(RunSource)
    reader = spark.read.format(SOURCE).options(table=table, **options)
    try:
        return reader.load(seen_from_anywhere(place))
    except PySparkException as error:
        raise TableRefused(reason(error)) from None
