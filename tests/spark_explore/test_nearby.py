"""What was seen is read where a candidate may be: all that are candidates are there, most others not."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.explicit.codegen.search.runtime import WAITS
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.engine import COLD, DRIVER_STATES, SEEN, SparkEngine
from spark_explore.search.blocks import deduplicate, filled
from spark_explore.search.files import FileTarget, write
from spark_explore.search.jobs import SparkExecutors
from spark_explore.search.nearby import FEW, nearby, read_at_most
from spark_explore.storage.pieces import FilePiece, blocks, of_shard
from spark_explore.storage.run import level_from_json, manifests
from spark_explore.storage.store import Around, LocalStore, store_at
from spark_explore.tables import RunModel, run_at
from spec.load import loads

COUNT = 100_000  # states of a file
GRID = """
protocol grid
nat Side
state { a: Side = 0  b: Side = 0  c: Side = 0  t: 0..60 = 0 }
action first(i: Side) { require fresh: a == 0  a := i }
action second(i: Side) { require fresh: b == 0  b := i }
action third(i: Side) { require fresh: c == 0  c := i }
action tick { require there: a == 1 and b == 1 and c == 1  require room: t < 60  t := t + 1 }
invariant low: t < 61
check all { scope Side = 36 }
"""


class CountingStore(Around):
    """A store that counts the bytes that are read of it."""

    def __init__(self, store: LocalStore) -> None:
        super().__init__(store)
        self.bytes = 0

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        found = super().read(name, start, size)
        self.bytes += len(found)
        return found


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """What hashes states of the grid, which have one word."""
    return grid(tmp_path_factory.mktemp("grid")).kernel()


def grid(place: Path) -> RunModel:
    """The model of a run of the grid."""
    (model,) = loads(GRID, "grid.rsm")
    check(model, model.checks[0], engine=SparkEngine(run_dir=str(place), driver_states=None, shards=3))
    return run_at(str(place))


def states(kernel: Kernel, numbers: Sequence[int]) -> bytes:
    """States with these numbers as words, in the order of their hashes."""
    always = 1 << kernel.layout.used
    table = filled(kernel, 1, [struct.pack(f"<{len(numbers)}Q", *(always | n for n in numbers))])
    try:
        return table.take(waiting=False)
    finally:
        table.close()


def as_set(found: bytes | Iterator[bytes]) -> set[bytes]:
    """The states of blocks."""
    whole = found if isinstance(found, bytes) else b"".join(found)
    return {whole[at : at + 8] for at in range(0, len(whole), 8)}


def hash_of(kernel: Kernel, state: bytes) -> int:
    """The hash of a state."""
    return int(kernel.call["hash"](state))


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_few_candidates_are_looked_for_where_they_may_be(kernel: Kernel, shards: int, tmp_path: Path) -> None:
    chance = random.Random(shards)  # noqa: S311 - no secret
    most = 1 << kernel.layout.width
    numbers = chance.sample(range(most), COUNT)
    seen, store = states(kernel, numbers), CountingStore(LocalStore(tmp_path))
    (pieces,) = write(kernel, FileTarget(store, shards, 0), [seen])
    known = [*chance.sample(numbers, 8), *chance.sample(range(most), 8)]
    ends = [seen[:8], seen[-8:]]
    candidates = [states(kernel, known), *ends]
    store.bytes = 0
    found = as_set(nearby(kernel, store, pieces, candidates, shards))

    assert found >= as_set(b"".join(candidates)) & as_set(seen)
    assert found <= as_set(seen)
    assert store.bytes < 8 * COUNT / 3
    assert store.bytes < 8 * read_at_most(pieces, 18)
    for shard in range(shards):  # as a task has it
        own = [each for each in as_set(b"".join(candidates)) if hash_of(kernel, each) * shards >> 64 == shard]
        near = as_set(nearby(kernel, store, of_shard(pieces, shard, 8), own, shards))
        assert near >= {*own} & as_set(seen)


def test_a_candidate_that_waits_is_looked_for_where_it_is_without_waiting(
    kernel: Kernel, tmp_path: Path
) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    numbers = chance.sample(range(1 << kernel.layout.width), COUNT)
    seen, store = states(kernel, numbers), LocalStore(tmp_path)
    (pieces,) = write(kernel, FileTarget(store, 2, 0), [seen])
    word, bit = kernel.layout.mark(WAITS)
    own = sorted(as_set(states(kernel, numbers[:20])))
    waiting = b"".join(struct.pack("<Q", struct.unpack("<Q", each)[0] | bit) for each in own)

    assert word == 0
    assert deduplicate(kernel, 1, [waiting], nearby(kernel, store, pieces, [waiting], 2)).waiting == b""


@pytest.mark.parametrize("which", ["low", "high", "middle"])
def test_states_whose_hashes_are_not_alike_are_read_whole(kernel: Kernel, which: str, tmp_path: Path) -> None:
    chance = random.Random(which)  # noqa: S311 - no secret
    numbers = chance.sample(range(1 << kernel.layout.width), 2 * COUNT)
    low, high = {"low": (0, 1 << 62), "high": (3 << 62, 1 << 64), "middle": (1 << 62, 3 << 62)}[which]
    some = states(kernel, numbers)
    seen = b"".join(
        each
        for each in (some[at : at + 8] for at in range(0, len(some), 8))
        if low <= hash_of(kernel, each) < high
    )
    (pieces,) = write(kernel, FileTarget(LocalStore(tmp_path), 1, 0), [seen])
    for at in (0, len(seen) // 5 // 8, len(seen) // 2 // 8, len(seen) // 8 - 1):
        one = seen[8 * at : 8 * at + 8]
        assert one in as_set(nearby(kernel, LocalStore(tmp_path), pieces, [one], 1))


def test_many_candidates_read_all(kernel: Kernel, tmp_path: Path) -> None:
    seen = states(kernel, range(1, 20_000))
    (pieces,) = write(kernel, FileTarget(LocalStore(tmp_path), 2, 0), [seen])
    many = states(kernel, range(1, FEW + 2))

    assert b"".join(nearby(kernel, LocalStore(tmp_path), pieces, [many], 2)) == seen
    assert read_at_most(pieces, FEW + 1) == 19_999


def test_a_thin_level_reads_little_of_what_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, own = [0], LocalStore.read

    def counting(store: LocalStore, name: str, start: int = 0, size: int | None = None) -> bytes:
        found = own(store, name, start, size)
        read[0] += len(found) if name.startswith("states") else 0
        return found

    monkeypatch.setattr(LocalStore, "read", counting)
    grid(tmp_path / "run")
    store = LocalStore(tmp_path / "run")
    sizes = sum(path.stat().st_size for path in (store.root / "states").rglob("*") if path.is_file())

    assert sizes == 8 * (37**3 + 60 + 1)  # and the initial state as what enters the first layer
    assert read[0] < 15 * sizes  # 64 levels that read all would be 64


def test_a_thin_level_is_no_job_however_much_was_seen() -> None:
    shards = 32
    levels = [FilePiece(f"{n}", 0, 0, (10**9 // 40 // shards,) * shards, 0) for n in range(40)]

    assert read_at_most(levels, 40) // SEEN < DRIVER_STATES
    assert read_at_most(levels, FEW + 1) // SEEN > COLD * DRIVER_STATES


def test_what_is_near_is_enough_to_strike_out_what_was_seen(kernel: Kernel, tmp_path: Path) -> None:
    chance = random.Random(5)  # noqa: S311 - no secret
    store, most = LocalStore(tmp_path), 1 << kernel.layout.width
    pieces: list[FilePiece] = []
    for level in range(4):
        block = states(kernel, chance.sample(range(most), COUNT // 4))
        pieces += write(kernel, FileTarget(store, 4, level), [block])[0]
    every = b"".join(blocks(store, pieces, 8))
    known = [every[8 * at : 8 * at + 8] for at in range(0, len(every) // 8, 997)]
    candidates = [b"".join(known[n::3]) + states(kernel, range(100 * n, 100 * n + 100)) for n in range(3)]
    near = deduplicate(kernel, 1, candidates, nearby(kernel, store, pieces, candidates, 4))

    assert near == deduplicate(kernel, 1, candidates, [every])
    assert len(near.new) > 8 * 200


@pytest.mark.spark
def test_wide_levels_are_jobs_that_are_named_and_thin_ones_are_none(
    local_spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkExecutors, "is_warm", True)  # else the driver takes larger levels
    (model,) = loads(GRID, "grid.rsm")
    engine = SparkEngine(run_dir=str(tmp_path / "run"), driver_states=400, shards=3)
    before = len(jobs(local_spark))
    check(model, model.checks[0], engine=engine)
    levels = list(map(level_from_json, manifests(store_at(str(tmp_path / "run")))))
    named = [
        f"modelcheck: layer 0, depth {each.depth + 1}, {each.count:,} states"
        for each in levels
        if each.count > 400
    ]

    assert len(levels) > 60
    assert len(named) == 2
    assert [name for name in jobs(local_spark)[before:] if name] == named


def jobs(spark: SparkSession) -> list[str]:
    """What Spark's own pages call the jobs of a session, in their order."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    found = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    own = [found.apply(at) for at in range(found.size())]
    told = [(each.jobId(), each.description()) for each in own]
    return [about.get() if about.isDefined() else "" for _, about in sorted(told, key=lambda each: each[0])]
