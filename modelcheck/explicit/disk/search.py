"""A search on disk that may end at any time: what is whole is its checkpoint, and what its counts are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from time import monotonic
from typing import Any

from modelcheck.contract.engine import Task
from modelcheck.contract.report import Checkpointed, Reporter
from modelcheck.contract.result import End, Layer
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.disk.folder import StateFolder
from modelcheck.explicit.disk.levels import WHOLE, LevelsOnDisk, Room, RunOfLevels
from modelcheck.explicit.disk.runs import SortedRun, StoredRun
from modelcheck.explicit.disk.space import KeptState, RecentSpace
from modelcheck.explicit.search.checkpoint import (
    Json,
    damaged,
    find_as_json,
    find_of,
    question,
    refuse_other,
)
from modelcheck.explicit.search.restoring import MISTAKES
from modelcheck.explicit.search.space import PackedLevel
from modelcheck.explicit.search.tally import Find
from modelcheck.processes.watch import held
from modelcheck.search.layers import Sums
from spec.frozen import frozen
from spec.meaning.semantics import Machine
from spec.reading import reason_of

FORMAT = 2


@frozen
class WholeLevels:
    """What a search on disk knew when its last level, or what it looks up, was whole."""

    reached: tuple[int, int]
    levels: tuple[PackedLevel, ...]
    states: int
    seen: tuple[RunOfLevels, ...]
    cuts: tuple[int, ...]
    due: Mapping[int, SortedRun]
    waking: Mapping[int, SortedRun]
    kept: tuple[KeptState, ...]
    witnessed: tuple[int, ...]
    sums: Sums
    layers: tuple[Layer, ...]
    counts: tuple[int, ...]
    best: tuple[tuple[str, Find], ...]
    error: Find | None

    @property
    def all_runs(self) -> set[SortedRun]:
        """All runs of it."""
        return {*(each.run for each in self.seen), *self.due.values(), *self.waking.values()}


class DiskSearch(LevelsOnDisk):
    """The search on disk: verdicts, counts and depths are those of the search in memory.

    Where it ends early its counts are of the last whole level, from which it continues when resumed.
    """

    def __init__(
        self,
        task: Task,
        space: RecentSpace,
        machine: Machine,
        reporter: Reporter,
        threads: int,
        folder: StateFolder,
        sizes: Room,
    ) -> None:
        super().__init__(task, space, machine, reporter, threads, folder, sizes)
        assert task.keep is not None
        self._every, self._saved = task.keep.seconds, self.started
        self._whole = self._now()
        if task.keep.resume:
            self._resume()

    def run(self) -> End:
        """Search, until everything is seen or something ends the search; then save what is whole."""
        end = super().run()
        if end.partial:
            with held():
                self._return()
                self._save()
        if end is End.SECONDS:  # as long again to show what was found, at most
            self.since = monotonic()
        return end

    def _start(self) -> int | None:
        """Insert the initial states, or continue; return the depth of the next level."""
        if not self.recent.levels:
            self.recent.start([self.kernel.represent(state) for state in self.machine.initial()])
            return 0
        is_any = bool(self.last)
        if is_any or not self.entering:
            self._note(*self.reached)  # the level was whole, and what it decides may not have been seen
        return self._after(self.reached[1], is_any=is_any)

    # ---------------------------------------------------------------- what is whole

    def _is_whole(self) -> None:
        """Remember what is known, and save it now and then."""
        self._whole = self._now()
        self.folder.drop(self.spent)
        self.spent = []
        if monotonic() - self._saved >= self._every or self.folder.is_outdated:
            self._save()

    def _now(self) -> WholeLevels:
        """What is known, between two levels."""
        self.tally.take(self.workers)
        level = self.recent.levels[-1] if self.recent.levels else PackedLevel((0,), *self.reached)
        return WholeLevels(
            (level.faults, level.depth),
            tuple(self.recent.levels),
            self.recent.before,
            tuple(self.seen),
            self.cuts,
            dict(self.due),
            dict(self.waking),
            tuple(self.recent.kept),
            self.recent.witnessed,
            self.sums,
            tuple(self.layers),
            tuple(self.tally.as_words()),
            tuple(sorted(self.tally.best.items())),
            self.tally.error,
        )

    def _return(self) -> None:
        """Return to what was whole last."""
        whole, context = self._whole, self.kernel.context
        self.reached, self.sums, self.layers = whole.reached, whole.sums, list(whole.layers)
        self.recent.levels, self.recent.before = list(whole.levels), whole.states
        self.recent.kept = list(whole.kept)
        self.recent.restore(whole.witnessed)
        self.seen, self.cuts, self.spent = list(whole.seen), whole.cuts, []
        self.due, self.waking = dict(whole.due), dict(whole.waking)
        self.entering = {depth: [] for depth in self.waking}
        for worker in self.workers:
            for place, word in enumerate(context.new()):
                worker.context[place] = word
        self.tally.restore(whole.counts, [NOWHERE for _ in context.finds], self.workers[0])
        self.tally.best, self.tally.error = dict(whole.best), whole.error

    def _save(self) -> None:
        """Write what is whole as the checkpoint, and remove the runs that it has no more."""
        self._saved, whole = monotonic(), self._whole
        runs = {run.stored.number for run in whole.all_runs}
        self.folder.sweep(runs.union(self.folder.described))  # where the disk is full there is some room then
        try:
            self.folder.describe(self._described(whole), runs)
        except OSError as error:
            self.reporter.tell(Checkpointed(whole.states, reason_of(error)))
        else:
            self.reporter.tell(Checkpointed(whole.states))

    def _described(self, whole: WholeLevels) -> Json:
        """What is whole, as JSON data."""

        def due(runs: Mapping[int, SortedRun]) -> list[list[Any]]:
            return [[depth, _as_json(run)] for depth, run in runs.items()]

        return {
            "format": FORMAT,
            "key": self.kernel.key,
            "task": question(self),
            "reached": whole.reached,
            "levels": [[level.starts[0], level.faults, level.depth] for level in whole.levels],
            "states": whole.states,
            "seen": [[_as_json(each.run), each.first, each.last, each.part] for each in whole.seen],
            "cuts": whole.cuts,
            "due": due(whole.due),
            "waking": due(whole.waking),
            "kept": [[each.words, each.level.faults, each.level.depth] for each in whole.kept],
            "witnessed": whole.witnessed,
            "so_far": whole.sums,
            "layers": [asdict(layer) for layer in whole.layers],
            "tally": whole.counts,
            "best": [[name, find_as_json(find)] for name, find in whole.best],
            "error": None if whole.error is None else find_as_json(whole.error),
            "seconds": monotonic() - self.started,
        }

    # --------------------------------------------------------------------- resuming

    def _resume(self) -> None:
        """Continue from the checkpoint in the folder. Raises CannotResume."""
        try:
            data = self.folder.read()
            refuse_other(data, self, FORMAT)
            self._whole = self._read(data)
            self._return()
            self.go_on(float(data["seconds"]))
        except MISTAKES:
            damaged("search.json is not as a search would write it")
        self.folder.described = {run.stored.number for run in self._whole.all_runs}
        self.folder.sweep(self.folder.described)
        self._saved = monotonic()

    def _read(self, data: Json) -> WholeLevels:
        """What JSON data say is whole. Raises CannotResume, and MISTAKES."""
        opened: dict[StoredRun, SortedRun] = {}

        def run(given: Any) -> SortedRun:  # noqa: ANN401 - any JSON value
            stored = StoredRun(*given)
            if stored not in opened:
                opened[stored] = self.folder.opened(stored)
            return opened[stored]

        def due(given: Sequence[Any]) -> dict[int, SortedRun]:
            return {int(depth): run(each) for depth, each in given}

        faults, depth = map(int, data["reached"])
        free, paid, free_cut, paid_cut = map(int, data["so_far"])
        whole = WholeLevels(
            (faults, depth),
            tuple(PackedLevel((int(start),), int(f), int(d)) for start, f, d in data["levels"]),
            int(data["states"]),
            tuple(RunOfLevels(run(each), *map(int, numbers)) for each, *numbers in data["seen"]),
            tuple(map(int, data["cuts"])),
            due(data["due"]),
            due(data["waking"]),
            tuple(
                KeptState(tuple(map(int, w)), PackedLevel((0,), int(f), int(d))) for w, f, d in data["kept"]
            ),
            tuple(map(int, data["witnessed"])),
            (free, paid, free_cut, paid_cut),
            tuple(Layer(**layer) for layer in data["layers"]),
            tuple(map(int, data["tally"])),
            tuple((str(name), find_of(find)) for name, find in data["best"]),
            None if data["error"] is None else find_of(data["error"]),
        )
        if len(whole.counts) != self.kernel.context.size or not _adds_up(whole):
            damaged("the levels do not add up")
        return whole


def _adds_up(whole: WholeLevels) -> bool:
    """Whether all runs have as many states as the levels, and those of the last level as many as that."""
    starts, end = [level.starts[0] for level in whole.levels], len(whole.levels)
    last = [each for each in whole.seen if each.last == end - 1]
    return (
        sum(len(each.run) for each in whole.seen) == whole.states
        and sum(len(each.run) for each in last) == whole.states - (starts[-1] if starts else 0)
        and all(each.first == each.last for each in last)
        and all(a < b for a, b in pairwise(starts if last else [*starts[:-1], whole.states]))
        and all(0 <= each.first <= each.last < end for each in whole.seen)
        and all(WHOLE <= each.part <= len(whole.cuts) for each in whole.seen)
        and all(a < b for a, b in pairwise(whole.cuts))
    )


def _as_json(run: SortedRun) -> list[Any]:
    """What is to be known of a run."""
    return list(asdict(run.stored).values())
