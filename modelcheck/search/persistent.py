"""Steps that a search may leave for later: persistent sets, by what steps read and write.

NOTE(persistent): of a state's steps those of some groups are enough, if whatever the others do first, these
stay possible and come to the same.  Groups are closed under two rules (Valmari 1990, "Stubborn sets for
reduced state space generation"; Godefroid 1996; the second one by guards as Laarman, Pater, van de Pol and
Weber, "Guard-based partial-order reduction", 2013):

- with a group that has a step here go all groups that it does not commute with (`accesses.py`): which write
  what it reads, or read or write what it writes.  An error of the model, a failed assert and a cut
  depend on what is read, so they stay the same too.  Of two that commute, a step of the set may make
  one of the others possible, but never impossible: it takes an entry from a full queue.
- with a group that has no step here go all that may make it have one: that write what a guard that is false
  for all of it reads; else what its domains, or for each of its bindings the guard that was
  false, or what is cut, reads.  So it has none before one of these has been taken.

The set is used instead of all steps if it has fewer, and

- it has no fault that the budget still allows: faults are left for later as a whole, and a run with
  its steps in another order has as many.  In the last layer there are none, so there the sets are smaller;
- none of its steps here changes what a property of states reads (they are invisible).  One that writes
  the value that is there already does so later, too, since another value could only come from a step that it
  does not commute with, or is added.  Of a property of steps, a step of no effect on what it reads must
  not be able to break it: see `unmoved`;
- one of its steps leads to a state that is not expanded yet: to a new one, or to one of the next
  level.  So along steps of such sets alone states are expanded later and later, which ends, as there
  are finitely many: nothing is left for ever (the proviso; Bosnacki and Holzmann, "Improving Spin's
  partial-order reduction for breadth-first search", SPIN 2005, for levels instead of a queue).

Then by induction over the steps that are left of a run to anything visible (a false property of a state, a
failed assert, an error, a state without steps): if a step of the set is among them, it can go first; if
none is, one that leads to a state expanded later goes before all of them and changes nothing.  So what
can be reached is reached, by as many faults; not by as few steps, since steps without effect may come in
between.  A state met again with fewer faults has at least the same runs.
A state without steps is reached itself, as any step of a set would still be possible in it.
Up to symmetry the same holds of representatives: a renamed run is a run (NOTE(alike)).

A state of the last layer is expanded as if there were no faults, so nothing is concluded of one more.
Refused are properties of whole runs, nats without a bound, where `x + 1` depends on all values in use,
and checkpoints.  The last layer forgets nothing (NOTE(forgotten)).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import prod

from modelcheck.contract.engine import Refusal, Task
from modelcheck.search.accesses import (
    CHANGES,
    Access,
    AccessKind,
    GroupAccesses,
    StepGroup,
    accesses_in,
    accesses_of,
    groups_of,
    has_one_outcome,
    parameter_values,
    settled,
)
from spec.frozen import This, frozen
from spec.model.ir import (
    Action,
    And,
    Apply,
    Bind,
    Bound,
    Const,
    Did,
    Expr,
    Implies,
    Model,
    Old,
    Or,
    Property,
    PropertyKind,
    Scope,
    Value,
)
from spec.model.kinds import OF_STATES, OF_STEPS
from spec.model.op import Op, Quantifier
from spec.model.totality import Totality
from spec.model.types import BOOL
from spec.model.walk import variables_in, walk, with_parts

MOST_GROUPS = 1024
REDUCIBLE = OF_STATES | OF_STEPS | {PropertyKind.DEADLOCK_FREE}
_OF_QUEUES = {
    (AccessKind.HEAD, AccessKind.APPEND),
    (AccessKind.APPEND, AccessKind.HEAD),
    (AccessKind.POP, AccessKind.APPEND),
    (AccessKind.APPEND, AccessKind.POP),
}


@frozen
class Numbering:
    """The numbers of an action's groups: from `first` on, by the values of its parameters.

    For each parameter its values, each with how much it adds; None where it adds nothing.
    `settled` are the guards, by their places in the head, that are the same for all steps of a group.
    """

    action: Action
    first: int
    values: tuple[tuple[Value, ...] | None, ...]
    settled: frozenset[int]

    @property
    def steps(self) -> tuple[int, ...]:
        """How much the next value of each parameter adds."""
        sizes = [1 if each is None else len(each) for each in self.values]
        return tuple(prod(sizes[place + 1 :]) for place in range(len(sizes)))

    @property
    def count(self) -> int:
        """How many groups there are."""
        return _combinations(self.values)

    def number(self, args: Sequence[Value]) -> int:
        """The group of a step, by its arguments."""
        return self.first + sum(
            step * values.index(arg)
            for arg, values, step in zip(args, self.values, self.steps, strict=True)
            if values is not None
        )


@frozen
class Persistence:
    """For each group of steps, as bits of a number, the groups that go with it.

    `conflicts` where it has a step; else `enabling`, for each part of the head that was
    false, and in the end for a body without an outcome, and `entering` for its parameters: where `is_open`,
    as there may be other bindings, or where none was found.  A guard in `settled`, as bits by its place
    in the head, is reason enough.  Groups in `visible` may change one of the
    `watched` variables, which a property reads, and a property names those in `named`.
    """

    numberings: tuple[Numbering, ...]
    conflicts: tuple[int, ...]
    enabling: tuple[tuple[int, ...], ...]
    entering: tuple[int, ...]
    is_open: tuple[bool, ...]
    settled: tuple[int, ...]
    visible: int
    named: int
    watched: frozenset[int]
    faults: int

    @property
    def parts(self) -> tuple[int, ...]:
        """For each group how many parts those before it have; in the end how many all have."""
        return (0, *accumulate(map(len, self.enabling)))

    def chosen(self, enabled: int, failed: Sequence[int], changing: int, *, with_faults: bool) -> int | None:
        """The groups whose steps are enough in a state; None where all of them are needed.

        `enabled` are the groups with a step, `failed` for each group the parts that refused one,
        `changing` the groups with a step that changes a watched variable.  Of
        several sets the one of the fewest such groups, and of these the first.
        """
        best, least = None, enabled.bit_count()
        shown = self.visible & changing | self.named
        for seed in bits(enabled & ~shown):
            found = self.closed(seed, enabled, failed, shown, with_faults=with_faults) & enabled
            if found and found.bit_count() < least:
                best, least = found, found.bit_count()
        return best

    def closed(self, seed: int, enabled: int, failed: Sequence[int], shown: int, *, with_faults: bool) -> int:
        """The groups that go with one; 0 where the set is of no use."""
        found = left = 1 << seed
        while left:
            group = (left & -left).bit_length() - 1
            left &= left - 1
            more = self._with(group, enabled, failed[group])
            if with_faults and more & self.faults:
                return 0
            more &= ~(found | self.faults)
            if more & enabled & shown:
                return 0
            found |= more
            left |= more
        return found

    def _with(self, group: int, enabled: int, failed: int) -> int:
        """The groups that go with one directly."""
        if enabled >> group & 1:
            return self.conflicts[group]
        if alone := failed & self.settled[group]:
            return self.enabling[group][next(bits(alone))]
        found = self.entering[group] if self.is_open[group] or not failed else 0
        for part in bits(failed):
            found |= self.enabling[group][part]
        return found


def bits(number: int) -> Iterator[int]:
    """The places of the bits of a number, the lowest first."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1


# ------------------------------------------------------------------ what is refused


def not_reduced(task: Task) -> list[Refusal]:
    """Why a task cannot be asked with fewer steps, where it wants that: NOTE(persistent)."""
    if not task.partial_order:
        return []
    said = [
        f"{p.kind.value} {p.name} is about whole runs" for p in task.properties if p.kind not in REDUCIBLE
    ]
    said += [
        f"step {p.name} may be broken by a step that changes nothing of what it reads"
        for p in task.properties
        if p.kind is PropertyKind.STEP and not unmoved(p)
    ]
    said += [f"`{name} = any` depends on all values in use" for name in sorted(task.scope.unbounded)]
    said += ["checkpoints do not know what was left out"] if task.keep is not None else []
    if not said and _count(task) > MOST_GROUPS:
        said = [f"the model has more than {MOST_GROUPS} groups of steps"]
    why = " and ".join(said)
    return (
        [Refusal(f"partial-order reduction, since {why}; --no-partial-order asks without it")] if said else []
    )


def _count(task: Task) -> int:
    """How many groups the actions of a task have."""
    values = [parameter_values(action, task.model, task.scope) for action in task.budget.actions(task.model)]
    return sum(map(_combinations, values))


def _combinations(values: Iterable[Sequence[Value] | None]) -> int:
    """How many combinations there are of values of parameters, where those of None make no difference."""
    return prod(1 if each is None else len(each) for each in values)


def unmoved(prop: Property) -> bool:
    """Whether a step that changes nothing of what a property of steps reads surely satisfies it."""
    expr = prop.expr
    return expr is not None and Totality().of(expr) and _still(expr) == TRUE


TRUE, FALSE = (Const(value, type=BOOL, span=None) for value in (True, False))  # type: ignore[arg-type]


def _still(expr: Expr) -> Expr:
    """A condition for a step by no action in question that changes nothing; simplified."""
    match expr:
        case Old(of=of):
            return _still(of)
        case Did():
            return FALSE
        case _:
            pass
    expr = with_parts(expr, _still)
    match expr:
        case Apply(op=Op.EQ | Op.LE | Op.STARTS | Op.SUBSET, args=(a, b)) if a == b:
            return TRUE
        case Apply(op=Op.NE | Op.LT, args=(a, b)) if a == b:
            return FALSE
        case Apply(op=Op.NOT, args=(of,)) if of in (TRUE, FALSE):
            return FALSE if of == TRUE else TRUE
        case Implies(left=left, right=right) if left == FALSE or right == TRUE:
            return TRUE
        case And(parts=parts):
            return TRUE if all(each == TRUE for each in parts) else FALSE if FALSE in parts else expr
        case Or(parts=parts):
            return TRUE if TRUE in parts else FALSE if all(each == FALSE for each in parts) else expr
        case Bind(quantifier=Quantifier.FORALL, body=body) if body == TRUE:
            return TRUE
        case _:
            return expr


# ------------------------------------------------------------------------ the analysis


def persistence(task: Task) -> Persistence | None:
    """What goes with each group of a task's steps; None where it does not ask for fewer steps.

    Linear in the text for each group, and quadratic in what is accessed.
    """
    if not task.partial_order:
        return None
    return _persistence(This(task.model), This(task.scope), tuple(map(This, task.properties)), task.faults)


@lru_cache(maxsize=16)
def _persistence(
    model: This[Model], scope: This[Scope], properties: tuple[This[Property], ...], faults: frozenset[str]
) -> Persistence:
    """The same, once for a question: engines ask several times."""
    return _Analysis(model.value, scope.value, [each.value for each in properties], faults).found()


class _Analysis:
    """Finds which groups commute, and which may make others possible."""

    def __init__(
        self, model: Model, scope: Scope, properties: Sequence[Property], faults: frozenset[str]
    ) -> None:
        self.model, self.scope, self.properties = model, scope, properties
        self.numberings: list[Numbering] = []
        self.groups: list[StepGroup] = []
        for action in model.actions:
            if not action.is_fault or action.name in faults:
                values = parameter_values(action, model, scope)
                own = settled(action, values)
                self.numberings.append(Numbering(action, len(self.groups), tuple(values), own))
                self.groups += groups_of(action, values)
        self.accesses = [accesses_of(group, model, scope) for group in self.groups]
        self.who: dict[int, dict[Access, int]] = {}  # by variable, who makes an access, as bits
        for number, each in enumerate(self.accesses):
            for access in each.all:
                known = self.who.setdefault(access.var, {})
                known[access] = known.get(access, 0) | 1 << number
        self._conflicting: dict[tuple[Access, bool], int] = {}
        self._changing: dict[Access, int] = {}

    def found(self) -> Persistence:
        """All of it."""
        one = [has_one_outcome(group) for group in self.groups]
        return Persistence(
            tuple(self.numberings),
            tuple(
                self._any(self._against(a, one=single) for a in each.all) & ~(1 << number)
                for number, (each, single) in enumerate(zip(self.accesses, one, strict=True))
            ),
            tuple(
                self._enabling(group, each) for group, each in zip(self.groups, self.accesses, strict=True)
            ),
            tuple(self._writers(each.domains) for each in self.accesses),
            tuple(None in group.args for group in self.groups),
            tuple(
                sum(1 << place for place in each.settled)
                for each in self.numberings
                for _ in range(each.count)
            ),
            *self._visible(),
            sum(1 << n for n, group in enumerate(self.groups) if group.action.is_fault),
        )

    @staticmethod
    def _any(masks: Iterable[int]) -> int:
        """The groups that are in any of some sets."""
        found = 0
        for each in masks:
            found |= each
        return found

    def _against(self, access: Access, *, one: bool) -> int:
        """The groups with an access that does not commute with one; `one` is as in `_commute`."""
        if (access, one) not in self._conflicting:
            self._conflicting[access, one] = self._any(
                who for other, who in self.who[access.var].items() if not _commute(access, other, one=one)
            )
        return self._conflicting[access, one]

    def _enabling(self, group: StepGroup, own: GroupAccesses) -> tuple[int, ...]:
        """For each part of the head, and in the end the body, the groups that may change what it comes to."""
        found: list[int] = []
        names: set[Access] = set()
        for part, read in zip(group.action.head, own.head, strict=True):
            if isinstance(part, Bound):
                names |= read
            found.append(self._writers(names | read))
        found.append(self._writers({each for each in own.all if each.kind is not AccessKind.WRITE}))
        return tuple(found)

    def _writers(self, read: Iterable[Access]) -> int:
        """The groups that may change what is read."""
        return self._any(map(self._changers, read))

    def _changers(self, read: Access) -> int:
        """The groups that may change one element."""
        if read not in self._changing:
            self._changing[read] = self._any(
                who
                for other, who in self.who.get(read.var, {}).items()
                if other.kind in CHANGES and other.meets(read)
            )
        return self._changing[read]

    def _visible(self) -> tuple[int, int, frozenset[int]]:
        """The groups that may change what a property reads, those that one names, what properties read."""
        asked = [e for p in self.properties if p.kind in VISIBLE for e in (p.expr, p.goal) if e is not None]
        named = {each.action for expr in asked for each in walk(expr) if isinstance(each, Did)}
        return (
            self._any(self._writers(accesses_in(e, self.model, self.scope)) for e in asked),
            sum(1 << n for n, group in enumerate(self.groups) if group.action.name in named),
            frozenset[int]().union(*map(variables_in, asked)),
        )


VISIBLE = OF_STATES | {PropertyKind.STEP}


def _commute(a: Access, b: Access, *, one: bool) -> bool:
    """Whether accesses of two steps leave each other alone.

    Of a group of `one` outcome that has a step here, the queue that it takes from has an entry, and the one
    that it appends to has room: so behind the one and at the front of the other much may happen.
    Of a group of several outcomes another one may become possible by that.
    """
    if (a.kind not in CHANGES and b.kind not in CHANGES) or not a.meets(b):
        return True
    if a.kind is b.kind is AccessKind.ADD:
        return True
    return one and len(a.keys) == len(b.keys) and (a.kind, b.kind) in _OF_QUEUES
