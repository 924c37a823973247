"""Runs to what was found on disk: for each step the level before is expanded once more."""

from __future__ import annotations

from typing import Protocol

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.disk.space import KeptState
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.runs import Replay
from modelcheck.explicit.search.space import NoWay
from spec.meaning.semantics import Machine


class Backwards(Protocol):
    """The interface of a search that finds steps backwards."""

    def kept_state(self, number: int) -> KeptState:
        """The state of a find."""
        ...

    def before(self, words: Words, faults: int, depth: int, *, by_fault: bool) -> Words | None:
        """The least state of a level from which a step leads to a state. Raises Stopped."""
        ...


class RunsBack(Replay):
    """Traces to states on disk. Costs what it takes to expand all states of the levels on the run."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel, search: Backwards) -> None:
        super().__init__(task, machine, kernel)
        self._search = search

    def way(self, number: int) -> tuple[int, list[tuple[Words, bool]]]:
        """The path to a state."""
        kept = self._search.kept_state(number)
        words, faults, depth = kept.words, kept.level.faults, kept.level.depth
        found: list[tuple[Words, bool]] = []
        while depth:
            depth -= 1
            before = self._search.before(words, faults, depth, by_fault=False)
            by_fault = before is None
            if before is None:
                faults -= 1
                before = self._search.before(words, faults, depth, by_fault=True)
            if before is None:
                raise NoWay
            found.append((words, by_fault))
            words = before
        roots = [self.kernel.represent(state) for state in self.machine.initial()]
        return roots.index(words), found[::-1]
