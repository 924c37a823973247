"""A search on disk, so that it can go on after a stop: whole or not at all, each file with a checksum."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from modelcheck.engine import CannotResume
from modelcheck.explicit.arena import Region
from modelcheck.explicit.runtime import LOCAL, WAITING
from modelcheck.explicit.search import Position, Search
from modelcheck.explicit.space import Level, Shard
from modelcheck.explicit.tally import Find, Way
from modelcheck.result import Layer

PIECE = 1 << 24  # bytes read or written at once
FORMAT = 1
Json = dict[str, Any]


@dataclass(slots=True)
class Checkpoints:
    """A folder for one search; `every` is how many seconds pass between two checkpoints.

    The folder holds the last whole checkpoint, and while a new one is written
    both, so it takes twice the memory of the search at most.
    """

    folder: Path
    every: float

    def save(self, search: Search) -> None:
        """Write down how far a search is. Raises OSError; then the checkpoint before is still there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(path.name[6:]) for path in self._all()), default=0)
        new = self.folder / f"new-{number}"
        shutil.rmtree(new, ignore_errors=True)
        try:
            new.mkdir()
            sums = {}
            for shard in search.space.shards:
                name = f"shard-{shard.number:02}"
                with (new / name).open("wb") as file:
                    sums[name] = _write(file, _sections(search, shard))
            text = json.dumps(_described(search) | {"sums": sums})
            digest = hashlib.sha256(text.encode()).hexdigest()
            with (new / "search.json").open("w", encoding="utf-8") as file_:
                file_.write(digest + text)
                file_.flush()
                os.fsync(file_.fileno())
            new.rename(self.folder / f"state-{number}")
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
        for path in self._all():
            if path.name != f"state-{number}":
                shutil.rmtree(path, ignore_errors=True)

    def load(self, search: Search) -> None:
        """Let a new search go on where the one in the folder was. Raises CannotResume."""
        found = sorted(self._all(), key=lambda path: int(path.name[6:]))
        if not found:
            raise CannotResume(f"there is no checkpoint in {self.folder}")
        try:
            text = (found[-1] / "search.json").read_text(encoding="utf-8")
            told = json.loads(text[64:])
            if hashlib.sha256(text[64:].encode()).hexdigest() != text[:64]:
                raise CannotResume("the checkpoint is damaged: search.json")
            _same(told, search)
            for shard in search.space.shards:
                _read_shard(found[-1], told, search, shard)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise CannotResume(f"the checkpoint cannot be read: {error}") from None
        _restore(told, search)

    def _all(self) -> Iterator[Path]:
        return (path for path in self.folder.glob("state-*") if path.name[6:].isdecimal())


# ------------------------------------------------------------------------ shards


def _sections(search: Search, shard: Shard) -> list[tuple[Region, int]]:
    """The memory of a shard that a search needs to go on, and how many bytes of each."""
    space = search.space
    state, entry, local = 8 * space.words, 8 * space.entry, space.word(shard, LOCAL)
    entering = sum(
        end - start for parts in search.entering.values() for s, start, end in parts if s == shard.number
    )
    old = max(
        (end for parts in search.entering.values() for s, _, end in parts if s == shard.number), default=0
    )
    frontier = max(local - search.position.starts[shard.number], 0) if search.position.starts else 0
    return [
        (shard.table, state * shard.slots),
        (shard.parents, 4 * local * space.ways),
        (shard.ordinals, 4 * local * space.ways),
        (shard.frontiers[0], state * frontier),
        (shard.frontiers[1], state * frontier),
        (shard.pending[0], entry * old if entering else 0),
        (shard.pending[1], entry * space.word(shard, WAITING)),
    ]


def _write(file: BinaryIO, sections: list[tuple[Region, int]]) -> Json:
    """Write sections one behind the other; their sizes and a checksum."""
    digest = hashlib.sha256()
    for region, size in sections:
        for start in range(0, size, PIECE):
            piece = region.read(start, min(PIECE, size - start))
            digest.update(piece)
            file.write(piece)
    file.flush()
    os.fsync(file.fileno())
    return {"sizes": [size for _, size in sections], "sha256": digest.hexdigest()}


def _read_shard(folder: Path, told: Json, search: Search, shard: Shard) -> None:
    name = f"shard-{shard.number:02}"
    about = told["sums"][name]
    space = search.space
    shard.table.close()
    shard.slots = told["slots"][shard.number]
    shard.table = Region(8 * space.words * shard.slots, huge=True)
    regions = [shard.table, shard.parents, shard.ordinals, *shard.frontiers, *shard.pending]
    digest = hashlib.sha256()
    with (folder / name).open("rb") as file:
        for region, size in zip(regions, about["sizes"], strict=True):
            if size > region.size:
                raise CannotResume(f"the checkpoint is damaged: {name}")
            for start in range(0, size, PIECE):
                piece = file.read(min(PIECE, size - start))
                digest.update(piece)
                region.write(start, piece)
    if digest.hexdigest() != about["sha256"]:
        raise CannotResume(f"the checkpoint is damaged: {name}")
    start = shard.number * space.size
    space.memory[start : start + space.size] = told["words"][start : start + space.size]
    space.use(shard)


# ------------------------------------------------------------------------ the rest


def _described(search: Search) -> Json:
    """Everything that is not in the shards."""
    tally, position = search.tally, search.position
    return {
        "format": FORMAT,
        "key": search.kernel.key,
        "task": _question(search),
        "slots": [shard.slots for shard in search.space.shards],
        "words": list(search.space.memory),
        "levels": [[list(level.starts), level.faults, level.depth] for level in search.space.levels],
        "position": [position.faults, position.depth, position.starts, position.parts],
        "entering": [[depth, parts] for depth, parts in search.entering.items()],
        "seeds": search.seeds,
        "sums": [],
        "so_far": list(search.sums),
        "layers": [asdict(layer) for layer in search.layers],
        "tally": tally.words,
        "contexts": [list(worker.context) for worker in search.workers],
        "best": {name: _find(find) for name, find in tally.best.items()},
        "error": None if tally.error is None else _find(tally.error),
        "seconds": monotonic() - search.started,
    }


def _question(search: Search) -> list[Any]:
    task = search.task
    kinds = None if task.budget.kinds is None else dict(task.budget.kinds)
    return [task.budget.total, kinds, task.stop_early, task.ways]


def _find(find: Find) -> list[Any]:
    return [find.faults, find.depth, find.number, find.way.name, find.by_fault]


def _found(told: list[Any]) -> Find:
    faults, depth, number, way, by_fault = told
    return Find(faults, depth, number, Way[way], by_fault)


def _same(told: Json, search: Search) -> None:
    """Only the same question can go on."""
    if told["format"] != FORMAT or told["key"] != search.kernel.key or told["task"] != _question(search):
        raise CannotResume("the checkpoint is of another model, scope, check or version of modelcheck")


def _restore(told: Json, search: Search) -> None:
    space, tally = search.space, search.tally
    space.levels = [Level(tuple(starts), faults, depth) for starts, faults, depth in told["levels"]]
    faults, depth, starts, parts = told["position"]
    search.position = Position(faults, depth, starts, [(s, a, b) for s, a, b in parts])
    search.entering = {depth: [(s, a, b) for s, a, b in parts] for depth, parts in told["entering"]}
    search.seeds = [(depth, tuple(counts)) for depth, counts in told["seeds"]]
    free, paid, free_cut, paid_cut = told["so_far"]
    search.sums = (free, paid, free_cut, paid_cut)
    search.layers = [Layer(**layer) for layer in told["layers"]]
    tally.best = {name: _found(find) for name, find in told["best"].items()}
    tally.error = None if told["error"] is None else _found(told["error"])
    search.started = monotonic() - told["seconds"]
    tally.restore(told["tally"], told["contexts"], search.workers[0])
    search.resumed = True
