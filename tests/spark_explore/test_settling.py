"""Candidates are settled: those that no run has are new, and of what was seen little is read for a few."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from contextlib import closing
from ctypes import c_char_p, c_void_p, cast, string_at
from functools import partial
from itertools import chain, count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.contract.engine import CannotResume, Task
from modelcheck.explicit.disk.runs import SortedRun
from modelcheck.explicit.native.kernel import Kernel
from spark_explore.engine import COLD, DRIVER_STATES, SEEN, SparkEngine
from spark_explore.search.blocks import Expander, SuccessorTable
from spark_explore.search.jobs import SparkExecutors
from spark_explore.search.settling import FEW, StatesInOrder, in_order, read_at_most, settled, settled_waiting
from spark_explore.storage import sorted_pieces
from spark_explore.storage.pieces import Damaged
from spark_explore.storage.run import ABOUT, FORMAT, level_from_json, manifests, sealed, unsealed
from spark_explore.storage.sorted_pieces import SortedPiece, SortedPieces, count_states, split, verify
from spark_explore.storage.status import lines, status
from spark_explore.storage.store import Around, LocalStore, store_at
from spark_explore.tables import run_at
from spec.load import loads
from tests.spark_explore.test_files import TINY, asked, here

COUNT = 100_000  # states of a run
SMALL = 64  # states of a block
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
def kernel() -> Kernel:
    """The kernel of the grid, whose states have one word."""
    (model,) = loads(GRID, "grid.rsm")
    return Kernel(Task(model, model.checks[0].scope, model.checks[0].budget, ()), blocks=True)


class Files:
    """A folder of runs of numbers, which stand for states."""

    def __init__(self, kernel: Kernel, place: Path) -> None:
        self.kernel = kernel
        self.store = CountingStore(LocalStore(place))
        self.pieces = SortedPieces(self.store, kernel.sorted_states(), 1)
        self.names = map(str, count())

    def write(self, *shards: Iterable[int]) -> list[SortedPiece]:
        found = list[SortedPiece]()
        for shard, numbers in enumerate(shards):
            with in_order(self.pieces.arrays, [packed(sorted(numbers))]) as states:
                found += self.pieces.write(next(self.names), [(shard, states)])
        return found

    def runs(self, *groups: Iterable[int]) -> list[SortedRun]:
        return self.pieces.runs(chain.from_iterable(map(self.write, groups)))

    def settled(
        self, free: Sequence[StatesInOrder], waiting: Sequence[StatesInOrder], seen: Sequence[SortedRun]
    ) -> tuple[list[int], list[int]]:
        with settled(self.kernel, self.pieces.arrays, (free, waiting), seen) as found:
            return unpacked(found.new), unpacked(found.waiting)


def packed(numbers: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in numbers)


def unpacked(states: bytes | tuple[int, int]) -> list[int]:
    whole = states if isinstance(states, bytes) else string_at(states[0], 8 * states[1])
    return [int.from_bytes(whole[at : at + 8], "little") for at in range(0, len(whole), 8)]


@pytest.fixture
def files(kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Runs whose blocks have few states."""
    monkeypatch.setattr(sorted_pieces, "BLOCK", SMALL)
    return Files(kernel, tmp_path)


@pytest.mark.parametrize("many", [1, 2, FEW, FEW + 1, 3 * FEW])
def test_candidates_that_no_run_has_are_new(files: Files, many: int) -> None:
    chance = random.Random(many)  # noqa: S311 - no secret
    free = [{*chance.sample(range(10_000), chance.randrange(1, 900))} for _ in range(many)]
    waiting = [{*chance.sample(range(10_000), 300)} for _ in range(many)]
    seen = [{*chance.sample(range(10_000), size)} for size in (1, 5, SMALL, SMALL + 1, 1000, 1500)]
    at_hand: list[StatesInOrder] = [packed(sorted(some)) for some in free[: many // 2]]
    written: list[StatesInOrder] = [*files.runs(*free[many // 2 :])]
    runs = files.runs(*seen)
    new, due = files.settled([*at_hand, *written], [packed(sorted(some)) for some in waiting], runs)

    either = set[int]().union(*free)
    assert new == sorted(either.difference(*seen))
    assert due == sorted(set[int]().union(*waiting).difference(either, *seen))
    assert new


def test_without_candidates_nothing_is_new_or_read(files: Files) -> None:
    runs = files.runs(range(1, 1000))
    files.store.bytes = 0

    assert files.settled([], [], runs) == ([], [])
    assert files.settled([b""], [], runs) == ([], [])
    assert files.store.bytes == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_waits_enters_once_and_where_nothing_had_it(files: Files, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    waiting = [{*chance.sample(range(500), 150)} for _ in range(4)]
    seen = {*chance.sample(range(500), 100)}
    groups = [files.write(some) for some in waiting]
    expected = list[list[int]]()
    for some in waiting:
        expected.append(sorted(some.difference(seen, *waiting[: len(expected)])))
    with settled_waiting(files.pieces, [*groups, []], files.runs(seen)) as found:
        assert [unpacked(each) for each in found] == [*expected, []]


def test_few_candidates_read_the_blocks_that_may_have_them(kernel: Kernel, tmp_path: Path) -> None:
    files, chance = Files(kernel, tmp_path), random.Random(7)  # noqa: S311 - no secret
    numbers = sorted(chance.sample(range(1 << 40), COUNT))
    pieces = files.write(numbers)
    runs, size = files.pieces.runs(pieces), pieces[0].size
    files.store.bytes = 0
    known = [numbers[0], numbers[COUNT // 2], numbers[-1]]
    new, _ = files.settled([packed([*known, numbers[-1] + 1])], [], runs)

    assert new == [numbers[-1] + 1]
    assert 0 < files.store.bytes < size / 3
    assert read_at_most([COUNT], 3) == 3 * sorted_pieces.BLOCK
    assert read_at_most([COUNT, 5], COUNT) == COUNT + 5


def test_neighbouring_blocks_are_read_at_once(files: Files) -> None:
    numbers, reads = range(0, 3 * COUNT, 3), list[int]()
    (run,) = files.runs(numbers)
    own = CountingStore.read

    class Noting(CountingStore):
        def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
            reads.append(size or 0)
            return own(self, name, start, size)

    files.store.__class__ = Noting
    new, _ = files.settled([packed(range(1, 3 * COUNT, 30))], [], [run])

    assert len(new) == COUNT // 10
    assert len(run.blocks) > 1000
    assert len(reads) == 1


def test_a_file_has_runs_of_several_shards(files: Files) -> None:
    shards = [packed(range(n, 1000, 3)) for n in range(3)]
    address = [cast(c_char_p(each), c_void_p).value or 0 for each in shards]
    states = [(n, (at, len(each) // 8)) for n, (at, each) in enumerate(zip(address, shards, strict=True))]
    pieces = files.pieces.write("all", states)

    assert [piece.shard for piece in pieces] == [0, 1, 2]
    for piece, shard in zip(pieces, shards, strict=True):
        assert b"".join(files.pieces.blocks([piece])) == shard
        assert SortedPiece(*piece.as_json()) == piece


@pytest.mark.parametrize("stays", [True, False])
def test_a_run_is_the_same_in_a_file_and_at_hand(files: Files, kernel: Kernel, *, stays: bool) -> None:
    pieces = SortedPieces(files.store, kernel.sorted_states(), 1, stays=stays)
    states = packed(range(5, 5000, 7))
    with in_order(pieces.arrays, [states]) as piece:
        (made,), (data,) = pieces.packed("left", [(2, piece)])
    files.store.put("left", [data])
    for run in (pieces.run(made), pieces.at_hand(made, data)):
        with in_order(pieces.arrays, [run]) as found:
            assert unpacked(found) == unpacked(states)
    assert len(data) < len(states)


@pytest.mark.parametrize("most", [1, SMALL, SMALL + 1, 5 * SMALL, 10**6])
def test_a_level_is_split_between_blocks(files: Files, most: int) -> None:
    pieces = files.write(range(1, 1000), [5], range(10, 10 + 2 * SMALL))
    parts = split(pieces, most)

    assert all(part.count <= max(most, SMALL) for part in parts)
    assert count_states(parts) == count_states(pieces) == 999 + 1 + 2 * SMALL
    assert b"".join(files.pieces.blocks(parts)) == b"".join(files.pieces.blocks(pieces))
    assert [len(b"".join(files.pieces.blocks([part]))) for part in parts] == [8 * p.count for p in parts]


def test_a_changed_byte_of_a_run_is_noticed_or_changes_nothing(files: Files, tmp_path: Path) -> None:
    (piece,) = files.write(range(0, 3000, 7))
    path, whole = tmp_path / piece.name, (tmp_path / piece.name).read_bytes()
    noticed, states = 0, b"".join(files.pieces.blocks([piece]))
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        try:
            verify(files.store, [piece], 1)
        except Damaged as damaged:
            noticed += str(damaged) == f"{piece.name} is not as it was written"
        else:  # a bit that Zstandard has no use for
            again = SortedPieces(files.store, files.kernel.sorted_states(), 1)
            assert b"".join(again.blocks([piece])) == states
    assert noticed > 0.97 * len(whole)
    path.write_bytes(whole[:-1])
    with pytest.raises(Damaged, match="is shorter than it was"):
        verify(files.store, [piece], 1)


@pytest.mark.parametrize("shards", [1, 3, 40])
def test_successors_come_by_shard_and_in_order(shards: int, tmp_path: Path) -> None:
    model, question = asked("as_expected", TINY)
    check(model, question, engine=here(str(tmp_path / "run")))
    run, levels = (
        run_at(str(tmp_path / "run")),
        list(map(level_from_json, manifests(LocalStore(tmp_path / "run")))),
    )
    kernel, pieces = run.kernel(), run.states(str(tmp_path / "run"))
    level = b"".join(pieces.blocks(chain.from_iterable(each.new for each in levels)))
    width, waits = pieces.arrays.width, set[bytes]()
    free = set[bytes]()
    with closing(Expander(kernel)) as expander:
        for entry in chain.from_iterable(map(partial(_cut, width + 8), expander.entries(level, paid=True))):
            (waits if entry[-1] & 0x80 else free).add(entry[:width])
    found = list[tuple[int, list[bytes], list[bytes]]]()
    with closing(SuccessorTable(kernel, pieces.arrays, shards, 1)) as table:
        for each in chain.from_iterable(table.candidates([level], paid=True)):
            both = [_cut(width, string_at(at, width * many)) for at, many in (each.free, each.waiting)]
            found.append((each.shard, both[0], both[1]))

    assert set(chain.from_iterable(own for _, own, _ in found)) == free
    assert set(chain.from_iterable(own for _, _, own in found)) >= waits - free != set()
    for shard, *parts in found:
        for own in parts:
            assert own == sorted(set(own), key=lambda state: int.from_bytes(state, "little"))
            assert all(int(kernel.call["hash"](state)) * shards >> 64 == shard for state in own)


def _cut(width: int, states: bytes) -> list[bytes]:
    return [states[at : at + width] for at in range(0, len(states), width)]


def grid(place: Path) -> None:
    """Leave a run of the grid."""
    (model,) = loads(GRID, "grid.rsm")
    check(model, model.checks[0], engine=SparkEngine(run_dir=str(place), driver_states=None, shards=3))


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

    told = status(str(tmp_path / "run"))
    assert told.states == 37**3 + 60
    assert told.bytes <= sizes < 4 * told.states  # in memory they are eight bytes each
    assert read[0] < 6 * sizes  # 64 levels that read all would be 64
    assert 0 < told.read <= read[0]
    assert any("bytes read" in line for line in lines(told))


def test_a_thin_level_is_no_job_however_much_was_seen() -> None:
    levels = [10**9 // 40] * 40

    assert read_at_most(levels, 40) // SEEN < DRIVER_STATES
    assert read_at_most(levels, 4 * DRIVER_STATES) // SEEN > COLD * DRIVER_STATES


def test_a_run_of_another_format_is_refused(tmp_path: Path) -> None:
    grid(tmp_path / "run")
    store = LocalStore(tmp_path / "run")
    data = unsealed(ABOUT, store.read(ABOUT)) | {"format": FORMAT - 1}
    store.put(ABOUT, [sealed(data)])
    (model,) = loads(GRID, "grid.rsm")
    engine = SparkEngine(run_dir=str(tmp_path / "run"), driver_states=None, resume=True)
    with pytest.raises(CannotResume, match="of another version of modelcheck"):
        check(model, model.checks[0], engine=engine)


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
