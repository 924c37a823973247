"""Checkpoints: a search on disk, to be resumed; written as a whole or not at all, files with checksums."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, NoReturn

from counterexamples.certify import NotReplayable
from modelcheck.contract.engine import CannotResume
from modelcheck.explicit.codegen.search.runtime import LOCAL, NEW, SHARDS, WAITING
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import Shard
from modelcheck.explicit.search.tally import Find, FindKind
from spec.reading import bytes_of, text_of

PIECE = 1 << 24  # bytes read or written at once
LARGEST = 1 << 28  # bytes of all that is not in the shards
FORMAT = 4
MARK, MARKED = "modelcheck-checkpoint", "written by modelcheck\n"  # a file in each of our folders
SEARCH = "search.json"
Json = dict[str, Any]
_NAME = re.compile(r"(?:state|new)-(\d+)", re.ASCII)


@dataclass(slots=True)
class Checkpoints:
    """A folder of checkpoints of one search, written every `every` seconds.

    The folder holds the last whole checkpoint, and while a new one is written
    both, so it takes twice the memory of the search at most.  Whatever else is
    in it stays there: only folders with our mark are read or removed.
    """

    folder: Path
    every: float

    def save(self, search: PackedSearch) -> None:
        """Write a checkpoint. Raises OSError; then the previous one remains."""
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((number for number, _ in self._all()), default=0)
        new, whole = self.folder / f"new-{number}", self.folder / f"state-{number}"
        new.mkdir()
        try:
            (new / MARK).write_text(MARKED, encoding="utf-8")
            sums = {}
            for shard in search.space.shards:
                with (new / shard_file(shard.number)).open("wb") as file:
                    sums[shard_file(shard.number)] = _write(file, sections(search, shard))
            write_sealed(new / SEARCH, described(search) | {"sums": sums})
            new.rename(whole)
        except BaseException:
            _remove(new)
            raise
        for _, path in self._all():
            if path != whole and is_ours(path):
                _remove(path)

    def newest(self) -> Path:
        """The path of the last complete checkpoint. Raises CannotResume."""
        found = [
            (number, path) for number, path in self._all() if path.name.startswith("state-") and is_ours(path)
        ]
        if not found:
            raise CannotResume(f"there is no checkpoint in {self.folder}")
        return max(found)[1]

    def _all(self) -> Iterator[tuple[int, Path]]:
        """Every entry named like a checkpoint, with its number."""
        with suppress(OSError):  # there is no such folder
            for path in self.folder.iterdir():
                if found := _NAME.fullmatch(path.name):
                    yield int(found[1]), path


def is_ours(path: Path) -> bool:
    """Whether a folder has our marker file."""
    try:
        return not path.is_symlink() and bytes_of(path / MARK, len(MARKED) + 1) == MARKED.encode()
    except OSError:
        return False


def write_sealed(path: Path, data: Json) -> None:
    """Write JSON data with their checksum; they are on disk then. Raises OSError."""
    text = json.dumps(data)
    with path.open("w", encoding="utf-8") as file:
        file.write(hashlib.sha256(text.encode()).hexdigest() + text)
        file.flush()
        os.fsync(file.fileno())


def read_sealed(path: Path) -> Json:
    """JSON data that were written with their checksum. Raises CannotResume, OSError, and ValueError."""
    whole = text_of(path, LARGEST)
    digest, text = whole[:64], whole[64:]
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        damaged(path.name)
    data: Json = json.loads(text)
    return data


def damaged(what: str) -> NoReturn:
    """Raise CannotResume for a damaged checkpoint."""
    raise CannotResume(f"the checkpoint is damaged: {what}")


@contextmanager
def only_runs() -> Iterator[None]:
    """A context that raises CannotResume if a replay of the data read is no run of the model."""
    try:
        yield
    except (NotReplayable, AssertionError, LookupError):
        damaged("a run in it is none of the model's")


def _remove(path: Path) -> None:
    """Remove a folder of ours, unless it has other files; ignores errors."""
    with suppress(OSError):
        for name in (SEARCH, *map(shard_file, range(SHARDS)), MARK):  # the mark last
            (path / name).unlink(missing_ok=True)
        path.rmdir()


def shard_file(number: int) -> str:
    """The name of a shard's file."""
    return f"shard-{number:02}"


# ------------------------------------------------------------------------ shards


def sections(search: PackedSearch, shard: Shard) -> list[tuple[Region, int]]:
    """The memory regions of a shard to save, with the bytes used in each."""
    space, position = search.space, search.position
    state, entry, local = 8 * space.words, 8 * space.entry, space.word(shard, LOCAL)
    new = space.word(shard, NEW)
    frontier = local - new - position.starts[shard.number] if position.starts else 0
    entering = max(
        (end for parts in search.entering.values() for s, _, end in parts if s == shard.number), default=0
    )
    return [
        (shard.table, space.slot * shard.slots),
        (shard.ways, space.size_of_ways(shard)),
        (shard.frontiers[0], state * frontier),
        (shard.frontiers[1], state * new),
        (shard.pending[0], entry * entering),
        (shard.pending[1], entry * space.word(shard, WAITING)),
    ]


def _write(file: BinaryIO, parts: list[tuple[Region, int]]) -> str:
    """Write sections one after the other; returns their checksum."""
    digest = hashlib.sha256()
    for region, size in parts:
        for start in range(0, size, PIECE):
            piece = region.read(start, min(PIECE, size - start))
            digest.update(piece)
            file.write(piece)
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest()


# ------------------------------------------------------------------------ the rest


def described(search: PackedSearch) -> Json:
    """The state of a search apart from the shards, as JSON data."""
    tally, position = search.tally, search.position
    return {
        "format": FORMAT,
        "key": search.kernel.key,
        "task": question(search),
        "round": search.round_size,
        "slots": [shard.slots for shard in search.space.shards],
        "words": [search.space.words_of(shard) for shard in search.space.shards],
        "levels": [[list(level.starts), level.faults, level.depth] for level in search.space.levels],
        "position": [position.faults, position.depth, position.starts, [list(p) for p in position.parts]],
        "entering": [[depth, [list(p) for p in parts]] for depth, parts in sorted(search.entering.items())],
        "seeds": [[depth, list(counts)] for depth, counts in search.seeds],
        "so_far": list(search.sums),
        "layers": [asdict(layer) for layer in search.layers],
        "tally": tally.as_words(),
        "finds": tally.finds(search.workers),
        "best": {name: find_as_json(find) for name, find in sorted(tally.best.items())},
        "error": None if tally.error is None else find_as_json(tally.error),
        "seconds": monotonic() - search.started,
    }


def question(search: PackedSearch) -> list[Any]:
    """What identifies the search, besides the key of the kernel."""
    task = search.task
    kinds = None if task.budget.kinds is None else dict(task.budget.kinds)
    return [task.budget.total, kinds, task.stop_early, task.ways]


def refuse_other(data: Json, search: PackedSearch, form: int) -> None:
    """Raise CannotResume if a description is not of this search, or of another format."""
    if data["format"] != form or data["key"] != search.kernel.key or data["task"] != question(search):
        raise CannotResume("the checkpoint is of another model, scope, check or version of modelcheck")


def find_as_json(find: Find) -> list[Any]:
    """A find as JSON data."""
    return [find.faults, find.depth, find.number, find.way.name, find.by_fault]


def find_of(data: Any) -> Find:  # noqa: ANN401 - any JSON value
    """The find in JSON data; whether there is such a state is not validated."""
    faults, depth, number, way, by_fault = data
    return Find(int(faults), int(depth), int(number), FindKind[way], by_fault is True)
