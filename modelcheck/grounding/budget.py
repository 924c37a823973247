"""What a budget of faults asks of an export: which actions there are, and what must be counted."""

from __future__ import annotations

from collections.abc import Mapping

from spec.frozen import frozen
from spec.model.ir import Action, Budget, Model


@frozen
class CountedBudget:
    """The actions that a budget allows, and its limits: for each kind of fault, and for all together."""

    actions: tuple[Action, ...]
    kinds: Mapping[str, int]
    total: int | None

    def has(self, action: str) -> bool:
        """Whether the budget allows the action."""
        return any(each.name == action for each in self.actions)


def counted(model: Model, budget: Budget) -> CountedBudget:
    """The budget as actions and limits on faults; actions of faults that are never allowed are left out."""
    faults = budget.allowed(model)
    kinds = {name: most for name, most in budget.counted.items() if name in faults}
    return CountedBudget(budget.actions(model), kinds, budget.total if faults else None)
