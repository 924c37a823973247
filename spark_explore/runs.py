"""Runs to states whose predecessors were not kept: they are searched level by level, from the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.runs import Replay
from spark_explore.here import Executors
from spark_explore.pieces import FilePiece, count_states
from spark_explore.run import RunFolder
from spec.semantics import Machine


class LocatedSearch(Protocol):
    """A search that knows where its states are."""

    files: RunFolder
    executors: Callable[[int], Executors]

    def found(self, number: int) -> tuple[Words, int, int]:
        """A state in which something was found, its layer and depth."""
        ...


class FarRuns(Replay):
    """Runs to states of a search on files. Costs expanding a level for each step, at most two."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel, search: LocatedSearch) -> None:
        super().__init__(task, machine, kernel)
        self._search = search

    def way(self, number: int) -> tuple[int, list[tuple[Words, bool]]]:
        """How a state was found: its parent is in the level before, of its layer or of the one before."""
        state, faults, depth = self._search.found(number)
        later: list[tuple[Words, bool]] = []
        while depth:
            parent = self._parent(self._search.files.at(faults, depth - 1), state, by_fault=False)
            by_fault = parent is None
            if parent is None:
                faults -= 1
                parent = self._parent(self._search.files.at(faults, depth - 1), state, by_fault=True)
            if parent is None:
                raise AssertionError("no state leads there")  # one did
            later.append((state, by_fault))
            state, depth = parent, depth - 1
        return self._root(state), later[::-1]

    def _parent(self, pieces: Sequence[FilePiece], state: Words, *, by_fault: bool) -> Words | None:
        if not pieces:
            return None
        return self._search.executors(count_states(pieces)).parent(pieces, state, by_fault=by_fault)

    def _root(self, state: Words) -> int:
        packed = (self.kernel.layout.pack(each) for each in self.machine.initial())
        return [self.kernel.represent(words) for words in packed].index(state)
