"""What the last layer of faults forgets: variables that only a fault would still read.

NOTE(forgotten): in the layer with as many faults as the budget allows there are free steps alone.  A
variable without influence on them and on what is asked (`spec/model/influence.py`), such as how much of
a log has been flushed, which a loss of power reads, makes no difference any more.  There each state has a
fixed value in its place, so states that differ in such variables alone count as one.
They have the same steps, to states that differ in those alone (a bisimulation), so verdicts, faults and
steps are as without.  A state of an earlier layer keeps its values; the last layer may meet it again with
the fixed ones, which costs a state and finds nothing new: from the earlier one the same free steps lead
on.  A run is found again through the real states, as under symmetry.
Whether one more fault would add anything is then not known, so the answer is never of any number of faults.
"""

from __future__ import annotations

from functools import lru_cache

from modelcheck.contract.engine import Task
from spec.frozen import This
from spec.model.influence import influential
from spec.model.ir import Model, Property, PropertyKind
from spec.model.types import Nat, walk_type

OF_LAST_LAYER = {PropertyKind.INVARIANT, PropertyKind.REACHABLE, PropertyKind.STEP, PropertyKind.ASSERT}


def forgotten(task: Task) -> frozenset[int]:
    """The variables, by index, that the last layer of a task forgets; none unless the task allows it."""
    return forgettable(task) if task.forgets else frozenset()


def forgettable(task: Task) -> frozenset[int]:
    """The variables, by index, that the last layer of a task (and its family) could forget.

    None where a checkpoint is kept, or some steps are left for later (NOTE(persistent)), or something
    is asked that looks beyond states and steps;
    and none with a nat without a bound, whose values in use count.
    """
    family = task.family
    asked = [*task.properties, *(family.properties if family is not None else ())]
    asked += [each.condition for each in (*task.witnesses, *(family.witnesses if family is not None else ()))]
    if task.keep is not None or task.partial_order or any(prop.kind not in OF_LAST_LAYER for prop in asked):
        return frozenset()
    kept, unbounded = _influential(This(task.model), tuple(map(This, asked))), task.scope.unbounded
    return frozenset(
        number
        for number, variable in enumerate(task.model.variables)
        if number not in kept
        and not any(isinstance(each, Nat) and each.name in unbounded for each in walk_type(variable.type))
    )


@lru_cache(maxsize=64)
def _influential(model: This[Model], asked: tuple[This[Property], ...]) -> frozenset[int]:
    """The variables that free steps or properties can still meet: asked several times for each search."""
    free = [action for action in model.value.actions if not action.is_fault]
    read = [expr for prop in asked for expr in (prop.value.expr, prop.value.goal) if expr is not None]
    return influential(free, read)


def forgetting(task: Task, faults: int) -> int:
    """2 with that number of faults in a last layer that forgets, 1 where one more leads to it, else 0."""
    return 2 if is_last(task, faults) else 1 if is_last(task, faults + 1) else 0


def is_last(task: Task, faults: int) -> bool:
    """Whether states with that number of faults are of a last layer that forgets."""
    return task.forgets and 0 < faults == task.budget.total
