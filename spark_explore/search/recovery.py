"""Whether every state can still get to where a property holds: AG EF, over actions and repairs alone.

No edge is kept.  Each state has a mark next to it, in files.  A level is looked at by
expanding those of its states that have no way yet, and asking whether a step leads to one that has.

NOTE(earlier): a step without a fault leads to a state of the same layer, one deeper
at most, or of an earlier layer.  So layers are done one after the other, and a level
is looked at again only when one that it can lead to has changed.  Sweeps go from the
deepest level to the first and back in turn: one finds ways that lead on, the other
ways that lead back to where the runs came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterexamples.trace import Trapped
from modelcheck.contract.result import Holds, Verdict, Violated
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.search.account import FindingsOfSearch
from spark_explore.search.blocks import words_at
from spark_explore.search.layers import FileSearch
from spark_explore.search.marks import ALONE, Aim, Marked, Marks, marked, marks_from_json
from spark_explore.storage.pieces import verify
from spark_explore.storage.run import RunLevel, marks_folder, marks_name
from spark_explore.storage.store import forget
from spec.model.ir import Property, PropertyKind

TOGETHER = 250_000  # states without a way that are looked at together, though of several levels
SEEN = 100  # marks that are gone through in the time in which one state is looked at


class FileFindings(FindingsOfSearch[FileSearch]):
    """The findings of a search on files, including ways back to goals."""

    def later(self) -> Mapping[PropertyKind, Callable[[Property], Verdict]]:
        """The functions that decide `recoverable` properties."""
        return {PropertyKind.RECOVERABLE: self._recoverable}

    def _recoverable(self, prop: Property) -> Verdict:
        """The verdict on a `recoverable`."""
        recovery = FileRecovery(self.search, prop)
        beyond = recovery.spread()
        trapped = recovery.trapped()
        if trapped is None:
            return Holds(self.whole(), beyond=beyond, renamed=self.task.symmetry)
        state, level = trapped
        extent = self.extent(level.faults)
        trace = self.shown(lambda: self.search.run_to(state, level, Trapped(), prop.name))
        if trace is None:
            return Violated(extent, None, fewest=False, unshown=self.unshown(level.faults))
        return Violated(extent, trace)


class FileRecovery:
    """Marks the states with a way back to a goal; can be resumed.

    Costs at least expanding every state that is not at the goal; see the cost model.
    All raise OSError and Damaged, and Stopped when a limit of the search is reached.
    """

    def __init__(self, search: FileSearch, prop: Property) -> None:
        asked = [p for p in search.task.properties if p.kind is PropertyKind.RECOVERABLE]
        self._search = search
        self._store = search.files.store
        self._prop = prop
        self._which = asked.index(prop)
        self._status = f"{marks_folder(self._which)}/status.json"
        self._levels: list[Marked] = []
        self._clock = 0
        self._changed: list[int] = []  # when the marks of each level were last added to
        self._looked: list[int] = []  # when a level was last looked at

    def spread(self) -> int:
        """Mark all states with a way; return how many have one only beyond the scope."""
        beyond = self._begin()
        if not beyond:
            self._sweep(Aim(self._which))
        self._sweep(Aim(self._which, beyond=True))
        self._tidy()
        return sum(at.marks.beyond for at in self._levels)

    def trapped(self) -> tuple[Words, RunLevel] | None:
        """The first state without a way, by fewest faults and then steps, and its level."""
        words = self._search.kernel.layout.words
        for at in self._levels:
            if at.marks.open:
                for block, marks in marked(self._search.states, at.level.new, at.marks.pieces):
                    if (place := marks.find(0)) >= 0:
                        return words_at(block, place, words), at.level
        return None

    # ---------------------------------------------------------------------- sweeps

    def _sweep(self, aim: Aim) -> None:
        """Mark states that lead to marked ones, level by level, until no further mark is possible."""
        self._clock = 1
        self._looked = [int(not aim.beyond) for _ in self._levels]
        self._changed = [int(self._has_some(at, aim)) for at in self._levels]
        for faults in range(len(self._search.layers)):
            order = [n for n, at in enumerate(self._levels) if at.level.faults == faults]
            while any(self._is_due(number) for number in order):
                order.reverse()
                self._pass(order, aim)

    def _pass(self, order: Sequence[int], aim: Aim) -> None:
        """Search each due level once for states to mark, small levels together in one job."""
        most = max(TOGETHER, len(self._search) // SEEN)
        group, states = list[int](), 0
        for number in order:
            if self._is_due(number):
                more = self._levels[number].marks.open
                if group and states + more > most:
                    self._look(group, aim)
                    group, states = [], 0
                group.append(number)
                states += more
        if group:
            self._look(group, aim)

    def _is_due(self, number: int) -> bool:
        """Whether a level may have further states to mark."""
        if not self._levels[number].marks.open:
            return False
        return max(self._changed[: self._behind(number)]) >= self._looked[number]

    def _behind(self, number: int) -> int:
        """The number of the first level that a level cannot lead to, by NOTE(earlier)."""
        own = self._levels[number].level
        later = (at.level for at in self._levels[number + 1 : number + 2])
        return number + 1 + any((to.faults, to.depth) == (own.faults, own.depth + 1) for to in later)

    def _has_some(self, at: Marked, aim: Aim) -> bool:
        """Whether a level has marks that steps could lead to."""
        return bool(at.marks.beyond) if aim.beyond else at.level.count > at.marks.open

    def _look(self, group: Sequence[int], aim: Aim) -> None:
        """Mark the states of these levels that have a marked successor, and record which levels changed."""
        self._poll_limits()
        at = [self._levels[number] for number in group]
        seen = [each for each in self._levels[: self._behind(max(group))] if self._has_some(each, aim)]
        states, levels = sum(each.marks.open for each in at), f"ways back, level {min(group)} to {max(group)}"
        found, again = self._search.executors(states, len(self._search), levels).look(aim, at, seen)
        self._clock += 2
        for number, before, marks in zip(group, at, found, strict=True):
            self._looked[number] = self._clock if again else self._clock + 1
            if marks.open != before.marks.open:
                self._changed[number] = self._clock
                self._levels[number] = self._named(before.level, marks)
        self._commit(aim)

    # --------------------------------------------------------------------- keeping

    def _begin(self) -> bool:
        """Mark the goals or restore marks; return whether the first pass is complete."""
        if self._status.rpartition("/")[2] in self._store.names(marks_folder(self._which)):
            return self._restore()
        aim = Aim(self._which)
        self._poll_limits()
        found = self._search.executors(len(self._search), 0, "ways back, goals").goals(aim)
        levels = self._search.files.levels
        self._levels = [self._named(level, marks) for level, marks in zip(levels, found, strict=True)]
        self._commit(aim)
        return False

    def _named(self, level: RunLevel, marks: Marks) -> Marked:
        """The level with its marks in files that any worker can read."""
        name = marks_name(self._which)
        self._search.files.write_json(name, {"marks": marks.as_json()})
        return Marked(level, marks, name)

    def _poll_limits(self) -> None:
        """Check the limits, and report how many states have no way yet."""
        self._search.check_limits()
        self._search.tell(*self._search.reached, sum(at.marks.open for at in self._levels))

    def _commit(self, aim: Aim) -> None:
        """Commit the current marks."""
        self._search.files.write_json(
            self._status, {"beyond": aim.beyond, "levels": [at.name for at in self._levels]}
        )

    def _restore(self) -> bool:
        """Restore the marks of an earlier run; return whether it was in the second pass."""
        run = self._search.files
        data = run.read_json(self._status)
        for level, name in zip(run.levels, data["levels"], strict=True):
            self._levels.append(Marked(level, marks_from_json(run.read_json(name)["marks"]), name))
        verify(self._store, (piece for at in self._levels for piece in at.marks.pieces), ALONE)
        return bool(data["beyond"])

    def _tidy(self) -> None:
        """Remove marks that were replaced."""
        folder = marks_folder(self._which)
        kept = {self._status, *(at.name for at in self._levels)}
        kept |= {piece.name for at in self._levels for piece in at.marks.pieces}
        for name in self._store.names(folder):
            if f"{folder}/{name}" not in kept:
                forget(self._store, f"{folder}/{name}")
