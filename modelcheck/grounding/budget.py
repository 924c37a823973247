"""What a budget of faults asks of an export: which actions there are, and what must be counted."""

from __future__ import annotations

from collections.abc import Mapping

from spec.frozen import frozen
from spec.model.ir import Action, Budget, Model


@frozen
class CountedBudget:
    """The actions that a budget leaves, and the most of each kind of fault, and of all, that has a number."""

    actions: tuple[Action, ...]
    kinds: Mapping[str, int]
    total: int | None

    def has(self, action: str) -> bool:
        """Whether a step may be that action."""
        return any(each.name == action for each in self.actions)


def counted(model: Model, budget: Budget) -> CountedBudget:
    """The actions and counters of a model under a budget; a fault that is never allowed is left out."""
    faults = budget.allowed(model)
    kinds = {name: most for name, most in budget.counted.items() if name in faults}
    return CountedBudget(budget.actions(model), kinds, budget.total if faults else None)
