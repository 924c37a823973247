"""The folder of a run: what is asked, and for each finished level a manifest of the files that count."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modelcheck.contract.engine import CannotResume, Task
from modelcheck.contract.version import VERSION
from modelcheck.explicit.codegen.states.layout import layout
from spark_explore.storage.pieces import Damaged
from spark_explore.storage.sorted_pieces import SortedPiece, count_states, of_shard, verify
from spark_explore.storage.store import Store, forget
from spec.frozen import frozen
from spec.model.values import encode

FORMAT = 4
ABOUT = "run.json"
LEVELS = "levels"  # the manifests of finished levels, by number
LEFT = "left"  # what one task leaves for another, by level
MARKS = "marks"  # of states with a way back, by the property that asks for one
STATES = "states"  # files of states, by level and by who wrote them
Json = dict[str, Any]


@frozen
class RunLevel:
    """A level: the new states of a layer at a depth, and those that wait for a later layer."""

    number: int
    faults: int
    depth: int
    new: tuple[SortedPiece, ...]
    waiting: tuple[SortedPiece, ...]

    @property
    def count(self) -> int:
        """The number of new states."""
        return count_states(self.new)

    def of_shard(self, shard: int) -> list[SortedPiece]:
        """The pieces of the new states of a shard."""
        return of_shard(self.new, shard)


@dataclass(slots=True)
class RunFolder:
    """The files of one search; `seen` is the visited set, by shard, in the order of levels.

    `name` is of this run alone, also among those that ask the same.
    """

    store: Store
    shards: int
    name: str
    levels: list[RunLevel] = field(default_factory=list)
    seen: defaultdict[int, list[SortedPiece]] = field(default_factory=lambda: defaultdict(list))

    def add(self, level: RunLevel) -> None:
        """Add a level that is complete."""
        self.levels.append(level)
        for piece in level.new:
            self.seen[piece.shard].append(piece)

    def at(self, faults: int, depth: int) -> list[SortedPiece]:
        """The pieces of the states of a layer at a depth."""
        found = (level.new for level in self.levels if (level.faults, level.depth) == (faults, depth))
        return [piece for pieces in found for piece in pieces]

    def commit(self, level: RunLevel, status: Json) -> None:
        """Make a complete level part of the run, with the status of the search. Raises OSError."""
        data = {
            "number": level.number,
            "faults": level.faults,
            "depth": level.depth,
            "new": [piece.as_json() for piece in level.new],
            "waiting": [piece.as_json() for piece in level.waiting],
            "status": status,
        }
        self.store.put(manifest_name(level.number), [sealed(data)])
        self.add(level)

    def write_json(self, name: str, data: Json) -> None:
        """Write a JSON file next to the levels. Raises OSError."""
        self.store.put(name, [sealed(data)])

    def read_json(self, name: str) -> Json:
        """The content of a file by `write_json`. Raises Damaged, OSError."""
        return unsealed(name, self.store.read(name))


def manifest_name(number: int) -> str:
    """The name of a level's manifest."""
    return f"{LEVELS}/{number:06}.json"


def new_name(level: int, shard: int | None) -> str:
    """A unique name for a file of states, so that a late or repeated task overwrites nothing."""
    whose = "all" if shard is None else f"{shard:05}"
    return f"{STATES}/{level:06}/{whose}-{uuid.uuid4().hex[:12]}"


def left_folder(level: int) -> str:
    """The folder of a level's temporary files."""
    return f"{LEFT}/{level:06}"


def left_name(level: int) -> str:
    """A unique name in that folder."""
    return f"{left_folder(level)}/{uuid.uuid4().hex[:12]}"


def marks_folder(which: int) -> str:
    """The folder of marks for a `recoverable`, by number."""
    return f"{MARKS}/{which:02}"


def marks_name(which: int) -> str:
    """A unique name in that folder."""
    return f"{marks_folder(which)}/{uuid.uuid4().hex[:12]}"


def sealed(data: Json) -> bytes:
    """JSON data as bytes with a checksum."""
    text = json.dumps(data, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def unsealed(name: str, data: bytes) -> Json:
    """The inverse of `sealed`. Raises Damaged."""
    digest, _, text = data.partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        raise Damaged(f"{name} is not as it was written")
    found: Json = json.loads(text)
    return found


def manifests(store: Store) -> Iterator[Json]:
    """The manifests of the complete levels in order. Raises Damaged, OSError."""
    there = set(store.names(LEVELS))
    number = 0
    while (name := manifest_name(number)).rpartition("/")[2] in there:
        yield unsealed(name, store.read(name))
        number += 1


def level_from_json(data: Mapping[str, Any]) -> RunLevel:
    """The level in a manifest."""
    new, waiting = (tuple(SortedPiece(*piece) for piece in data[which]) for which in ("new", "waiting"))
    return RunLevel(data["number"], data["faults"], data["depth"], new, waiting)


# ------------------------------------------------------------------------ beginning


def see_room(store: Store) -> None:
    """Check that a run can begin in the store. Raises OSError; CannotResume if one is there."""
    if store.names():
        raise CannotResume("the run directory is not empty: continue it with --resume, or name another")


def begin(store: Store, task: Task, shards: int) -> RunFolder:
    """A new run in the store. Raises as `see_room`."""
    see_room(store)
    run = RunFolder(store, shards, uuid.uuid4().hex)
    run.write_json(ABOUT, {"run": run.name, "shards": shards, **about(task)})
    return run


def resume(store: Store, task: Task) -> tuple[RunFolder, Json | None]:
    """The run in the store, and the manifest of its last complete level, if any.

    Costs reading all states once. Raises CannotResume, OSError, Damaged.
    """
    if not store.names():
        raise CannotResume("there is no run in the run directory")
    run, data = opened(store)
    asked = about(task)
    if data["identity"] != asked["identity"]:
        raise CannotResume("the run directory is of another model, scope, check or version of modelcheck")
    status = None
    for manifest in manifests(store):
        run.add(level_from_json(manifest))
        status = manifest["status"]
    verify(store, (piece for level in run.levels for piece in (*level.new, *level.waiting)), data["words"])
    forget(store, LEFT)
    return run, status


def opened(store: Store) -> tuple[RunFolder, Json]:
    """The run in the store without its levels, and its description. Raises CannotResume, OSError, Damaged."""
    try:
        data = unsealed(ABOUT, store.read(ABOUT))
    except FileNotFoundError:
        raise CannotResume("there is no run in the run directory") from None
    if data["format"] != FORMAT:
        raise CannotResume("the run directory is of another version of modelcheck")
    return RunFolder(store, data["shards"], data["run"]), data


def about(task: Task) -> Json:
    """The description of a run's task, by which only the same task resumes it."""
    model, scope, budget = task.model, task.scope, task.budget
    kinds = None if budget.kinds is None else dict(budget.kinds)
    parts = (model.sorts, model.nats, model.unions, model.variables, model.actions, model.init)
    asked = (
        [sorted(each.items()) for each in (scope.sorts, scope.nats, scope.networks, scope.config)],
        (budget.total, kinds),
        task.properties,
        task.witnesses,
        task.symmetry,
        task.stop_early,
    )
    packed = layout(model, scope, budget.counted)
    identity = hashlib.sha256(repr((FORMAT, VERSION, parts, asked, packed)).encode()).hexdigest()
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": identity,
        "file": model.source.name,
        "text": model.source.text,
        "model": model.name,
        "check": task.check,
        "scope": {
            "sorts": {name: list(members) for name, members in scope.sorts.items()},
            "nats": dict(scope.nats),
            "networks": dict(scope.networks),
            "config": {
                entry.name: encode(entry.type, scope)(scope.config[entry.name]).hex()
                for entry in model.configs
            },
        },
        "budget": [budget.total, kinds],
        "symmetry": list(task.symmetry),
        "words": packed.words,
    }
