"""The intermediate representation: all that an engine ever sees of a model.

Names are resolved, types are checked, sugar is gone: functions are inlined,
a process field `r.log` is a map from the sort, `wipe`, `flush` and networks
are assignments, a fault that comes with a network is an action like any other.
Still without bounds: a `Scope` gives those.

Run-time values, by type (see `spec/model/values.py`): bool → bool; numbers → int;
enum → its ordinal, an int; sort → its member's number, an int from 0;
option → None or the value; record, tuple → tuple; union → tuple whose first
item is the case's ordinal; seq → tuple; set → frozenset; bag → frozenset of
(value, count); map → tuple, one value for each key in the order of the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum as PyEnum
from typing import Any

from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.model.rates import Rate
from spec.model.roles import Shown
from spec.model.types import Enum, Limit, Nat, Record, Sort, Type, Union
from spec.source import Node, Source

Value = Any  # see the module's docstring; typed per node by `Expr.type`


# ------------------------------------------------------------------ expressions


@frozen(kw_only=True)
class _Expr(Node):
    type: Type


@frozen
class Const(_Expr):
    """A constant."""

    value: Value


@frozen
class Config(_Expr):
    """The value of a configuration entry."""

    name: str


@frozen
class Var(_Expr):
    """The whole of a state variable, `Model.variables[index]`; in a `step`, after the step."""

    index: int


@frozen
class Local(_Expr):
    """A parameter or a bound name, by its slot in the frame of its action or property."""

    slot: int


@frozen
class Apply(_Expr):
    """A strict operator applied to arguments."""

    op: Op
    args: tuple[Expr, ...]


@frozen
class And(_Expr):
    """Conjunction with short circuit, in order."""

    parts: tuple[Expr, ...]


@frozen
class Or(_Expr):
    """Disjunction with short circuit, in order."""

    parts: tuple[Expr, ...]


@frozen
class Implies(_Expr):
    """Implication; `right` is evaluated only if `left` is true."""

    left: Expr
    right: Expr


@frozen
class If(_Expr):
    """The expression `if c then a else b`; one branch is evaluated."""

    test: Expr
    then: Expr
    other: Expr


@frozen
class Let(_Expr):
    """The expression `body` with `value` in `slot`."""

    slot: int
    name: str
    value: Expr
    body: Expr


@frozen
class Members(_Expr):
    """The set of all values of a scalar type `of`."""

    of: Type


@frozen
class Bind(_Expr):
    """A quantifier, fold or comprehension over a finite domain, in the canonical order of its members.

    `domain` is a set, bag (its distinct members), seq (its entries), or option (its value, if any);
    `where` of None keeps everything.  `name` is for people.  `case` narrows a union: members of other
    cases are passed over.
    """

    quantifier: Quantifier
    slot: int
    name: str
    domain: Expr
    where: Expr | None
    body: Expr
    case: int | None = None


@frozen
class MapOf(_Expr):
    """The map `[k: K -> body]`, evaluated key by key."""

    slot: int
    name: str
    body: Expr


@frozen
class Make(_Expr):
    """The construction of a record, tuple, seq, set, bag or case of a union, as `type` says.

    For a case, `type` is the `Union` and `case` its ordinal.
    """

    parts: tuple[Expr, ...]
    case: int | None = None


@frozen
class Part(_Expr):
    """A field of a record or item of a tuple, by position.

    For a union, `case` is the case that the value must be [R0607 when it is another];
    None when all cases have the field at this position.
    """

    of: Expr
    index: int
    case: int | None = None


@frozen
class Is(_Expr):
    """The test whether a union's value is of the case with an ordinal."""

    of: Expr
    case: int


@frozen
class Fit(_Expr):
    """The value `of`, checked to be storable as `type`: beyond it is an error or a cut.

    Beyond a scope (nat, limit by name) the step is cut; outside a declared
    range or a limit by number it is an error of the model [R0601].
    Checks numbers, options of them, and the lengths and elements of
    collections, however deep.
    """

    of: Expr


@frozen
class Old(_Expr):
    """In a `step` property: the value of `of` before the step."""

    of: Expr


@frozen
class Did(_Expr):
    """In a `step` property: the test whether the step is of this action with these first arguments."""

    action: str
    args: tuple[Expr, ...]


Expr = (
    Const | Config | Var | Local | Apply | And | Or | Implies | If | Let | Members | Bind | MapOf | Make
    | Part | Is | Fit | Old | Did
)  # fmt: skip


# ------------------------------------------------------------------- statements


@frozen
class Key:
    """A step of an assignment's path: into the entry of a map with this key."""

    key: Expr


@frozen
class At:
    """A step of an assignment's path: into the part of a record or tuple with this position."""

    index: int


@frozen
class Assign(Node):
    """The assignment of `value` (a `Fit`) to the part of state variable `var` at `path`."""

    var: int
    path: tuple[Key | At, ...]
    value: Expr


@frozen
class Bound(Node):
    """The statement `let`: `slot` holds `value` from here on."""

    slot: int
    name: str
    value: Expr


@frozen
class Branch(Node):
    """The statement `if`."""

    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]


@frozen
class Each(Node):
    """The statement `for`: the body for each member in canonical order of the domain, evaluated once."""

    slot: int
    name: str
    domain: Expr
    body: tuple[Stmt, ...]
    case: int | None = None


@frozen
class Choose(Node):
    """The statement `choose`: a branch of the step for each member of `domain` that passes `where`.

    No member, no step.  The chosen value is part of the step's name.
    """

    slot: int
    name: str
    domain: Expr
    where: Expr | None
    case: int | None = None


@frozen
class Assert(Node):
    """The statement `assert`: if it is false, the step violates the property `name`."""

    name: str
    test: Expr


Stmt = Assign | Bound | Branch | Each | Choose | Assert


# ------------------------------------------------------------------ the model


class Storage(PyEnum):
    """What happens to a process variable in a crash."""

    DURABLE = "durable"
    VOLATILE = "volatile"
    CACHED = "cached"
    NONE = "state"  # not of a process


@frozen
class Variable(Node):
    """A state variable. `name` is `leader`, or `Replica.log` for a process field: a map from the sort."""

    name: str
    type: Type
    init: Expr
    storage: Storage
    ghost: bool
    owner: str | None  # the sort of its process
    network: str | None = None  # "set", "bag", "fifo" when declared as a network


@frozen
class Param(Node):
    """A parameter of an action: ranges over the members of `domain`, as a `Bind` does."""

    name: str
    slot: int
    type: Type
    domain: Expr
    case: int | None = None


@frozen
class Guard(Node):
    """A condition for a step. `name` is None when the text gives none."""

    name: str | None
    test: Expr


class Kind(PyEnum):
    """Whether an action is a normal step, a fault (counted in budgets), or a repair (never counted)."""

    ACTION = "action"
    FAULT = "fault"
    REPAIR = "repair"


class Fairness(PyEnum):
    """The fairness assumption of an action: none, weak or strong."""

    NONE = "none"
    WEAK = "fair"
    STRONG = "strong fair"


Says = tuple["str | Expr", ...]
"""A sentence with values in it, evaluated before the step (property: in the state)."""


@frozen
class Action(Node):
    """Parameters × guards × a body run in order, atomically.

    Locals live in a frame of `slots` slots: parameters first, then what `head`
    and `body` bind.  `says` may read the parameters and the state.
    """

    name: str
    kind: Kind
    fairness: Fairness
    params: tuple[Param, ...]
    head: tuple[Guard | Bound, ...]
    body: tuple[Stmt, ...]
    slots: int
    says: Says | None

    @property
    def is_fault(self) -> bool:
        """Whether the action is a fault, which counts against a budget."""
        return self.kind is Kind.FAULT

    @property
    def is_fair(self) -> bool:
        """Whether the action has a fairness assumption."""
        return self.fairness is not Fairness.NONE

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards in textual order."""
        return tuple(each for each in self.head if isinstance(each, Guard))


class PropertyKind(PyEnum):
    """The kinds of properties; a `lemma` is an invariant that helps a proof."""

    INVARIANT = "invariant"
    LEMMA = "lemma"
    STEP = "step"
    REACHABLE = "reachable"
    RECOVERABLE = "recoverable"
    LEADSTO = "leadsto"
    ALWAYS_EVENTUALLY = "always eventually"
    EVENTUALLY_ALWAYS = "eventually always"
    DEADLOCK_FREE = "deadlock free"
    ASSERT = "assert"  # made by `assert` statements of that name


@frozen
class Property(Node):
    """A named property; `goal` is the right side of leadsto, `expr` is None for assert.

    Of deadlock free, `expr` says in which states a run may end; None where it may end in none.
    """

    name: str
    kind: PropertyKind
    expr: Expr | None
    goal: Expr | None
    slots: int
    says: Says | None


@frozen
class ConfigEntry(Node):
    """A configuration entry of the model: type, default, and the real system's key.

    `defaults` are pairs (first version, value), ascending; `key` and `note` are for people.
    After a `=` in the key come the real values, in the order of the type.
    """

    name: str
    type: Type
    default: Value
    key: str | None = None
    note: str | None = None
    defaults: tuple[tuple[str, Value], ...] = ()

    @property
    def key_name(self) -> str:
        """The real system's key; empty if there is none."""
        return (self.key or "").partition("=")[0]


@frozen
class Assume(Node):
    """An assumption on configuration and sizes, without which the model is meaningless."""

    name: str
    test: Expr
    slots: int


@frozen
class Scope:
    """The bounds that make a model finite, and its configuration.

    `sorts` has the members' names, `nats` the greatest values, `networks` how many messages each
    channel may hold, `config` a value for every entry.  The nats of `unbounded` are in `nats` only where
    a search has room for that many values at once: NOTE(ordinals) in `spec/model/ordinals.py`.
    """

    sorts: Mapping[str, tuple[str, ...]]
    nats: Mapping[str, int]
    networks: Mapping[str, int]
    config: Mapping[str, Value]
    unbounded: frozenset[str] = frozenset()

    def limit(self, name: str) -> int:
        """The bound of a nat or network, by name."""
        return self.nats[name] if name in self.nats else self.networks[name]

    def size(self, name: str) -> int:
        """The number of members of a sort, or the bound of a nat or network, by name."""
        return len(self.sorts[name]) if name in self.sorts else self.limit(name)

    def most(self, limit: Limit) -> int:
        """The number of elements that a limit allows."""
        return limit.of if isinstance(limit.of, int) else self.limit(limit.of)


@frozen
class Budget:
    """How many faults a run may have in `total`, and of the `kinds` that are allowed; None: any number."""

    total: int | None
    kinds: Mapping[str, int | None] | None = None

    def allows(self, fault: str) -> bool:
        """Whether faults of that kind are allowed, if any are."""
        return self.kinds is None or self.kinds.get(fault, 0) != 0

    def allowed(self, model: Model) -> frozenset[str]:
        """The faults of a model that a run may have."""
        return frozenset(() if self.total == 0 else filter(self.allows, model.faults))

    @property
    def counted(self) -> Mapping[str, int]:
        """The limits of the kinds that are allowed and limited."""
        return {name: most for name, most in (self.kinds or {}).items() if most}

    def actions(self, model: Model) -> tuple[Action, ...]:
        """The actions of a model without the faults that are not allowed."""
        allowed = self.allowed(model)
        return tuple(a for a in model.actions if not a.is_fault or a.name in allowed)


@frozen
class ExpectVerdict(Node):
    """The expectation `p holds [for any number of faults]`, or `p violated [with k faults] [in n steps]`."""

    property: str
    holds: bool
    any_faults: bool = False
    faults: int | None = None
    steps: int | None = None


@frozen
class ExpectCount(Node):
    """The expectation `states 353 [within k faults]`; `what` is the counter."""

    what: str
    count: int
    faults: int | None = None


@frozen
class ExpectTaken(Node):
    """The expectation `taken write 3996`: the number of transitions by an action."""

    action: str
    count: int


Expect = ExpectVerdict | ExpectCount | ExpectTaken


@frozen
class Check(Node):
    """A check of a model: scope, budget, properties, and the expected results."""

    name: str
    scope: Scope
    budget: Budget
    only: tuple[str, ...] | None  # properties to look at; None: all
    expect: tuple[Expect, ...]
    says: str | None
    rates: tuple[Rate, ...] = ()  # of each action at most one
    exact: tuple[str, ...] = ()  # bounds that are part of the question: a larger one makes another
    symmetry: bool = False  # whether states that differ by names of interchangeable members count as one


@frozen
class Model:
    """A protocol, or a variant of one, ready for an engine."""

    name: str
    source: Source
    sorts: tuple[Sort, ...]
    nats: tuple[Nat, ...]
    enums: tuple[Enum, ...]
    records: tuple[Record, ...]
    unions: tuple[Union, ...]
    configs: tuple[ConfigEntry, ...]
    assumes: tuple[Assume, ...]
    variables: tuple[Variable, ...]
    init: tuple[Stmt, ...]  # run on the variables' `init` values; more than one start by `choose`
    init_slots: int  # enough for `init` and for every variable's first value
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    checks: tuple[Check, ...]
    display: tuple[Shown, ...] = ()  # each role at most once in the state and in each process

    def __repr__(self) -> str:
        """The name and sizes of the model."""
        parts = {"actions": self.actions, "properties": self.properties, "checks": self.checks}
        counts = ", ".join(f"{len(part)} {what}" for what, part in parts.items())
        return f"<Model {self.name}: {counts}>"

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of the faults."""
        return tuple(action.name for action in self.actions if action.is_fault)

    @property
    def free(self) -> tuple[str, ...]:
        """The names of the actions and repairs."""
        return tuple(action.name for action in self.actions if not action.is_fault)

    def action(self, name: str) -> Action:
        """The action with a name. Raises KeyError."""
        return {each.name: each for each in self.actions}[name]

    def guard_name(self, guard: Guard) -> str:
        """The name of a guard, or its text if it has none."""
        return guard.name or self.source.at(guard.span)

    def property(self, name: str) -> Property:
        """The property with a name. Raises KeyError."""
        return {each.name: each for each in self.properties}[name]
