"""The explicit engine: every state at native speed, the fewest faults first."""

from __future__ import annotations

import os
from typing import ClassVar

from modelcheck.account import Account
from modelcheck.engine import Refusal, Task
from modelcheck.explicit.kernel import Kernel
from modelcheck.explicit.search import Search
from modelcheck.report import Reporter
from modelcheck.result import Findings
from spec.ir import PropertyKind
from spec.semantics import Machine

OF_RUNS = {PropertyKind.RECOVERABLE, PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
OF_STEPS = {PropertyKind.STEP, PropertyKind.ASSERT}


class ExplicitEngine:
    """Explores every state, some millions a second on each core, in some twenty bytes a state."""

    name: ClassVar[str] = "explicit"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Properties of whole runs; with symmetry also those of steps, which tell members apart."""
        kinds = OF_RUNS | OF_STEPS if task.symmetry else OF_RUNS
        return tuple(
            Refusal(f"{p.kind.value} {p.name}" + " up to symmetry" * (p.kind in OF_STEPS), "reference")
            for p in task.properties
            if p.kind in kinds
        )

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search."""
        kernel = Kernel(task)
        search = Search(task, Machine(task.model, task.scope), kernel, reporter, self.threads)
        try:
            return Account(search, search.run()).findings(self.name)
        finally:
            search.close()
