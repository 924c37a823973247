"""How many of the first states of a check need only some of their steps: what partial order would spare."""

from __future__ import annotations

from dataclasses import replace

from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import Silent
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.persistent import not_reduced
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model


def sampled(model: Model, check: Check, most: int) -> tuple[int, int]:
    """The number of the first states of a check, and of those that need only some of their steps.

    None where its properties or its scope forbid that: NOTE(persistent).  Costs a search of `most` states.
    """
    task = Task(model, check.scope, check.budget, looked_at(model, check), Limits(states=most, seconds=5))
    task = replace(task, stop_early=False, partial_order=True)
    if not_reduced(task):
        return most, 0
    search = InterpretedSearch(task, Machine(model, check.scope), Silent(), keep_edges=False)
    search.run()
    return len(search), search.thinned
