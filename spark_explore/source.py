"""The tables of a run as a data source of Spark, `spark.read.format("modelcheck")`.

Spark asks for the levels that it wants, so `_depth < 5` reads their files alone; a task reads some
pieces, and gives blocks of rows in Arrow's form.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import c_uint64
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import datasource as ds
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import ACTION, FAULT, MOST_NAMED
from modelcheck.explicit.codegen.states.layout import PackedLayout, layout
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.columns import Codes, columns
from spark_explore.search.blocks import FAILED, Expander, address_of
from spark_explore.storage.pieces import FilePiece, blocks, split
from spark_explore.storage.run import Json, RunLevel, level_from_json, manifests, opened
from spark_explore.storage.store import store_at
from spec.frozen import frozen
from spec.load import loads
from spec.model.ir import Budget, Model, Scope
from spec.model.kinds import OF_STATES
from spec.model.values import decode

SOURCE = "modelcheck"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"  # else Spark hands no filter down
PART = 1 << 17  # states for a task
ROWS = 1 << 14  # states in a batch
FAULTS, DEPTH = "_faults", "_depth"  # how a state was found first; no variable is called like that
STATE, NEXT = "_state", "_next"  # the packed states
ACTION_NAME, BY_FAULT = "_action", "_by_fault"
STATES, TRANSITIONS = "states", "transitions"  # the tables
LEVEL = [(FAULTS, pa.int32()), (DEPTH, pa.int32()), (STATE, pa.binary())]
COMPARED: Mapping[type[ds.Filter], Callable[[Any, Any], bool]] = {
    ds.EqualTo: operator.eq,
    ds.EqualNullSafe: operator.eq,
    ds.GreaterThan: operator.gt,
    ds.GreaterThanOrEqual: operator.ge,
    ds.LessThan: operator.lt,
    ds.LessThanOrEqual: operator.le,
}
Rows = Iterator[pa.RecordBatch]


class RunSource(ds.DataSource):
    """The states or transitions of the run at the path; with `violating`, the states that violate that."""

    @classmethod
    def name(cls) -> str:
        """What `spark.read.format` takes."""
        return SOURCE

    def schema(self) -> StructType:
        """The columns of the table."""
        found = from_arrow_schema(self._reader().schema)
        assert isinstance(found, StructType)
        return found

    def reader(self, schema: StructType) -> RunReader:  # noqa: ARG002 - Spark gives it
        """What reads the table."""
        return self._reader()

    def _reader(self) -> RunReader:
        """What reads the table that the options name."""
        options = self.options
        return RunReader(options["path"], options.get("table", STATES), options.get("violating"))


class LevelPiece(NamedTuple):
    """A piece of the states of one level."""

    faults: int
    depth: int
    piece: FilePiece


class RunReader(ds.DataSourceReader):
    """Reads a table of a run, of the levels that are wanted. Raises CannotResume, OSError, Damaged."""

    def __init__(self, place: str, table: str, prop: str | None) -> None:
        self.place, self.table, self.prop = place, table, prop
        self.wanted: list[ds.Filter] = []

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table in Arrow's types."""
        return transitions_schema() if self.table == TRANSITIONS else run_at(self.place).schema

    def pushFilters(self, filters: list[ds.Filter]) -> Iterable[ds.Filter]:  # noqa: N802 - Spark's name
        """The filters that are not about layers and depths alone."""
        for each in filters:
            if getattr(each, "attribute", None) in {(FAULTS,), (DEPTH,)} and type(each) in {*COMPARED, ds.In}:
                self.wanted.append(each)
            else:
                yield each

    def partitions(self) -> Sequence[ds.InputPartition]:
        """The pieces for each task."""
        width = 8 * run_at(self.place).packed.words
        shares: list[list[LevelPiece]] = []
        room = 0
        for level in map(level_from_json, manifests(store_at(self.place))):
            for piece in split(level.new, PART, width) if self._wants(level) else ():
                if room < piece.count:
                    shares.append([])
                    room = PART
                shares[-1].append(LevelPiece(level.faults, level.depth, piece))
                room -= piece.count
        return [ds.InputPartition(share) for share in shares] or [ds.InputPartition([])]

    def _wants(self, level: RunLevel) -> bool:
        """Whether a level has rows that all filters let through."""
        values = {FAULTS: level.faults, DEPTH: level.depth}
        return all(_lets_through(each, values[each.attribute[0]]) for each in self.wanted)  # type: ignore[attr-defined]

    def read(self, partition: ds.InputPartition) -> Rows:
        """The rows of some pieces."""
        here = run_at(self.place)
        rows = Transitions(here).of if self.table == TRANSITIONS else States(here, self.prop).of
        for faults, depth, piece in partition.value:
            for block in blocks(store_at(self.place), [piece], 8 * here.packed.words):
                yield from rows(faults, depth, block)


def _lets_through(each: ds.Filter, value: int) -> bool:
    """Whether a filter lets rows with this value through."""
    if isinstance(each, ds.In):
        return value in each.value
    return COMPARED[type(each)](value, each.value)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------ the run


@frozen(slots=False)
class RunModel:
    """The model, scope, budget and layout that a run's states are of."""

    model: Model
    scope: Scope
    budget: Budget
    symmetry: tuple[str, ...]
    packed: PackedLayout

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the table of states."""
        own = [(name, each.arrow) for name, each in columns(self.model, self.scope, self.packed)]
        return pa.schema([*LEVEL, *own])

    def kernel(self, *properties: str) -> Kernel:
        """The compiled code that expands states, and asks for these properties."""
        asked = tuple(map(self.model.property, properties))
        return Kernel(Task(self.model, self.scope, self.budget, asked, symmetry=self.symmetry), blocks=True)


@lru_cache(maxsize=4)
def run_at(place: str) -> RunModel:
    """The model and scope of the run at a place. Raises CannotResume, OSError, Damaged."""
    _, data = opened(store_at(place))
    model = next(model for model in loads(data["text"], data["file"]) if model.name == data["model"])
    scope, budget = _scope(model, data["scope"]), Budget(*data["budget"])
    return RunModel(model, scope, budget, tuple(data["symmetry"]), layout(model, scope, budget.counted))


def _scope(model: Model, data: Json) -> Scope:
    """The scope in a run's description."""
    sorts = {name: tuple(each) for name, each in data["sorts"].items()}
    bare = Scope(sorts, data["nats"], data["networks"], {})
    config = {e.name: decode(e.type, bare)(bytes.fromhex(data["config"][e.name])) for e in model.configs}
    return Scope(sorts, data["nats"], data["networks"], config)


def of_states(here: RunModel, prop: str) -> None:
    """Raise KeyError unless the model has this property, and states have it."""
    if here.model.property(prop).kind not in OF_STATES:
        raise KeyError(prop)


# ----------------------------------------------------------------------------- the rows


class States:
    """The rows of a table of states: all, or those that violate (a `reachable`: satisfy) a property."""

    def __init__(self, here: RunModel, prop: str | None) -> None:
        self._here = here
        self._kernel = None if prop is None else here.kernel(prop)
        self._columns = [each for _, each in columns(here.model, here.scope, here.packed)]

    def of(self, faults: int, depth: int, block: bytes) -> Rows:
        """The states of a block."""
        per_state, fields = self._here.packed.words, self._here.packed.variables
        words = np.frombuffer(block, "<u8").reshape(-1, per_state)
        if self._kernel is not None:
            words = words[self._violating(self._kernel, block, len(words))]
        for first in range(0, len(words), ROWS):
            part = words[first : first + ROWS]
            own = [c.array(Codes(part, f.offset)) for c, f in zip(self._columns, fields, strict=True)]
            yield pa.RecordBatch.from_arrays(
                [*_level(faults, depth, len(part)), _packed(part), *own], schema=self._here.schema
            )

    def _violating(self, kernel: Kernel, block: bytes, count: int) -> list[int]:
        """The states of a block that violate the property."""
        ask, at, width = kernel.call["ask"], address_of(block), 8 * self._here.packed.words
        firsts, found = (c_uint64 * (FAILED + 1))(NOWHERE), []
        for number in range(count):
            ask(at + width * number, 1, firsts)
            if firsts[0] != NOWHERE:
                found.append(number)
                firsts[0] = NOWHERE
        return found


class Transitions:
    """The rows of a table of transitions: every step from the states of a block."""

    def __init__(self, here: RunModel) -> None:
        if len(here.model.actions) > MOST_NAMED:
            raise ValueError(f"a table of transitions names at most {MOST_NAMED} actions")
        self._here = here
        self._kernel = here.kernel()
        self._names = pa.array([action.name for action in here.model.actions], pa.string())

    def of(self, faults: int, depth: int, block: bytes) -> Rows:
        """The steps from the states of a block."""
        per_state, most = self._here.packed.words, self._here.budget.total
        states = np.frombuffer(block, "<u8").reshape(-1, per_state)
        expander = Expander(self._kernel, 1, 1)
        try:
            for entries in expander.entries(block, paid=most is None or faults < most):
                own = np.frombuffer(entries, "<u8").reshape(-1, per_state + 1)
                told = own[:, per_state]
                action = (told >> np.uint64(ACTION)) & np.uint64(MOST_NAMED)
                columns = [
                    *_level(faults, depth, len(own)),
                    _packed(states[(told & np.uint64(0xFFFFFFFF)).astype(np.int64)]),
                    self._names.take(pa.array(action)),
                    pa.array((told >> np.uint64(FAULT)).astype(bool)),
                    _packed(own[:, :per_state]),
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=transitions_schema())
        finally:
            expander.close()


def transitions_schema() -> pa.Schema:
    """The columns of the table of transitions."""
    return pa.schema([*LEVEL, (ACTION_NAME, pa.string()), (BY_FAULT, pa.bool_()), (NEXT, pa.binary())])


def _level(faults: int, depth: int, count: int) -> list[pa.Array]:
    """The columns that are the same in all rows of a level."""
    return [pa.array(np.full(count, number, np.int32)) for number in (faults, depth)]


def _packed(words: Any) -> pa.Array:  # noqa: ANN401 - an array of numpy
    """The packed states themselves."""
    own = np.ascontiguousarray(words)
    ends = np.arange(len(own) + 1, dtype=np.int32) * np.int32(8 * own.shape[1])
    return pa.Array.from_buffers(pa.binary(), len(own), [None, pa.py_buffer(ends), pa.py_buffer(own)])
