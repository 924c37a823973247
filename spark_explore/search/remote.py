"""What runs on executors: each function works on the record batches of one task, in any process.

A task may run twice, at the same time or later: it writes under a name of its own
and gives that name back, and only what Spark has taken from one successful attempt
reaches the driver or the next stage.  NOTE(once)
"""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from socket import gethostname
from typing import Any

import pyarrow as pa

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.runs import SortedRun
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import Candidates, Expanded, Expander, SuccessorTable
from spark_explore.search.settling import StatesInOrder, settled, settled_waiting
from spark_explore.storage.pieces import Damaged
from spark_explore.storage.run import (
    ABOUT,
    RunLevel,
    left_name,
    level_from_json,
    manifest_name,
    new_name,
    unsealed,
)
from spark_explore.storage.sorted_pieces import PieceBlocks, SortedPiece, SortedPieces, count_states, of_shard
from spark_explore.storage.spent import TASKS, Stopwatch, TimedStore
from spark_explore.storage.store import Remembering, Store, store_at
from spec.frozen import frozen

ROWS = "shard int, report binary, block binary"  # some of a shard's states; or what an expander reports
REPORT = "report binary"
SCHEMA = pa.schema([("shard", pa.int32()), ("report", pa.binary()), ("block", pa.binary())])
END = b"\n"  # of the description of a piece; its bytes follow
SENT = 1 << 24  # bytes of blocks in a batch
Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]


@frozen
class Mission:
    """What a worker needs to know about a search; `token` is new for each driver."""

    task: Task
    place: str
    run: str
    shards: int
    token: str
    by_files: bool  # what goes to a shard is left in a file for it, and Spark moves its name alone


class SparkWorker:
    """The state of a worker process: the kernel, the files, and the manifests read so far.

    Raises Damaged where the run is not seen.
    """

    def __init__(self, mission: Mission) -> None:
        self.by_files = mission.by_files
        self.shards = mission.shards
        self.watch = Stopwatch()
        self.store: Store = Remembering(TimedStore(store_at(mission.place), self.watch))
        _see(mission, self.store)
        self.kernel = self.watch.kernel(Kernel(mission.task, blocks=True))
        call, words = self.watch.sorted_states(self.kernel), self.kernel.layout.words
        self.states = SortedPieces(self.store, call, words, self.watch.on)
        self.left = SortedPieces(self.store, call, words, self.watch.on, stays=False)
        self._levels: list[RunLevel] = []

    def seen(self, levels: int, shard: int) -> list[SortedRun]:
        """The states of a shard in the first `levels` levels."""
        found = map(self.level, range(levels))
        return self.states.runs(piece for level in found for piece in level.of_shard(shard))

    def level(self, number: int) -> RunLevel:
        """A completed level."""
        while len(self._levels) <= number:
            name = manifest_name(len(self._levels))
            self._levels.append(level_from_json(unsealed(name, self.store.read(name))))
        return self._levels[number]


def _see(mission: Mission, store: Store) -> None:
    """Check that the files are those of the driver's run. Raises Damaged."""
    try:
        name = unsealed(ABOUT, store.read(ABOUT))["run"]
    except FileNotFoundError:
        name = None
    if name != mission.run:
        raise Damaged(
            f"the machine {gethostname()} does not see the run directory {mission.place}: "
            "give --run-dir a folder that all machines share, or a URI"
        )


@lru_cache(maxsize=1)
def spark_worker(mission: bytes) -> SparkWorker:
    """The state of this worker process for a search, made once."""
    found: Mission = pickle.loads(mission)  # noqa: S301 - from our own driver
    return SparkWorker(found)


# ------------------------------------------------------------------------ expanding


@frozen
class Expand:
    """A Spark task: expands parts of a frontier, given by number."""

    mission: Any  # a broadcast of bytes
    level: int
    parts: Sequence[Sequence[PieceBlocks]]
    paid: bool

    def __call__(self, batches: Batches) -> Batches:
        """The successors of the parts, by shard."""
        here = spark_worker(self.mission.value)
        with here.watch.on(TASKS):
            for number in numbers(batches):
                yield from sent(self._rows(here, number))
        yield _batch([(0, spent(here), b"")])

    def _rows(self, here: SparkWorker, number: int) -> Iterator[tuple[int, bytes | None, bytes]]:
        """The successors of one part, by shard, then the counters."""
        if number == 0:
            yield from ((shard, None, b"") for shard in range(here.shards))
        if number >= len(self.parts):
            return
        pieces = self.parts[number]
        table = SuccessorTable(here.kernel, here.states.arrays, here.shards, count_states(pieces))
        try:
            for found in table.candidates(here.states.blocks(pieces), paid=self.paid):
                yield from self._left(here, found)
            yield number % here.shards, encoded(table.result()), b""
        finally:
            table.close()

    def _left(self, here: SparkWorker, found: Sequence[Candidates]) -> Iterator[tuple[int, None, bytes]]:
        """Leave candidates as sorted pieces: for each shard what is where, or what it is."""
        own = [
            (waits, (each.shard, states))
            for each in found
            for waits, states in ((False, each.free), (True, each.waiting))
            if states[1]
        ]
        pieces, data = here.left.packed(left_name(self.level), [states for _, states in own])
        if here.by_files and pieces:
            here.store.put(pieces[0].name, data)
        for (waits, _), piece, packed in zip(own, pieces, data, strict=True):
            told = json.dumps([waits, piece.as_json()]).encode()
            yield piece.shard, None, told + END + (b"" if here.by_files else packed)


def numbers(batches: Batches) -> Iterator[int]:
    """The task numbers in a task's input."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def sent(rows: Iterator[tuple[int, bytes | None, bytes]]) -> Batches:
    """Rows as record batches of a few megabytes."""
    kept: list[tuple[int, bytes | None, bytes]] = []
    size = 0
    for row in rows:
        kept.append(row)
        size += len(row[2])
        if size > SENT:
            yield _batch(kept)
            kept, size = [], 0
    if kept:
        yield _batch(kept)


def _batch(rows: Sequence[tuple[int, bytes | None, bytes]]) -> pa.RecordBatch:
    """Rows as one record batch."""
    shards, pieces, data = zip(*rows, strict=True)
    columns = [pa.array(shards, pa.int32()), pa.array(pieces, pa.binary()), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def encoded(expanded: Expanded) -> bytes:
    """The counters and findings as bytes."""
    finds = [(place, list(state)) for place, state in expanded.finds.items()]
    return json.dumps({"words": expanded.words, "expanded": finds}).encode()


def spent(here: SparkWorker) -> bytes:
    """The time that this process spent since the last call, as bytes."""
    return json.dumps({"spent": here.watch.take()}).encode()


# -------------------------------------------------------------------- deduplicating


@frozen
class Deduplicate:
    """A Spark task: deduplicates shards, writes new states, and passes other tasks' reports on."""

    mission: Any
    level: int
    woken: Sequence[SortedPiece]
    keep: bool = True  # False: count what is new by a fault, and write nothing

    def __call__(self, batches: Batches) -> Batches:
        """A row for each shard and expander, and one for the time each spent."""
        here = spark_worker(self.mission.value)
        with here.watch.on(TASKS):
            answers = self._answers(here, batches)
        yield answered([*answers, spent(here)])

    def _answers(self, here: SparkWorker, batches: Batches) -> list[bytes]:
        """The reports of expanding tasks, and the result of each shard."""
        candidates: dict[int, list[bytes]] = defaultdict(list)
        answers: list[bytes] = []
        for batch in batches:
            for shard, said, block in zip(*(batch.column(n) for n in range(3)), strict=True):
                if said.is_valid:
                    answers.append(said.as_py())
                else:
                    candidates[shard.as_py()].append(block.as_py())
        return answers + [
            self._deduplicated(here, shard, candidates.pop(shard)) for shard in sorted(candidates)
        ]

    def _deduplicated(self, here: SparkWorker, shard: int, candidates: list[bytes]) -> bytes:
        """The result of one shard: its candidates not visited, written to files."""
        free, waiting = list[StatesInOrder](), list[StatesInOrder]()
        for told in filter(None, candidates):
            said, _, data = told.partition(END)
            waits, piece = json.loads(said)
            left = SortedPiece(*piece)
            (waiting if waits else free).append(
                here.left.at_hand(left, data) if data else here.left.run(left)
            )
        free += here.states.runs(of_shard(self.woken, shard))
        seen = here.seen(self.level, shard)
        with settled(here.kernel, here.states.arrays, (free, waiting), seen) as done:
            if not self.keep:
                return json.dumps({"elsewhere": done.waiting[1] > 0}).encode()
            found = [(shard, states) for states in (done.new, done.waiting) if states[1]]
            pieces = here.states.write(new_name(self.level, shard), found)
        first = int(done.new[1] > 0)
        return json.dumps(
            {
                "shard": shard,
                "new": [piece.as_json() for piece in pieces[:first]],
                "waiting": [piece.as_json() for piece in pieces[first:]],
                "finds": [(number, list(state)) for number, state in done.finds.items()],
            }
        ).encode()


@frozen
class DeduplicateWaiting:
    """A Spark task: deduplicates the waiting states of shards, over all depths."""

    mission: Any
    level: int
    waiting: Sequence[Sequence[SortedPiece]]

    def __call__(self, batches: Batches) -> Batches:
        """A row for each shard."""
        here = spark_worker(self.mission.value)
        yield answered([self._deduplicated(here, shard) for shard in numbers(batches)])

    def _deduplicated(self, here: SparkWorker, shard: int) -> bytes:
        """The result of one shard: its waiting states not visited, written to files."""
        own = [of_shard(pieces, shard) for pieces in self.waiting]
        with settled_waiting(here.states, own, here.seen(self.level, shard)) as found:
            states = [(shard, each) for each in found if each[1]]
            pieces = iter(here.states.write(new_name(self.level, shard), states))
        entering = [[next(pieces).as_json()] if count else [] for _, count in found]
        return json.dumps({"shard": shard, "entering": entering}).encode()


@frozen
class LookBack:
    """A Spark task: finds a predecessor of a state in parts, given by number."""

    mission: Any
    parts: Sequence[Sequence[PieceBlocks]]
    state: Words
    by_fault: bool

    def __call__(self, batches: Batches) -> Batches:
        """A row for each part that has a predecessor: the first one."""
        here = spark_worker(self.mission.value)
        found = ((number, self._predecessor(here, number)) for number in numbers(batches))
        rows = [json.dumps({"part": n, "predecessor": list(each)}).encode() for n, each in found if each]
        yield answered(rows)

    def _predecessor(self, here: SparkWorker, number: int) -> Words | None:
        """The first predecessor in one part."""
        expander = Expander(here.kernel)
        try:
            blocks = here.states.blocks(self.parts[number])
            return expander.predecessor_of(blocks, self.state, by_fault=self.by_fault)
        finally:
            expander.close()


def answered(rows: Sequence[bytes]) -> pa.RecordBatch:
    """A record batch of one column, `report`: the rows that a task of the last stage returns."""
    return pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], names=["report"])
