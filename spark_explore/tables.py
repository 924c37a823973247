"""The rows of the tables of a run, read by tasks that have pieces of one level each, in Arrow's form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import c_uint64
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import ACTION, FAULT, MOST_NAMED
from modelcheck.explicit.codegen.states.layout import PackedLayout, layout
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel, sorted_states
from spark_explore.columns import ArrowColumn, PackedCodes, Words, columns
from spark_explore.search.blocks import FAILED, Expander
from spark_explore.search.remote import numbers
from spark_explore.storage.run import Json, level_from_json, manifests, opened
from spark_explore.storage.sorted_pieces import PieceBlocks, SortedPieces, address_of, split
from spark_explore.storage.store import seen_from_anywhere, store_at
from spec.frozen import frozen
from spec.load import loads
from spec.model.ir import Budget, Model, Scope
from spec.model.kinds import OF_STATES
from spec.model.values import decode

ROWS = 1 << 14  # states in a batch
STATE, NEXT = "_state", "_next"  # the packed states; no variable is called like that
ACTION_NAME, BY_FAULT = "_action", "_by_fault"
TRANSITIONS = pa.schema(
    [(STATE, pa.binary()), (ACTION_NAME, pa.string()), (BY_FAULT, pa.bool_()), (NEXT, pa.binary())]
)
Rows = Iterator[pa.RecordBatch]
FAULTS, DEPTH = "_faults", "_depth"  # how a state was found first; no variable is called like that
PART = 1 << 17  # states for a task


class TableRefused(OSError):  # noqa: N818 - the report of Spark, not what went wrong
    """Raised if a table is not written; has the reason."""


@frozen
class ReadRows:
    """A Spark task: what is read of pieces, given by number."""

    place: str
    pieces: Sequence[PieceBlocks]

    def __call__(self, batches: Rows) -> Rows:
        """The rows."""
        return self.rows(numbers(batches))

    def rows(self, which: Iterable[int]) -> Rows:
        """The rows of the pieces with these numbers."""
        here = run_at(self.place)
        read, states = self._reader(here), here.states(self.place)
        for block in states.blocks(self.pieces[number] for number in which):
            yield from read(block)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        raise NotImplementedError

    def _reader(self, here: RunModel) -> Callable[[bytes], Rows]:
        """What reads a block of states to rows."""
        raise NotImplementedError


@frozen
class ReadStates(ReadRows):
    """The states, with columns of these names; of a property those that violate it."""

    prop: str | None
    names: Sequence[str]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return run_at(self.place).schema_of(self.names)

    def _reader(self, here: RunModel) -> Callable[[bytes], Rows]:
        return StateRows(here, self.prop, self.names).of


@frozen
class ReadTransitions(ReadRows):
    """The steps from the states; with `paid` also faults."""

    paid: bool

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return TRANSITIONS

    def _reader(self, here: RunModel) -> Callable[[bytes], Rows]:
        return partial(TransitionRows(here).of, paid=self.paid)


@frozen
class LevelRows:
    """The rows of a level: its layer and depth, and what reads them, a piece for each task."""

    faults: int
    depth: int
    read: ReadRows


def levels_of(
    place: str, *, of_steps: bool = False, violating: str | None = None, names: Sequence[str] = ()
) -> list[LevelRows]:
    """What reads the rows of each level that has any: of its states, with these columns, or of its steps.

    Costs reading the manifests. Raises CannotResume, OSError, Damaged.
    """
    here, where, found = run_at(place), seen_from_anywhere(place), list[LevelRows]()
    for level in map(level_from_json, manifests(store_at(place))):
        pieces = split(level.new, PART)
        if pieces:
            paid = here.budget.total is None or level.faults < here.budget.total
            read = (
                ReadTransitions(where, pieces, paid)
                if of_steps
                else ReadStates(where, pieces, violating, names)
            )
            found.append(LevelRows(level.faults, level.depth, read))
    return found


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
        """The columns of the table of states, if all are asked for."""
        own = [(name, each.arrow) for name, each in self.columns]
        return pa.schema([(STATE, pa.binary()), *own])

    def schema_of(self, names: Sequence[str]) -> pa.Schema:
        """The columns with these names."""
        return pa.schema([self.schema.field(name) for name in names])

    @cached_property
    def columns(self) -> Sequence[tuple[str, ArrowColumn]]:
        """The column of each variable."""
        return columns(self.model, self.scope, self.packed)

    def states(self, place: str) -> SortedPieces:
        """What reads the states at a place."""
        words = self.packed.words
        return SortedPieces(store_at(place), sorted_states(words, self._codes), words)

    @cached_property
    def _codes(self) -> Codes:
        """The loaded code, which is there as long as this is."""
        return Codes()

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


class StateRows:
    """The rows of a table of states: all, or those that violate (a `reachable`: satisfy) a property.

    Only columns with these names are unpacked.
    """

    def __init__(self, here: RunModel, prop: str | None, names: Sequence[str]) -> None:
        self._here = here
        self._kernel = None if prop is None else here.kernel(prop)
        self._schema = here.schema_of(names)
        fields = zip(here.columns, here.packed.variables, strict=True)
        self._own = {name: (column, field.offset) for (name, column), field in fields}

    def of(self, block: bytes) -> Rows:
        """The states of a block."""
        per_state = self._here.packed.words
        words = np.frombuffer(block, "<u8").reshape(-1, per_state)
        if self._kernel is not None:
            words = words[self._violating(self._kernel, block, len(words))]
        for first in range(0, len(words), ROWS):
            part = words[first : first + ROWS]
            arrays = [self._array(name, part) for name in self._schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _array(self, name: str, part: Words) -> pa.Array:
        """The column with a name, of packed states."""
        if name == STATE:
            return _packed(part)
        column, offset = self._own[name]
        return column.array(PackedCodes(part, offset))

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


class TransitionRows:
    """The rows of a table of transitions: every step from the states of a block."""

    def __init__(self, here: RunModel) -> None:
        if len(here.model.actions) > MOST_NAMED:
            raise ValueError(f"a table of transitions names at most {MOST_NAMED} actions")
        self._here = here
        self._kernel = here.kernel()
        self._names = pa.array([action.name for action in here.model.actions], pa.string())

    def of(self, block: bytes, *, paid: bool) -> Rows:
        """The steps from the states of a block."""
        per_state = self._here.packed.words
        states = np.frombuffer(block, "<u8").reshape(-1, per_state)
        expander = Expander(self._kernel)
        try:
            for entries in expander.entries(block, paid=paid):
                own = np.frombuffer(entries, "<u8").reshape(-1, per_state + 1)
                told = own[:, per_state]
                action = (told >> np.uint64(ACTION)) & np.uint64(MOST_NAMED)
                columns = [
                    _packed(states[(told & np.uint64(0xFFFFFFFF)).astype(np.int64)]),
                    self._names.take(pa.array(action)),
                    pa.array((told >> np.uint64(FAULT)).astype(bool)),
                    _packed(own[:, :per_state]),
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=TRANSITIONS)
        finally:
            expander.close()


def _packed(words: Any) -> pa.Array:  # noqa: ANN401 - an array of numpy
    """The packed states themselves."""
    own = np.ascontiguousarray(words)
    ends = np.arange(len(own) + 1, dtype=np.int32) * np.int32(8 * own.shape[1])
    return pa.Array.from_buffers(pa.binary(), len(own), [None, pa.py_buffer(ends), pa.py_buffer(own)])
