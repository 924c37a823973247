"""How far a run is, from its files alone: to be asked while it works, or long after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spark_explore.storage.pieces import Damaged
from spark_explore.storage.run import RunLevel, level_from_json, manifests, opened
from spark_explore.storage.spent import BYTES, CoreSeconds
from spark_explore.storage.spent import line as spent_line
from spark_explore.storage.store import store_at
from spec.frozen import frozen

__all__ = ["Damaged", "LevelCounts", "Status", "counted", "lines", "status"]


@frozen
class Status:
    """The status of a run: task, complete levels, time, and findings."""

    about: dict[str, Any]
    levels: tuple[RunLevel, ...]
    seconds: float
    decided: tuple[str, ...]
    transitions: int
    spent: CoreSeconds
    read: int  # bytes of files

    @property
    def states(self) -> int:
        """The number of states found."""
        return sum(level.count for level in self.levels)

    @property
    def bytes(self) -> int:
        """The total size of the run's files of states."""
        return sum(piece.size for level in self.levels for piece in (*level.new, *level.waiting))

    @property
    def unpacked(self) -> int:
        """The bytes of the states as they are in memory."""
        return 8 * int(self.about["words"]) * self.states

    @property
    def files(self) -> int:
        """The number of files of states."""
        return len({piece.name for level in self.levels for piece in (*level.new, *level.waiting)})


def status(place: str) -> Status:
    """The status of the run at a path or URI, without an incomplete level. Raises CannotResume, OSError."""
    store = store_at(place)
    _, about = opened(store)
    levels, last = [], dict[str, Any]()
    for data in manifests(store):
        levels.append(level_from_json(data))
        last = data["status"]
    taken = sum(last.get("taken", {}).values())
    spent = CoreSeconds(last.get("spent", {}))
    read = int(spent.pop(BYTES, 0))
    return Status(
        about,
        tuple(levels),
        last.get("seconds", 0.0),
        tuple(last.get("best", ())),
        taken,
        spent,
        read,
    )


@frozen
class LevelCounts:
    """The counters of a level: new states, and steps by action from the level before."""

    faults: int
    depth: int
    states: int
    taken: dict[str, int]


def counted(place: str) -> Iterator[LevelCounts]:
    """The counters of a run's levels in order. Costs reading the manifests. Raises as `status`."""
    before: dict[str, int] = {}
    for data in manifests(store_at(place)):
        level, taken = level_from_json(data), data["status"]["taken"]
        own = {name: count - before.get(name, 0) for name, count in taken.items()}
        yield LevelCounts(level.faults, level.depth, level.count, own)
        before = taken


def lines(found: Status) -> Iterator[str]:
    """The status in lines for people, one for each layer."""
    about = found.about
    check = f" · {about['check']}" if about["check"] else ""
    yield f"{about['model']}{check}: {found.states:,} states · {found.transitions:,} transitions"
    for faults in dict.fromkeys(level.faults for level in found.levels):
        own = [level for level in found.levels if level.faults == faults]
        last = own[-1]
        yield (
            f"  with {faults} fault{'s' * (faults != 1)}: {sum(level.count for level in own):,} states"
            f" · depth {last.depth} · {last.count:,} in the last level"
        )
    if found.decided:
        yield f"  decided: {', '.join(found.decided)}"
    yield f"  {found.files:,} files · {found.bytes:,} bytes · {found.about['shards']} shards"
    yield f"  worked for {found.seconds:.0f} s, by modelcheck {about['version']}"
    if found.states:
        times = found.read / found.unpacked
        yield f"  {found.read:,} bytes read, {times:.1f} times the states as they are in memory"
    yield f"  {spent_line(found.spent)}"
