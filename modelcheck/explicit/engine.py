"""The explicit engine: every state at native speed, the fewest faults first."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from modelcheck.cores import cores
from modelcheck.engine import Refusal, Task
from modelcheck.explicit.checkpoint import Checkpoints
from modelcheck.explicit.kernel import Kernel
from modelcheck.explicit.packing import TooWide
from modelcheck.explicit.recovery import FullAccount
from modelcheck.explicit.search import Search
from modelcheck.explicit.space import NoWays
from modelcheck.report import Reporter
from modelcheck.result import Findings
from spec.ir import PropertyKind
from spec.semantics import Machine

OF_RUNS = {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
OF_STEPS = {PropertyKind.STEP, PropertyKind.ASSERT}


class ExplicitEngine:
    """Explores every state, some millions a second on each core, in some twenty bytes a state."""

    name: ClassVar[str] = "explicit"

    def __init__(self) -> None:
        self._ready: tuple[Task, Kernel] | None = None

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Fair runs; with symmetry also steps, which tell members apart; and values that are too wide."""
        kinds = OF_RUNS | OF_STEPS if task.symmetry else OF_RUNS
        refused = [
            Refusal(f"{p.kind.value} {p.name}" + " up to symmetry" * (p.kind in OF_STEPS), "reference")
            for p in task.properties
            if p.kind in kinds
        ]
        if not refused:
            try:
                self._ready = task, Kernel(task)
            except TooWide as wide:
                refused.append(Refusal(str(wide), "reference"))
        return tuple(refused)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search."""
        kernel = self._ready[1] if self._ready and self._ready[0] is task else Kernel(task)
        try:
            return self._findings(task, kernel, reporter)
        except NoWays as found:  # it is deterministic: the same is found again among as many
            limits = replace(task.limits, states=found.states, seconds=None)
            return self._findings(replace(task, ways=True, keep=None, limits=limits), kernel, reporter)

    def _findings(self, task: Task, kernel: Kernel, reporter: Reporter) -> Findings:
        threads = task.threads or cores()
        search = Search(task, Machine(task.model, task.scope), kernel, reporter, threads)
        try:
            if task.keep is not None:
                search.keeper = keeper = Checkpoints(task.keep.folder, task.keep.seconds)
                if task.keep.resume:
                    keeper.load(search)
            return FullAccount(search, search.run()).findings(self.name)
        finally:
            search.close()
