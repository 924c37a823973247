"""The context of a thread of the search, word by word: buffers, tallies, first finds."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.contract.engine import Family, Task
from spec.frozen import frozen
from spec.model.ir import Action, Guard, Property, PropertyKind
from spec.model.kinds import OF_FAIR_RUNS, OF_RUNS, OF_STATES
from spec.model.totality import Totality

NOWHERE = (1 << 64) - 1  # where a first find has not been made
CURSOR, PARENT, ORDINAL, WENT, ERROR = range(5)  # the words that every step writes


@frozen
class Context:
    """The word of each tally.

    The words before `taken`: the address of the next successor, the number of
    the state whose successors are made, how many it has had, whether anything
    can happen in it.  A first find is the least number of a state.
    """

    actions: tuple[Action, ...]
    allowed: frozenset[str]
    limits: tuple[str, ...]
    guards: tuple[tuple[str, int], ...]
    of_states: tuple[Property, ...]
    of_runs: tuple[Property, ...]  # those that may make an error in a state
    witnesses: tuple[Property, ...]  # conditions, until a state satisfies them
    of_steps: tuple[Property, ...]
    deadlock: Property | None

    @property
    def asks_states(self) -> bool:
        """Whether anything is asked of each new state."""
        return bool(self.of_states or self.of_runs or self.witnesses)

    @property
    def noted(self) -> tuple[Property, ...]:
        """What the first state is noted of that breaks it, or has it."""
        return (*self.of_states, *self.witnesses)

    @property
    def errors(self) -> int:
        """First finds of an error: in a free step, in a fault, in a property of a free step, of a fault.

        Asking whether a run may end counts as a free step.
        """
        return ERROR

    @property
    def dead(self) -> int:
        """The first find of a deadlock."""
        return ERROR + 4

    @property
    def broken(self) -> int:
        """First finds for each property of steps: by a free step, by a fault."""
        return self.dead + 1

    @property
    def taken(self) -> int:
        """How often each action was taken."""
        return self.broken + 2 * len(self.of_steps)

    @property
    def cut(self) -> int:
        """How many steps each limit cut: free ones, faults."""
        return self.taken + len(self.actions)

    @property
    def refused(self) -> int:
        """The guards that were false at some time."""
        return self.cut + 2 * len(self.limits)

    @property
    def size(self) -> int:
        """How many words there are."""
        return self.refused + len(self.guards)

    def new(self) -> list[int]:
        """The words before anything has happened."""
        finds = self.finds
        return [NOWHERE if word in finds else 0 for word in range(self.size)]

    @property
    def finds(self) -> range:
        """The words that are NOWHERE at first."""
        return range(self.errors, self.taken)


def context(task: Task) -> Context:
    """The context of a search that answers a task, or any other of its family."""
    model = task.model
    family = task.family or Family(task.properties, task.faults, frozenset(), task.counted, task.witnesses)
    steps = (PropertyKind.STEP, PropertyKind.ASSERT)
    return Context(
        model.actions,
        family.faults,
        tuple(sorted({nat.name for nat in model.nats} | {v.name for v in model.variables if v.network})),
        tuple((a.name, i) for a in model.actions for i, part in enumerate(a.head) if isinstance(part, Guard)),
        tuple(p for p in family.properties if p.kind in OF_STATES),
        tuple(p for p in family.properties if p.kind in OF_RUNS and _may_fail(p)),
        tuple(each.condition for each in family.witnesses),
        tuple(p for p in family.properties if p.kind in steps),
        next((p for p in family.properties if p.kind is PropertyKind.DEADLOCK_FREE), None),
    )


def _may_fail(prop: Property) -> bool:
    """Whether a property may make an error of the model."""
    totality = Totality()
    return not all(totality.of(expr) for expr in (prop.expr, prop.goal) if expr is not None)


def recoverable(task: Task) -> list[Property]:
    """The properties that ask for a way back."""
    return [prop for prop in task.properties if prop.kind is PropertyKind.RECOVERABLE]


def of_fair_runs(task: Task) -> list[Property]:
    """The properties that are asked of fair runs."""
    return [prop for prop in task.properties if prop.kind in OF_FAIR_RUNS]


def fair(actions: Sequence[Action]) -> list[Action]:
    """The actions that fairness is promised of, in their order."""
    return [action for action in actions if action.is_fair]
