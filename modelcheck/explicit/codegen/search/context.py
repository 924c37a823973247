"""The context of a thread of the search, word by word: buffers, tallies, first finds."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.contract.engine import Family, Task
from modelcheck.explicit.codegen.states.layout import WORD
from modelcheck.search.forgotten import forgettable
from modelcheck.search.persistent import Persistence
from spec.frozen import frozen
from spec.model.ir import Action, Guard, Property, PropertyKind
from spec.model.kinds import OF_FAIR_RUNS, OF_RUNS, OF_STATES
from spec.model.totality import Totality

NOWHERE = (1 << 64) - 1  # where a first find has not been made
CURSOR, PARENT, ORDINAL, WENT, FORGETTING, ERROR = range(6)  # the words of every step
ALL, BEFORE_FAULTS, LAST_LAYER = range(3)  # which steps are left for later: none, by NOTE(persistent)
STATES, GROUPS, SHARD_SIZE = range(1, 4)  # the words after that one


@frozen
class Context:
    """Where each counter and each first find is in the memory of a search thread, by index of its word.

    The words before the first find: the address of the next successor, the number of the expanded state, how
    many successors it has had, whether it has any step, and what `forgetting` is in its layer.  A first
    find is the least number of a state.
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
    forgotten: frozenset[int]  # variables, by index, where steps lead to a last layer that forgets
    persistence: Persistence | None  # of groups of steps, where some may be left for later

    @property
    def asks_states(self) -> bool:
        """Whether the search evaluates anything in each new state."""
        return bool(self.of_states or self.of_runs or self.witnesses)

    @property
    def noted(self) -> tuple[Property, ...]:
        """The properties and conditions for which the first state that breaks or satisfies them is kept."""
        return (*self.of_states, *self.witnesses)

    @property
    def errors(self) -> int:
        """The first of four words of first errors.

        They are in a free step, in a fault, in a property of a free step, of a fault.

        Asking whether a run may end counts as a free step.
        """
        return ERROR

    @property
    def dead(self) -> int:
        """The word of the first deadlock."""
        return ERROR + 4

    @property
    def broken(self) -> int:
        """The first word of the first violations of properties of steps.

        Each has two: by a free step, by a fault.
        """
        return self.dead + 1

    @property
    def taken(self) -> int:
        """The first word of the counters of how often each action was taken."""
        return self.broken + 2 * len(self.of_steps)

    @property
    def cut(self) -> int:
        """The first word of the counters of steps cut, two for each limit: free steps, faults."""
        return self.taken + len(self.actions)

    @property
    def refused(self) -> int:
        """The first word of the flags of guards, set once a guard was false."""
        return self.cut + 2 * len(self.limits)

    @property
    def size(self) -> int:
        """The number of words up to the last counter."""
        return self.refused + len(self.guards)

    @property
    def leaving(self) -> int:
        """The first of four words where steps may be left for later.

        Which (ALL, BEFORE_FAULTS, LAST_LAYER); the addresses of the shards and of the groups of a state's
        successors; the size of a shard.
        """
        return self.size

    @property
    def enabled(self) -> int:
        """The first word of the groups that have a step in the expanded state, as bits."""
        return self.leaving + 4

    @property
    def changing(self) -> int:
        """The first word of the groups of which one changes what a property reads, as bits."""
        return self.enabled + self.group_words

    @property
    def chosen(self) -> int:
        """The first word of the groups whose steps are enough, as bits."""
        return self.changing + self.group_words

    @property
    def failed(self) -> int:
        """The first word of the parts of heads that refused a step, as bits, group by group."""
        return self.chosen + self.group_words

    @property
    def group_words(self) -> int:
        """How many words have a bit for each group."""
        return 0 if self.persistence is None else -(-len(self.persistence.is_open) // WORD)

    @property
    def room(self) -> int:
        """The number of all words."""
        parts = 0 if self.persistence is None else self.persistence.parts[-1]
        return self.size if self.persistence is None else self.failed + -(-parts // WORD)

    def new(self) -> list[int]:
        """The words at the start of a search."""
        finds = self.finds
        return [NOWHERE if word in finds else 0 for word in range(self.room)]

    @property
    def finds(self) -> range:
        """The words of first finds, which are NOWHERE until there is one."""
        return range(self.errors, self.taken)


def context(task: Task, persistent: Persistence | None = None) -> Context:
    """The layout of a thread's memory for a task, or any other of its family.

    `persistent` is that of the model as it was written, where steps may be left for later.
    """
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
        forgotten_in_code(task),
        persistent,
    )


def forgotten_in_code(task: Task) -> frozenset[int]:
    """The variables that the code of a task has a last layer forget: of a family, that of any question."""
    return forgettable(task) if task.forgets or task.family is not None else frozenset()


def _may_fail(prop: Property) -> bool:
    """Whether evaluating the property may be an error of the model."""
    totality = Totality()
    return not all(totality.of(expr) for expr in (prop.expr, prop.goal) if expr is not None)


def recoverable(task: Task) -> list[Property]:
    """The `recoverable` properties of a task: those that ask for a way back to a goal."""
    return [prop for prop in task.properties if prop.kind is PropertyKind.RECOVERABLE]


def of_fair_runs(task: Task) -> list[Property]:
    """The properties of a task about fair runs."""
    return [prop for prop in task.properties if prop.kind in OF_FAIR_RUNS]


def fair(actions: Sequence[Action]) -> list[Action]:
    """The actions with a fairness assumption, in order."""
    return [action for action in actions if action.is_fair]
