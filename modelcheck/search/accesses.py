"""What a step reads and writes, element by element: the ground of `persistent.py`.

A step is one of a group: an action with values for those of its parameters that the text lets be listed.
An access names an element of a variable by the values of keys, None where the text does not tell the value:
`log[b1]`, `link[b1][*]`.  What is not understood is a read, or a write, of everything below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import product

from spec.frozen import This, frozen
from spec.meaning.evaluate import FrameLayout, compiled, walked
from spec.model.ir import (
    Action,
    And,
    Apply,
    Assert,
    Assign,
    At,
    Bind,
    Bound,
    Branch,
    Choose,
    Config,
    Const,
    Did,
    Each,
    Expr,
    Fit,
    Guard,
    If,
    Implies,
    Key,
    Let,
    Local,
    MapOf,
    Members,
    Model,
    Old,
    Or,
    Param,
    Part,
    Scope,
    Stmt,
    Value,
    Var,
)
from spec.model.op import Op, Quantifier
from spec.model.totality import Totality
from spec.model.types import Option, Seq, Set, Sort, Type, is_scalar
from spec.model.values import ModelError, members
from spec.model.walk import children, chooses, free_slots, walk, walk_statements

MOST_VALUES = 64  # of a parameter that groups distinguish
Known = Mapping[int, Value]  # the values of slots, where the text tells them
Keys = tuple["Value | tuple[str, int] | None", ...]


class AccessKind(Enum):
    """How an element is accessed; all but READ and HEAD change it."""

    READ = auto()
    HEAD = auto()  # the first entry of a queue that has one, for a parameter
    WRITE = auto()
    APPEND = auto()  # behind what a queue has
    POP = auto()  # the first entry of a queue that has one
    ADD = auto()  # to a set that has room for all there can be


CHANGES = frozenset({AccessKind.WRITE, AccessKind.APPEND, AccessKind.POP, AccessKind.ADD})


@frozen
class Access:
    """An access to an element of a variable, by keys; fewer keys are all that is below."""

    var: int
    keys: Keys
    kind: AccessKind

    def meets(self, other: Access) -> bool:
        """Whether both may be of the same element, or one of a part of the other's."""
        return self.var == other.var and all(
            a is None or b is None or a == b for a, b in zip(self.keys, other.keys, strict=False)
        )


@frozen
class StepGroup:
    """The steps of an action with some values of its parameters; None for any value."""

    action: Action
    args: tuple[Value | None, ...]


def parameter_values(action: Action, model: Model, scope: Scope) -> list[tuple[Value, ...] | None]:
    """For each parameter the values that groups distinguish; None where it has others in other states.

    The domain's, where no state decides it, and which follow each other; else all members of a sort.
    """
    of = _Reading(model, scope)
    return [_values(param, of, scope) for param in action.params]


def _values(param: Param, of: _Reading, scope: Scope) -> tuple[Value, ...] | None:
    """The values of one parameter."""
    found: tuple[Value, ...] = ()
    if of.is_fixed(param.domain, {}) and is_scalar(param.type):
        found = tuple(walked(param.domain, param.case, of.layout)([None] * of.slots))
        found = found if found and found == tuple(range(found[0], found[0] + len(found))) else ()
    if not found and isinstance(param.type, Sort):
        found = members(param.type, scope)
    return found if 0 < len(found) <= MOST_VALUES else None


def groups_of(action: Action, values: list[tuple[Value, ...] | None]) -> list[StepGroup]:
    """All groups of an action, in the order of the values."""
    return [StepGroup(action, args) for args in product(*(each or (None,) for each in values))]


@frozen
class GroupAccesses:
    """What the steps of a group access: to have a step at all, for each part of the head, and in the body."""

    domains: frozenset[Access]
    head: tuple[frozenset[Access], ...]
    body: frozenset[Access]

    @property
    def all(self) -> frozenset[Access]:
        """All accesses."""
        return self.domains.union(*self.head, self.body)


def accesses_of(group: StepGroup, model: Model, scope: Scope) -> GroupAccesses:
    """What the steps of a group access. Linear in the text of the action."""
    return _GroupReading(group, model, scope).found()


def accesses_in(expr: Expr, model: Model, scope: Scope) -> frozenset[Access]:
    """What an expression reads, before a step and after it."""
    return frozenset(_Reading(model, scope).reads(expr, {}))


class _Reading:
    """Finds what expressions read."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self.scope = scope
        actions = [action.slots for action in model.actions]
        self.slots = 1 + max([*actions, *(prop.slots for prop in model.properties)], default=0)
        self.layout = FrameLayout(scope, 0)
        self._slots_in: dict[This[Expr], set[int] | None] = {}  # the slots; None if it reads a state

    def is_fixed(self, expr: Expr, known: Known) -> bool:
        """Whether an expression has the same value in all states, given some names' values."""
        this = This(expr)
        if this not in self._slots_in:
            of_states = any(isinstance(each, Var | Old | Did) for each in walk(expr))
            self._slots_in[this] = None if of_states else free_slots(expr)
        needed = self._slots_in[this]
        return needed is not None and needed <= known.keys()

    def value(self, expr: Expr, known: Known) -> Value | None:
        """The value of an expression; None where the text does not tell it, or it has none."""
        if not self.is_fixed(expr, known):
            return None
        frame = [known.get(slot) for slot in range(self.slots)]
        try:
            return compiled(expr, self.layout)(frame)
        except ModelError:
            return None

    def element(self, expr: Expr, known: Known) -> tuple[int, Keys] | None:
        """The element of a variable that an expression is, if it is one."""
        match expr:
            case Var(index=index):
                return index, ()
            case Apply(op=Op.LOOKUP, args=(whole, key)):
                inner = self.element(whole, known)
                return None if inner is None else (inner[0], (*inner[1], self.value(key, known)))
            case Part(of=of, index=index, case=None):
                inner = self.element(of, known)
                return None if inner is None else (inner[0], (*inner[1], ("part", index)))
            case _:
                return None

    def keys_in(self, expr: Expr) -> Iterator[Expr]:
        """The keys of an element."""
        match expr:
            case Apply(op=Op.LOOKUP, args=(whole, key)):
                yield from self.keys_in(whole)
                yield key
            case Part(of=of):
                yield from self.keys_in(of)
            case _:
                return

    def reads(self, expr: Expr, known: Known) -> Iterator[Access]:
        """What an expression reads, given some names' values."""
        if isinstance(expr, Const | Config) or self.is_fixed(expr, known):
            return
        found = self.element(expr, known)
        if found is not None:
            yield Access(found[0], found[1], AccessKind.READ)
            for key in self.keys_in(expr):
                yield from self.reads(key, known)
            return
        match expr:
            case If() | And() | Or() | Implies():
                yield from self._needed(expr, known)
            case Let(slot=slot, value=value, body=body):
                yield from self.reads(value, known)
                yield from self.reads(body, self.bound(known, slot, value))
            case Bind(slot=slot, domain=domain):
                yield from self.reads(domain, known)
                for part in children(expr)[1:]:
                    yield from self.reads(part, without(known, slot))
            case MapOf(slot=slot, body=body):
                yield from self.reads(body, without(known, slot))
            case _:
                for part in children(expr):
                    yield from self.reads(part, known)

    def _needed(self, expr: If | And | Or | Implies, known: Known) -> Iterator[Access]:
        """What those parts of an expression read that are evaluated in some state."""
        match expr:
            case If(test=test, then=then, other=other):
                decided = self.value(test, known)
                yield from self.reads(test, known)
                for part, truth in ((then, True), (other, False)):
                    if decided in {None, truth}:
                        yield from self.reads(part, known)
            case And(parts=parts) | Or(parts=parts):
                for part in parts:  # in order, up to one that surely decides
                    if self.value(part, known) is isinstance(expr, Or):
                        return
                    yield from self.reads(part, known)
            case Implies(left=left, right=right):
                yield from self.reads(left, known)
                if self.value(left, known) is not False:
                    yield from self.reads(right, known)

    def bound(self, known: Known, slot: int, value: Expr) -> Known:
        """The known values after a name was bound."""
        found = self.value(value, known)
        return without(known, slot) if found is None else {**known, slot: found}


def without(known: Known, slot: int) -> Known:
    """The known values without that of a slot."""
    return {each: value for each, value in known.items() if each != slot}


class _GroupReading:
    """Finds what the steps of one group access."""

    def __init__(self, group: StepGroup, model: Model, scope: Scope) -> None:
        self.group, self.model, self.scope = group, model, scope
        self.reader = _Reading(model, scope)
        params = group.action.params
        given = zip(params, group.args, strict=True)
        self.known: Known = {param.slot: value for param, value in given if value is not None}
        heads = {param.slot: self._head_of(param) for param in params}
        self.heads = {slot: place for slot, place in heads.items() if place is not None}
        assigns = [each for each in walk_statements(group.action.body) if isinstance(each, Assign)]
        self.assigned = [each.var for each in assigns]
        self.looped = {
            id(inner)
            for each in walk_statements(group.action.body)
            if isinstance(each, Each)
            for inner in walk_statements(each.body)
        }

    def found(self) -> GroupAccesses:
        """The accesses, part by part."""
        action, known = self.group.action, self.known
        domains: set[Access] = set()
        for param in action.params:
            place = self.heads.get(param.slot)
            if place is None:
                domains.update(self.reader.reads(param.domain, known))
            else:
                assert isinstance(param.domain, Apply)
                queue = param.domain.args[0]
                domains.add(Access(*place, AccessKind.HEAD))
                for key in self.reader.keys_in(queue):
                    domains.update(self.reader.reads(key, known))
        head: list[frozenset[Access]] = []
        for part in action.head:
            expr = part.test if isinstance(part, Guard) else part.value
            head.append(frozenset(self.reader.reads(expr, known)))
            if isinstance(part, Bound):
                known = self.reader.bound(known, part.slot, part.value)
        body = frozenset(self._statements(action.body, known))
        return GroupAccesses(frozenset(domains), tuple(head), body)

    def _head_of(self, param: Param) -> tuple[int, Keys] | None:
        """The queue whose first entry a parameter is, if it is one."""
        match param.domain:
            case Apply(op=Op.AT, args=(queue, Const(value=0))) if param.case is None:
                return self.reader.element(queue, self.known)
            case _:
                return None

    def _statements(self, statements: Iterable[Stmt], known: Known) -> Iterator[Access]:
        """What statements access."""
        for each in statements:
            match each:
                case Assign():
                    yield from self._assign(each, known)
                case Bound(slot=slot, value=value):
                    yield from self.reader.reads(value, known)
                    known = self.reader.bound(known, slot, value)
                case Branch(test=test, then=then, other=other):
                    decided = self.reader.value(test, known)
                    yield from self.reader.reads(test, known)
                    if decided is not False:
                        yield from self._statements(then, known)
                    if decided is not True:
                        yield from self._statements(other, known)
                    for slot in _bound_in((*then, *other)):
                        known = without(known, slot)
                case Each(slot=slot, domain=domain, body=body):
                    yield from self.reader.reads(domain, known)
                    for inner in (slot, *_bound_in(body)):
                        known = without(known, inner)
                    yield from self._statements(body, known)
                case Choose(slot=slot, domain=domain, where=where):
                    yield from self.reader.reads(domain, known)
                    known = without(known, slot)
                    yield from () if where is None else self.reader.reads(where, known)
                case Assert(test=test):
                    yield from self.reader.reads(test, known)

    def _assign(self, statement: Assign, known: Known) -> Iterator[Access]:
        """What an assignment accesses."""
        keys: list[Value | tuple[str, int] | None] = []
        for step in statement.path:
            match step:
                case Key(key=key):
                    yield from self.reader.reads(key, known)
                    keys.append(self.reader.value(key, known))
                case At(index=index):
                    keys.append(("part", index))
        place = statement.var, tuple(keys)
        value = _stored(statement)
        kind, read = self._change(statement, value, place, known)
        yield Access(*place, kind)
        for expr in read:
            yield from self.reader.reads(expr, known)

    def _change(
        self, statement: Assign, value: Expr, place: tuple[int, Keys], known: Known
    ) -> tuple[AccessKind, tuple[Expr, ...]]:
        """How an assignment changes its place, and what it reads but the place itself."""
        match value:
            case Apply(op=Op.CONCAT, args=(now, more)):
                own = self._is_own(now, statement) and not self._meets(more, place, known)
                if own and _is_cut_when_full(statement.value.type):
                    return AccessKind.APPEND, (more,)
            case Apply(op=Op.UNION, args=(now, more)):
                own = self._is_own(now, statement) and not self._meets(more, place, known)
                if own and isinstance(statement.value.type, Set) and self._has_room(statement.value.type):
                    return AccessKind.ADD, (more,)
            case _:
                if self._pops(statement, value, place):
                    return AccessKind.POP, ()
        return AccessKind.WRITE, (value,)

    def _meets(self, expr: Expr, place: tuple[int, Keys], known: Known) -> bool:
        """Whether an expression may read a place."""
        own = Access(*place, AccessKind.WRITE)
        return any(own.meets(each) for each in self.reader.reads(expr, known))

    def _is_own(self, now: Expr, statement: Assign) -> bool:
        """Whether an expression is the place that a statement assigns to, by the same keys."""
        path: list[Key | At] = []
        while not isinstance(now, Var):
            match now:
                case Apply(op=Op.LOOKUP, args=(whole, key)):
                    path.append(Key(key))
                    now = whole
                case Part(of=of, index=index, case=None):
                    path.append(At(index))
                    now = of
                case _:
                    return False
        return now.index == statement.var and tuple(path[::-1]) == statement.path

    def _has_room(self, of: Set) -> bool:
        """Whether all members that there can be have room in a set."""
        if of.limit is None:
            return True
        return is_scalar(of.of) and len(members(of.of, self.scope)) <= self.scope.most(of.limit)

    def _pops(self, statement: Assign, value: Expr, place: tuple[int, Keys]) -> bool:
        """Whether an assignment surely takes the first entry of a queue, the value of a parameter.

        Only where nothing else in the action but appends may change the variable: a second one would
        take another entry.
        """
        heads = [slot for slot, head in self.heads.items() if head == place and None not in place[1]]
        if not heads or self.assigned.count(statement.var) != self._appends(statement.var) + 1:
            return False
        if id(statement) in self.looped:
            return False
        match value:
            case Apply(op=Op.DROP, args=(now, Const(value=1))):
                return self._is_own(now, statement)
            case Let(slot=at, value=Bind() as first, body=Apply(op=Op.CONCAT, args=(left, right))):
                return any(self._is_first(first, slot, statement) for slot in heads) and self._is_rest(
                    left, right, at, statement
                )
            case _:
                return False

    def _appends(self, var: int) -> int:
        """How many assignments of the action only append to a variable."""
        found = 0
        for each in walk_statements(self.group.action.body):
            if isinstance(each, Assign) and each.var == var:
                value = _stored(each)
                if isinstance(value, Apply) and value.op is Op.CONCAT:
                    found += self._is_own(value.args[0], each)
        return found

    def _is_first(self, first: Bind, slot: int, statement: Assign) -> bool:
        """Whether it is the least offset of an entry equal to the parameter in a slot."""
        match first:
            case Bind(
                quantifier=Quantifier.MIN,
                domain=Apply(op=Op.RANGE, args=(Const(value=0), _)),
                where=Apply(op=Op.EQ, args=(Apply(op=Op.INDEX, args=(now, Local(slot=a))), Local(slot=b))),
                body=Local(slot=c),
            ):
                return a == c == first.slot and b == slot and self._is_own(now, statement)
            case _:
                return False

    def _is_rest(self, left: Expr, right: Expr, at: int, statement: Assign) -> bool:
        """Whether it is a queue without the entry at an offset."""
        match left, right:
            case (
                Apply(op=Op.TAKE, args=(one, Local(slot=a))),
                Apply(op=Op.DROP, args=(two, Apply(op=Op.ADD, args=(Local(slot=b), Const(value=1))))),
            ):
                return a == b == at and self._is_own(one, statement) and self._is_own(two, statement)
            case _:
                return False


def _stored(statement: Assign) -> Expr:
    """The value that an assignment stores, without the check that it fits."""
    value = statement.value
    return value.of if isinstance(value, Fit) else value


def _is_cut_when_full(of: Type) -> bool:
    """Whether an entry more than a queue may have cuts the step; else it is an error of the model."""
    return isinstance(of, Seq) and of.limit is not None and isinstance(of.limit.of, str)


def _bound_in(statements: Iterable[Stmt]) -> Iterator[int]:
    """The slots that statements bind."""
    for each in walk_statements(statements):
        if isinstance(each, Bound | Each | Choose):
            yield each.slot


def settled(action: Action, values: Sequence[tuple[Value, ...] | None]) -> frozenset[int]:
    """The guards, by their places in the head, that are the same for all steps of a group.

    They name no parameter that groups do not distinguish, nothing bound before, and have a value in all
    states: so whoever knows the group may ask them.  None where each group is met in every state anyway.
    """
    if all(isinstance(param.domain, Members) for param in action.params):
        return frozenset()
    total = Totality()
    given = frozenset(p.slot for p, each in zip(action.params, values, strict=True) if each is not None)
    return frozenset(
        place
        for place, part in enumerate(action.head)
        if isinstance(part, Guard) and free_slots(part.test) <= given and total.of(part.test, given)
    )


def has_one_outcome(group: StepGroup) -> bool:
    """Whether a state has at most one step of a group, whatever the state."""
    pairs = zip(group.action.params, group.args, strict=True)
    return not any(map(chooses, group.action.body)) and all(
        value is not None or isinstance(param.domain.type, Option) for param, value in pairs
    )
