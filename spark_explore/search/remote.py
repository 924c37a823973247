"""What runs on executors: each function works on the record batches of one task, in any process.

A task may run twice, at the same time or later: it writes under a name of its own
and gives that name back, and only what Spark has taken from one successful attempt
reaches the driver or the next stage.  NOTE(once)
"""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from socket import gethostname
from typing import Any

import pyarrow as pa

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.search.blocks import PERIODS, Expanded, Expander, deduplicate, deduplicate_waiting
from spark_explore.search.files import FileTarget, leave, write
from spark_explore.search.nearby import nearby
from spark_explore.storage.pieces import Damaged, FilePiece, blocks, count_states, of_shard, piece_from_json
from spark_explore.storage.run import ABOUT, RunLevel, level_from_json, manifest_name, unsealed
from spark_explore.storage.spent import TASKS, Stopwatch, TimedStore
from spark_explore.storage.store import Remembering, Store, store_at
from spec.frozen import frozen

ROWS = "shard int, report binary, block binary"  # some of a shard's states; or what an expander reports
REPORT = "report binary"
SCHEMA = pa.schema([("shard", pa.int32()), ("report", pa.binary()), ("block", pa.binary())])
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
        self.width = 8 * self.kernel.layout.words
        self._levels: list[RunLevel] = []

    def seen(self, levels: int, shard: int) -> list[FilePiece]:
        """The states of a shard in the first `levels` levels."""
        found = map(self.level, range(levels))
        return [piece for level in found for piece in of_shard(level.new, shard, self.width)]

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
    parts: Sequence[Sequence[FilePiece]]
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
        expander = Expander(here.kernel, here.shards, count_states(pieces))
        try:
            found = blocks(here.store, pieces, here.width)
            if here.by_files:
                yield from self._left(here, expander.blocks(found, paid=self.paid))
            else:
                yield from ((s, None, block) for s, block in expander.rows(found, paid=self.paid))
            yield number % here.shards, encoded(expander.result()), b""
        finally:
            expander.close()

    def _left(self, here: SparkWorker, found: Iterable[bytes]) -> Iterator[tuple[int, bytes | None, bytes]]:
        """Write blocks to files, and yield for each shard where its states are."""
        for block in found:
            place = FileTarget(here.store, here.shards, self.level)
            for piece in leave(here.kernel, place, block):
                for shard in range(here.shards):
                    own = piece.of(shard, here.width)
                    if own is not None:
                        yield shard, None, json.dumps(own.as_json()).encode()


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
    woken: Sequence[FilePiece]
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
        given = [block for block in candidates if block]
        if here.by_files:
            left = [piece_from_json(json.loads(block)) for block in given]
            given = list(blocks(here.store, left, here.width))
        given += blocks(here.store, of_shard(self.woken, shard, here.width), here.width)
        seen = nearby(here.kernel, here.store, here.seen(self.level, shard), given, here.shards)
        deduplicated = deduplicate(here.kernel, here.shards, given, seen)
        if not self.keep:
            return json.dumps({"elsewhere": bool(deduplicated.waiting)}).encode()
        place = FileTarget(here.store, here.shards, self.level, shard)
        new, waiting = write(here.kernel, place, [deduplicated.new, deduplicated.waiting])
        return json.dumps(
            {
                "shard": shard,
                "new": [piece.as_json() for piece in new],
                "waiting": [piece.as_json() for piece in waiting],
                "finds": [(number, list(state)) for number, state in deduplicated.finds.items()],
            }
        ).encode()


@frozen
class DeduplicateWaiting:
    """A Spark task: deduplicates the waiting states of shards, over all depths."""

    mission: Any
    level: int
    waiting: Sequence[Sequence[FilePiece]]

    def __call__(self, batches: Batches) -> Batches:
        """A row for each shard."""
        here = spark_worker(self.mission.value)
        yield answered([self._deduplicated(here, shard) for shard in numbers(batches)])

    def _deduplicated(self, here: SparkWorker, shard: int) -> bytes:
        """The result of one shard: its waiting states not visited, written to files."""
        store, width = here.store, here.width
        each = [b"".join(blocks(store, of_shard(pieces, shard, width), width)) for pieces in self.waiting]
        seen = here.seen(self.level, shard)
        again = [nearby(here.kernel, store, seen, each, here.shards) for _ in range(0, len(each), PERIODS)]
        place = FileTarget(store, here.shards, self.level, shard)
        found = write(here.kernel, place, deduplicate_waiting(here.kernel, here.shards, each, again))
        entering = [[piece.as_json() for piece in pieces] for pieces in found]
        return json.dumps({"shard": shard, "entering": entering}).encode()


@frozen
class LookBack:
    """A Spark task: finds a predecessor of a state in parts, given by number."""

    mission: Any
    parts: Sequence[Sequence[FilePiece]]
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
        expander = Expander(here.kernel, here.shards, 1)
        try:
            pieces = blocks(here.store, self.parts[number], here.width)
            return expander.predecessor_of(pieces, self.state, by_fault=self.by_fault)
        finally:
            expander.close()


def answered(rows: Sequence[bytes]) -> pa.RecordBatch:
    """A record batch of one column, `report`: the rows that a task of the last stage returns."""
    return pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], names=["report"])
