"""The reference engine: the fault-layered search over the interpreter, slow, exact, the oracle for others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from counterexamples.trace import Lasso, Trace, Trapped
from modelcheck.contract.engine import Refusal, Task, not_of_representatives
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Findings, Holds, Verdict, Violated
from modelcheck.search.account import FindingsOfSearch
from modelcheck.search.claims import Discovery, Place
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.liveness import Starving, run_of, starving
from modelcheck.search.persistent import not_reduced
from modelcheck.search.recovery import Trap, trap
from spec.meaning.semantics import Machine
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import OF_FAIR_RUNS, OF_RUNS


class ReferenceEngine:
    """The engine that explores every state by the interpreter: slow, exact, simple."""

    name: ClassVar[str] = "reference"

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Checkpoints; fair runs where states represent others; what NOTE(persistent) forbids."""
        if task.keep is not None:
            return (Refusal("checkpoints", "explicit"),)
        return (*not_of_representatives(task), *not_reduced(task))

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search."""
        machine = Machine(task.model, task.scope)
        kinds = {prop.kind for prop in task.properties}
        search = InterpretedSearch(
            task,
            machine,
            reporter,
            keep_edges=not kinds.isdisjoint(OF_RUNS),
            name_edges=not kinds.isdisjoint(OF_FAIR_RUNS),
        )
        return _Account(search, search.run()).findings(self.name)


class _Account(FindingsOfSearch[InterpretedSearch]):
    """The findings of the search, including properties that need its edges."""

    def later(self) -> Mapping[PropertyKind, Callable[[Property], Verdict]]:
        """The functions that decide properties of whole runs."""
        return {PropertyKind.RECOVERABLE: self._recoverable, **dict.fromkeys(OF_FAIR_RUNS, self._fair)}

    def _recoverable(self, prop: Property) -> Verdict:
        """The verdict on a `recoverable`."""
        caught = trap(prop, self.search)
        if not isinstance(caught, Trap):
            return Holds(self.whole(), beyond=caught.beyond, renamed=self.task.symmetry)
        level = self.search.space.level(caught.number)
        found = Discovery(Place(level.faults, level.depth, caught.number), Trapped(), prop.name)
        return Violated(self.extent(level.faults), self.search.trace(found))

    def _fair(self, prop: Property) -> Verdict:
        """The verdict on a liveness property."""
        found = starving(prop, self.search)
        if isinstance(found, Starving):
            return Violated(self.extent(found.faults), self._lasso(found, prop))
        extent = self.whole() if found.unlimited else self.extent(self.most())
        return Holds(extent, beyond=found.beyond, vacuous=found.vacuous)

    def _lasso(self, found: Starving, prop: Property) -> Trace:
        """The trace of a waiting run, with its cycle."""
        states, steps = run_of(found, self.search)
        ending = Lasso(len(steps) - found.circle)
        model, scope, check = self.task.model, self.task.scope, self.task.check
        return Trace(model, scope, tuple(states), tuple(steps), ending, prop.name, check)
