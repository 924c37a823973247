"""What the search on disk finds, with hardly any memory, and after it was cut short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from modelcheck.contract.engine import Keep, Limits
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.disk.folder import StateFolder, has_search
from modelcheck.explicit.disk.levels import Room
from modelcheck.explicit.disk.runs import SortedRun
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.search.rounds import PackedSearch
from spec.model.ir import Check
from spec.model.kinds import OF_RUNS
from tests.agreement import Found, differences, found_by
from tests.fuzz.cases import Case, small_chunks
from tests.fuzz.findings import Differences

MOST_WRITES = 40  # of runs, before a search is killed
MOST_BYTES = 4000  # on disk


class Killed(BaseException):
    """The end of a search that has no time to save anything."""


def on_disk(case: Case) -> Differences | None:
    """The findings of the search on disk, with many runs to be merged."""
    asked, chance = _asked(case), case.random("disk")
    symmetry = chance.random() < 0.3
    with TemporaryDirectory() as folder:
        found = _found(case, asked, chance, Keep(Path(folder) / "states", states=True), symmetry=symmetry)
    if found is None:
        return None
    # what is found up to symmetry is compared with the same in memory, which has its own comparison
    known = (
        found_by(case.model, asked, case.explicit, symmetry=True) if symmetry else case.by_reference(asked)
    )
    return None if known is None else differences(known.facts, found.facts)


def on_disk_resumed(case: Case) -> Differences | None:
    """The same after it was stopped by limits, or killed, once or more often."""
    asked, chance, resume = _asked(case), case.random("disk resumed"), False
    with TemporaryDirectory() as name, patch("os.fsync"):
        folder = Path(name) / "states"
        for last in (False, False, False, True):
            keep = Keep(folder, seconds=chance.choice([0, 1000]), resume=resume, states=True)
            limits = Limits() if last else _limits(chance, case)
            found: Found | None = None
            with (
                suppress(Killed),
                killing(0 if last else chance.choice([0, 0, chance.randint(1, MOST_WRITES)])),
            ):
                found = _found(case, asked, chance, keep, limits=limits)
                if found is None or found.findings is None or not found.findings.end.partial:
                    return None if found is None else differences(case.by_reference(asked).facts, found.facts)
            resume = (folder / "search.json").exists()
    raise AssertionError("a search without limits has ended early")


def spilled(case: Case) -> Differences | None:
    """The findings of a search whose memory ends somewhere, and which begins again on disk.

    It may have checkpoints, from which it is resumed on disk after it was killed there.
    """
    asked, chance = _asked(case), case.random("spilled")
    most = case.findings.stats.states if case.findings is not None else 1
    with TemporaryDirectory() as name, patch("os.fsync"), ending_memory(chance.randint(1, most)) as ended:
        folder, spill = Path(name) / "checkpoints", Path(name) / "spill"
        keep = Keep(folder, seconds=chance.choice([0, 1000])) if chance.random() < 0.5 else None
        found, writes = None, 0 if keep is None else chance.choice([0, chance.randint(1, MOST_WRITES)])
        with suppress(Killed), killing(writes):
            found = _found(case, asked, chance, keep, spill=spill)
        if found is None and keep is not None and has_search(folder):
            resumed = replace(keep, resume=(folder / "search.json").exists(), states=True)
            found = _found(case, asked, chance, resumed, spill=spill)
        left = [str(path) for path in spill.glob("*")]
    if found is None:
        return None
    other = differences(case.by_reference(asked).facts, found.facts)
    if found.findings is not None and ended and found.findings.spill is None and keep is None:
        other = {**(other or {}), "goes on on disk": (True, False)}
    return {**(other or {}), "left behind": ([], left)}


@contextmanager
def ending_memory(states: int) -> Iterator[list[int]]:
    """A context in which memory ends so many states of searches that have them all there; tells where."""
    look, ended = PackedSearch._look_around, list[int]()

    def looking(self: PackedSearch, faults: int, depth: int, waiting: int) -> None:
        look(self, faults, depth, waiting)
        if type(self) is PackedSearch and len(self) >= states:
            ended.append(len(self))
            raise Stopped(End.MEMORY)

    with patch.object(PackedSearch, "_look_around", looking):
        yield ended


def _asked(case: Case) -> Check:
    """The question without the properties that the search on disk refuses."""
    names = tuple(n for n in case.asked.only or () if case.model.property(n).kind not in OF_RUNS)
    return replace(case.asked, only=names)


def _found(case: Case, asked: Check, chance: Random, keep: Keep | None, **options: object) -> Found | None:
    """What a search finds whose memory has room for a few states."""
    room = Room(chance.randint(1, 20), chance.randint(1, 40), chance.randint(1, 8))
    with small_chunks(), patch("modelcheck.explicit.disk.levels.LARGE", chance.choice([2, 8, 64])):
        return found_by(
            case.model, asked, ExplicitEngine(room=room), threads=chance.randint(1, 2), keep=keep, **options
        )


def _limits(chance: Random, case: Case) -> Limits:
    """Limits that end the search somewhere."""
    states = 1 if case.findings is None else case.findings.stats.states
    if chance.random() < 0.5:
        return Limits(states=chance.randint(1, states))
    return Limits(disk=chance.randint(1, MOST_BYTES))


def killing(writes: int) -> AbstractContextManager[object]:
    """A context that ends a search on disk before that many runs were written; 0 for never."""
    write, left = StateFolder.write, [writes]

    def counting(self: StateFolder, pieces: object) -> SortedRun | None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return write(self, pieces)  # type: ignore[arg-type]

    return patch.object(StateFolder, "write", counting)
