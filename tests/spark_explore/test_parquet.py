"""A table as Parquet, without Spark: its tasks here, each of them twice, as when Spark tries one again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modelcheck.api import check
from spark_explore import parquet
from spark_explore.engine import SparkEngine
from spark_explore.parquet import write_parquet
from spark_explore.tables import LevelRows, TableRefused, levels_of, run_at
from spec.load import load


class Tasks:
    """What `write_parquet` asks of Spark: tasks that run twice each, and of which the second counts."""

    def __init__(self, lose: int | None = None) -> None:
        self.sparkContext = SimpleNamespace(setJobDescription=self._named, setLocalProperty=lambda *_: None)
        self.title = ""
        self._lose = lose
        self._count = 0
        self._work: Any = None

    def _named(self, title: str) -> None:
        self.title = title

    def range(self, first: int, end: int, step: int, tasks: int) -> Tasks:
        assert (first, step, tasks) == (0, 1, max(end, 1))
        self._count = end
        return self

    def mapInArrow(self, work: Callable[[Any], Any], _schema: str) -> Tasks:  # noqa: N802 - Spark's name
        self._work = work
        return self

    def collect(self) -> list[SimpleNamespace]:
        rows = []
        for number in range(self._count):
            batch = pa.RecordBatch.from_pydict({"id": [number]})
            attempts = [list(self._work(iter([batch]))) for _ in range(2)]
            rows += [row for each in attempts[1] for row in each.to_pylist()]
        return [SimpleNamespace(**row) for n, row in enumerate(rows) if n != self._lose]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run with two layers of faults, of a check that is violated."""
    model, question = next((m, c) for m in load("quorum") for c in m.checks if c.name == "promise_lost")
    found = str(tmp_path_factory.mktemp("quorum") / "run")
    check(model, question, engine=SparkEngine(run_dir=found, driver_states=None))
    return found


def written(levels: list[LevelRows], where: Path, monkeypatch: pytest.MonkeyPatch) -> pa.Table:
    """The table that is read of what was written."""
    monkeypatch.setattr(parquet, "ship", lambda _: None)
    monkeypatch.setattr(parquet, "GROUP", 100)
    spark = Tasks()
    write_parquet(spark, levels, str(where))  # type: ignore[arg-type]
    assert spark.title.startswith(f"modelcheck: {where}, ")
    return pq.read_table(where, ignore_prefixes=[".", "_SUCCESS", "_temporary"])


def by_level(table: pa.Table) -> Counter[tuple[object, ...]]:
    """The rows, each with its layer and depth."""
    names = ["_faults", "_depth", *(name for name in table.schema.names if name not in ("_faults", "_depth"))]
    told = table.select(names).to_pylist()
    return Counter(tuple(map(repr, (int(row["_faults"]), int(row["_depth"]), row))) for row in told)


def rows_of(levels: list[LevelRows]) -> Counter[tuple[object, ...]]:
    """The rows as they are read, each with its layer and depth."""
    tables = []
    for level in levels:
        table = pa.Table.from_batches(
            level.read.rows(range(len(level.read.pieces))), schema=level.read.schema
        )
        for name, value in (("_depth", level.depth), ("_faults", level.faults)):
            table = table.append_column(name, pa.array([value] * table.num_rows, pa.int64()))
        tables.append(table)
    return by_level(pa.concat_tables(tables))


@pytest.mark.parametrize("of_steps", [False, True])
def test_what_is_written_is_what_is_read(
    place: str, *, of_steps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = levels_of(place, of_steps=of_steps, names=run_at(place).schema.names)
    table = written(levels, tmp_path / "table", monkeypatch)
    told = by_level(plain(table))

    assert {int(each.faults) for each in levels} == {0, 1}
    assert told == rows_of(levels)
    assert {path.name for path in (tmp_path / "table").iterdir()} == {"_faults=0", "_faults=1", "_SUCCESS"}
    for level in levels:
        assert list((tmp_path / f"table/_faults={level.faults}/_depth={level.depth}").iterdir())


def plain(table: pa.Table) -> pa.Table:
    """A table whose layer and depth, which come from folders, are numbers."""
    for name in ("_depth", "_faults"):
        numbers = pa.array([int(each) for each in table[name].to_pylist()], pa.int64())
        table = table.drop_columns([name]).append_column(name, numbers)
    return table


def test_a_part_without_rows_has_no_file(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_at(place).schema.names
    prop = next(
        each.name for each in run_at(place).model.properties if "lost" in each.name or "surv" in each.name
    )
    levels = levels_of(place, violating=prop, names=names)
    table = written(levels, tmp_path / "table", monkeypatch)
    files = list((tmp_path / "table").rglob("*.parquet"))

    assert 0 < table.num_rows < sum(rows_of(levels_of(place, names=names)).values())
    assert by_level(plain(table)) == rows_of(levels)
    assert all(pq.read_metadata(path).num_rows for path in files)
    assert len(files) < len(levels)


def test_a_table_is_written_whole_or_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ship", lambda _: None)
    levels = levels_of(place, names=["_state"])
    with pytest.raises(TableRefused, match="not every part was written once"):
        write_parquet(Tasks(lose=2), levels, str(tmp_path / "lost"))  # type: ignore[arg-type]
    assert list((tmp_path / "lost").iterdir()) == []
    write_parquet(Tasks(), levels, str(tmp_path / "lost"))  # type: ignore[arg-type]
    with pytest.raises(TableRefused, match="already exists"):
        write_parquet(Tasks(), levels, str(tmp_path / "lost"))  # type: ignore[arg-type]
