"""Runs to states whose predecessors were not kept: they are searched level by level, from the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.runs import Replay
from spark_explore.search.local_level import Executors
from spark_explore.storage.run import RunFolder
from spark_explore.storage.sorted_pieces import count_states
from spec.meaning.semantics import Machine


class LocatedSearch(Protocol):
    """What `FarRuns` needs of a search: files, executors, and states with findings."""

    files: RunFolder
    executors: Callable[[int, int, str], Executors]

    def found(self, number: int) -> tuple[Words, int, int]:
        """A state with a finding, its layer and depth."""
        ...


class FarRuns(Replay):
    """Reconstructs runs of a search on files. Costs expanding at most two levels per step."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel, search: LocatedSearch) -> None:
        super().__init__(task, machine, kernel)
        self._search = search

    def way(self, number: int) -> tuple[int, list[tuple[Words, bool]]]:
        """The path to a state with a finding: its initial state's number, then states with a fault flag."""
        state, faults, depth = self._search.found(number)
        later: list[tuple[Words, bool]] = []
        while depth:
            predecessor = self._predecessor(faults, depth - 1, state, by_fault=False)
            by_fault = predecessor is None
            if predecessor is None:
                faults -= 1
                predecessor = self._predecessor(faults, depth - 1, state, by_fault=True)
            if predecessor is None:
                raise AssertionError("no state leads there")  # one did
            later.append((state, by_fault))
            state, depth = predecessor, depth - 1
        return self._root(state), later[::-1]

    def _predecessor(self, faults: int, depth: int, state: Words, *, by_fault: bool) -> Words | None:
        """The first state of a level with a step (a fault or not) to this one."""
        pieces = self._search.files.at(faults, depth)
        if not pieces:
            return None
        executors = self._search.executors(count_states(pieces), 0, "a step back")
        return executors.predecessor(pieces, state, by_fault=by_fault)

    def _root(self, state: Words) -> int:
        """The number of the initial state that a path begins with."""
        return [self.kernel.represent(each) for each in self.machine.initial()].index(state)
