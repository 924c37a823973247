"""A search resumed from what is on disk, after that was checked for consistency.

A checksum only shows that a file is whole, and whoever can write the files can write that too.  So
their content is checked before it is believed.  A small search is made once more, up to where it
was stopped, and has to find the very same.  Of a larger one it is seen, at a cost that is linear
in its states, that all its parts fit together: see `soundness`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from modelcheck.contract.engine import CannotResume, Limits
from modelcheck.contract.report import Silent, Stopped
from modelcheck.contract.result import End, Layer
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.search.runtime import LOCAL, LOCAL_BITS, MOST_STATES, NEW, SHARDS, WAITING
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.search.checkpoint import (
    FORMAT,
    PIECE,
    SEARCH,
    Json,
    damaged,
    described,
    find_of,
    read_sealed,
    refuse_other,
    sections,
    shard_file,
)
from modelcheck.explicit.search.rounds import ROUND, PackedSearch, Part, Position
from modelcheck.explicit.search.space import FULL, LONGEST, ROOT, PackedLevel, PackedSpace, Shard
from modelcheck.explicit.search.space import SMALL as FEWEST
from modelcheck.explicit.search.tally import Find, FindKind
from spec.reading import opened, reason_of

SMALL = 1 << 24  # bytes of shards: a search of this size takes a second or so to be made once more
OLDEST = 1e10  # seconds
MISTAKES = (  # of whoever wrote something else
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def restore(folder: Path, search: PackedSearch) -> None:
    """Restore a search from a checkpoint. Raises CannotResume."""
    try:
        data, sums = _read(folder, search)
        _take(data, search)
        for shard in search.space.shards:
            _read_shard(folder, sums, search, shard)
    except OSError as error:
        raise CannotResume(f"the checkpoint cannot be read: {reason_of(error)}") from None
    except MISTAKES:
        damaged(f"{SEARCH} is not as a search would write it")
    if sum(size for shard in search.space.shards for _, size in sections(search, shard)) <= SMALL:
        _find_again(data, search)
    else:
        from modelcheck.explicit.search.soundness import refuse_unsound  # noqa: PLC0415 - it writes code of its own

        refuse_unsound(search)


def _read(folder: Path, search: PackedSearch) -> tuple[Json, dict[str, str]]:
    """The description in a checkpoint, and the checksums of the shards."""
    data = read_sealed(folder / SEARCH)
    refuse_other(data, search, FORMAT)
    return data, data.pop("sums")


def _read_shard(folder: Path, sums: dict[str, str], search: PackedSearch, shard: Shard) -> None:
    """Read the memory of a shard from its file, and verify its checksum."""
    name, space, digest = shard_file(shard.number), search.space, hashlib.sha256()
    with opened(folder / name) as file:
        size = sum(size for region, size in sections(search, shard))
        if (folder / name).stat().st_size != size:
            damaged(name)
        shard.table.close()
        shard.table = Region(space.slot * shard.slots, huge=True)
        for region, size in sections(search, shard):
            for start in range(0, size, PIECE):
                piece = file.read(min(PIECE, size - start))
                digest.update(piece)
                region.write(start, piece)
    if digest.hexdigest() != sums[name]:
        damaged(name)
    space.use(shard)


# ------------------------------------------------------------------- all but the shards


def _take(data: Json, search: PackedSearch) -> None:
    """Restore the description, and validate it."""
    space, tally, context = search.space, search.tally, search.kernel.context
    for shard, words, slots in zip(space.shards, data["words"], data["slots"], strict=True):
        _take_shard(space, shard, _numbers(words), slots)
    space.levels = [PackedLevel(tuple(_numbers(starts)), *_numbers(at)) for starts, *at in data["levels"]]
    faults, depth, starts, parts = data["position"]
    search.position = Position(_number(faults), _number(depth), _numbers(starts), list(_parts(parts)))
    search.entering = {_number(depth): list(_parts(parts)) for depth, parts in data["entering"]}
    search.seeds = [(_number(depth), tuple(_numbers(counts))) for depth, counts in data["seeds"]]
    free, paid, free_cut, paid_cut = _numbers(data["so_far"])
    search.sums = (free, paid, free_cut, paid_cut)
    search.layers = [
        Layer(**dict(zip(layer, _numbers(layer.values()), strict=True))) for layer in data["layers"]
    ]
    tally.best = {name: _found(space, find) for name, find in data["best"].items()}
    tally.error = None if data["error"] is None else _found(space, data["error"])
    words, finds = _numbers(data["tally"]), _numbers(data["finds"])
    if len(words) != context.size or not all(find == NOWHERE or _has(space, find) for find in finds):
        damaged("what was counted")
    tally.restore(words, finds, search.workers[0])
    search.resize_rounds(_number(data["round"], 2, ROUND + 1))
    seconds = data["seconds"]
    if not isinstance(seconds, int | float) or not 0 <= seconds < OLDEST:
        damaged("the time that it took")
    search.go_on(seconds)
    search.resumed = True
    if not _is_in_order(search):
        damaged("the levels do not add up")
    if not _is_growing(search):
        damaged("the steps do not add up")


def _take_shard(space: PackedSpace, shard: Shard, words: list[int], slots: int) -> None:
    """Restore the words of a shard, and validate them."""
    ways, count, local, new, waiting, open_, latest, *finds = words
    space.take(shard, words)
    shard.slots = _number(slots, FEWEST, 2 * MOST_STATES)
    fits = new <= local <= count <= FULL * slots and max(local, waiting) <= space.room
    first = shard.number << LOCAL_BITS
    fits = fits and open_ & ~space.kernel.open == 0 and latest <= ROOT
    fits = fits and 2 * local * space.ways <= ways <= LONGEST * local * space.ways
    if not fits or not all(find == NOWHERE or first <= find < first + local for find in finds):
        damaged("the states do not add up")


def _is_in_order(search: PackedSearch) -> bool:
    """Whether levels and layers are consecutive up to where the search was."""
    space, at, levels = search.space, search.position, search.space.levels
    ends = [space.word(shard, LOCAL) for shard in space.shards]
    news = [space.word(shard, NEW) for shard in space.shards]
    waiting = [space.word(shard, WAITING) for shard in space.shards]
    if len(levels) < 2 or any(len(level.starts) != SHARDS for level in levels) or len(at.starts) != SHARDS:
        return False
    here, behind = levels[-2:]
    counts = [end - start for start, end in zip(here.starts, behind.starts, strict=True)]
    starts = [level.starts for level in levels] + [tuple(ends)]
    depths = [(level.faults, level.depth) for level in levels]
    layers = [sum(level.starts) for before, level in pairwise(levels) if before.faults < level.faults]
    seeds = [(0, (0,) * SHARDS), *search.seeds, (at.depth + 1, tuple(waiting))]
    return (
        depths[0] == (0, 0)
        and not any(starts[0])
        and all(a < b for a, b in pairwise(depths))
        and all(a <= b for one, other in pairwise(starts) for a, b in zip(one, other, strict=True))
        and (here.faults, here.depth, list(here.starts)) == (at.faults, at.depth, at.starts)
        and (behind.faults, behind.depth) == (at.faults, at.depth + 1)
        and [end - start for start, end in zip(behind.starts, ends, strict=True)] == news
        and {level.faults for level in levels} == set(range(at.faults + 1))
        and [layer.faults for layer in search.layers] == list(range(at.faults))
        and [layer.states for layer in search.layers] == layers
        and [layer.new for layer in search.layers] == [b - a for a, b in pairwise([0, *layers])]
        and [layer.levels for layer in search.layers]
        == [1 + max(d for f, d in depths if f <= n) for n in range(at.faults)]
        and _are_disjoint([(s, first, first + count) for s, first, count in at.parts], counts)
        and _are_disjoint([p for parts in search.entering.values() for p in parts], [space.room] * SHARDS)
        and all(depth > at.depth for depth in search.entering)
        and all(len(counts) == SHARDS for _, counts in seeds)
        and all(a < b for (a, _), (b, _) in pairwise(seeds))
        and all(a <= b for (_, one), (_, other) in pairwise(seeds) for a, b in zip(one, other, strict=True))
    )


def _is_growing(search: PackedSearch) -> bool:
    """Whether all counters are monotone over the layers."""
    free, paid, *_ = search.sums
    last = search.layers[-1].transitions if search.layers else 0
    return (
        free <= last <= free + (paid if len(search.layers) > 1 else 0)
        and all(a <= b for a, b in zip(search.sums, search.tally.sums(), strict=True))
        and all(a.transitions <= b.transitions and a.cut <= b.cut for a, b in pairwise(search.layers))
    )


def _are_disjoint(parts: list[Part], ends: list[int]) -> bool:
    """Whether parts of shards do not overlap and are within their shards."""
    whole = all(s < SHARDS and a < b <= ends[s] for s, a, b in parts)
    return whole and all(s < t or b <= c for (s, _, b), (t, c, _) in pairwise(sorted(parts)))


def _found(space: PackedSpace, value: Any) -> Find:  # noqa: ANN401 - any JSON value
    """A find in JSON data, whose state must exist."""
    find = find_of(value)
    if not _has(space, _number(find.number)):
        damaged("what was found")
    level = space.level(find.number)
    after = find.way in {FindKind.STEP, FindKind.ERROR_AFTER_STEP}
    if find.cost != (level.faults + find.by_fault, level.depth + after):
        damaged("what was found")
    return find


def _has(space: PackedSpace, number: int) -> bool:
    """Whether a state's number exists."""
    return number >> LOCAL_BITS < SHARDS and space.has(number)


def _parts(value: Any) -> Iterator[Part]:  # noqa: ANN401 - any JSON value
    """Parts of shards in JSON data, validated."""
    for part in value:
        shard, first, last = _numbers(part)
        yield shard, first, last


def _numbers(value: Any) -> list[int]:  # noqa: ANN401 - any JSON value
    """A list of numbers in JSON data, validated."""
    return [_number(each) for each in value]


def _number(value: Any, least: int = 0, end: int = 1 << 64) -> int:  # noqa: ANN401 - any JSON value
    """A number in JSON data from `least` to below `end`, validated."""
    if type(value) is not int or not least <= value < end:
        raise ValueError(f"{str(value)[:40]!r} is not a number that is allowed there")
    return value


# ------------------------------------------------------------------------- once more


def _find_again(data: Json, search: PackedSearch) -> None:
    """Repeat the search up to where it was. Raises CannotResume where it finds something else."""
    with (
        closing(PackedSpace(search.kernel, ways=search.task.ways)) as space,
        closing(_Again(search, space)) as again,
    ):
        end = again.run()
        if end is End.INTERRUPTED:
            raise KeyboardInterrupt
        if not again.is_there:
            damaged("no search comes to where it was")
        found = json.loads(json.dumps(described(again)))
        for name in data.keys() | found.keys():
            if name != "seconds" and data.get(name) != found.get(name):
                damaged(f"its entry for {name}")
        for shard, other in zip(search.space.shards, space.shards, strict=True):
            if not _are_same(sections(search, shard), sections(again, other)):
                damaged(shard_file(shard.number))


class _Again(PackedSearch):
    """A search from the start to where another one was stopped, without its limits."""

    def __init__(self, first: PackedSearch, space: PackedSpace) -> None:
        task = replace(first.task, limits=Limits(), keep=None)
        super().__init__(task, space, first.machine, Silent(), len(first.workers))
        self.resize_rounds(first.round_size)
        self.is_there = False
        self._first = first

    def _look_around(self, *_: int) -> None:
        """See whether it is there."""
        self.is_there = self.position == self._first.position
        if self.is_there or len(self.space) > len(self._first.space):
            raise Stopped(End.STATES)
        self.check_limits()


def _are_same(some: list[tuple[Region, int]], others: list[tuple[Region, int]]) -> bool:
    """Whether sections have the same sizes and bytes."""
    return all(
        size == length
        and all(
            one.read(start, min(PIECE, size - start)) == other.read(start, min(PIECE, size - start))
            for start in range(0, size, PIECE)
        )
        for (one, size), (other, length) in zip(some, others, strict=True)
    )
