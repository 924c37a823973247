"""What a model means: its initial states, its steps, when its properties hold.

This is the definition of the language, to be read along with the manual: expressions
are in `spec/meaning/evaluate.py`, statements in `spec/meaning/execute.py`.  Every engine is
compared with it and every counterexample is replayed by it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from spec.frozen import frozen
from spec.meaning.evaluate import Evaluator, Frame, FrameLayout, compiled, walked
from spec.meaning.execute import BROKEN, CHOICES, ENDED, Choice, DeadEnd, body, fresh
from spec.model.bounds import of_runs
from spec.model.ir import (
    Action,
    Assume,
    Bound,
    Config,
    Expr,
    Guard,
    Model,
    Property,
    PropertyKind,
    Says,
    Scope,
    Value,
)
from spec.model.values import Cut, ModelError, encode, reader, show
from spec.model.values_in_use import InUse, values_in_state
from spec.model.walk import expressions, expressions_of, walk, walk_statements
from spec.source import Span

T = TypeVar("T")
State = tuple[Value, ...]
MEMO = 100_000  # values of one variable whose bytes are remembered
MACHINES = 8  # the last ones, whose closures are kept for another of the same model and scope
PARTS = 1000  # compiled actions and properties that are kept for other configurations
NO_START = "R0608"  # the code of the error that there is no initial state


@frozen
class Step:
    """A transition's label: an action, its parameters, and the choices made.

    Where it was an error to ask what a parameter may be, `args` ends before that one.
    """

    action: str
    args: tuple[Value, ...]
    choices: tuple[Choice, ...] = ()


@frozen
class Taken:
    """A step with the state after it; `broken` names the asserts that failed in it."""

    step: Step
    state: State
    broken: tuple[str, ...] = ()


@frozen
class CutOff:
    """A step that would leave the scope, and the limit it would exceed."""

    step: Step
    limit: str


class Machine:
    """A model within a scope, executable.

    Each action and property becomes closures when it is first needed, which costs
    about as much as some ten states, and nothing where one of the last machines was the same;
    a machine that was used is equal to a new one.  Without a bound for a nat, runs have the values
    that the model gives them, and as many states as that makes.
    """

    def __init__(self, model: Model, scope: Scope) -> None:
        self.model = model
        self.scope = scope = scope if scope.unbounded <= scope.nats.keys() else of_runs(scope)
        self._count = len(model.variables)
        self._closures = closures = _closures(model, scope)
        self._encoders = [_Memo(each) for each in closures.parts.encoders]
        self._readers = closures.parts.readers
        self._actions, self._properties = closures.actions, closures.properties

    def initial(self) -> tuple[State, ...]:
        """The distinct states a run may start in, at least one, in the order of the choices made.

        Raises ModelError, also where there is none and where one is beyond the scope.
        """
        return self._closures.parts.starts(self.scope, self._starts)

    def _starts(self) -> tuple[State, ...]:
        """The initial states, computed once."""
        layout = FrameLayout(self.scope, self._count)
        frame = fresh([None] * self._count, self.model.init_slots)
        for index, variable in enumerate(self.model.variables):
            frame[index] = _within_scope(compiled(variable.init, layout), frame, variable.init)
        dead_ends: list[DeadEnd] = []
        run = body(self.model.init, layout, [each.type for each in self.model.variables], dead_ends)
        ends = run(frame)
        if not ends:
            raise _no_start(dead_ends)
        for end in ends:
            if isinstance(end[ENDED], ModelError):
                raise end[ENDED]
            if isinstance(end[ENDED], Cut):
                raise _start_is_cut(end[ENDED], self.model.init[0].span)
        return tuple(dict.fromkeys(tuple(end[: self._count]) for end in ends))

    def steps(
        self,
        state: State,
        refused: set[tuple[str, int]] | None = None,
        actions: Collection[str] | None = None,
        args: tuple[Value, ...] | None = None,
    ) -> Iterator[Taken | CutOff]:
        """Every step from a state: actions as in the model, parameters and choices in canonical order.

        `actions` limits it to some actions, `args` to these parameters; `refused`
        collects the guards that were false, as (action, index in its head).  Costs one evaluation of the
        guards for each binding of an action's parameters.  A ModelError carries
        its step.
        """
        for action in self.model.actions:
            if actions is None or action.name in actions:
                yield from self._actions[action.name].steps(state, refused, args)

    def bindings(self, state: State, action: str) -> Iterator[tuple[tuple[Value, ...], int]]:
        """Each binding of an action's parameters, and the place in the head of what refuses it.

        Where nothing does, the length of the head.  Costs and raises what `steps` does, but for bodies.
        """
        return self._actions[action].bindings(state)

    def passes(self, action: str, place: int, args: Sequence[Value], state: State) -> bool:
        """The value of the guard at a place in an action's head, which needs none of what is bound before it.

        Parameters that it does not read may be None.
        """
        return self._actions[action].passes(place, args, state)

    def can_go_on(self, state: State, actions: Collection[str] | None = None) -> bool:
        """Whether a state has any step, cut step, or error in a step."""
        try:
            return next(self.steps(state, actions=actions), None) is not None
        except ModelError:
            return True

    def unguarded(self, state: State) -> Iterator[Taken | CutOff]:
        """Every step there would be without guards.

        Ways that make an error of the model, as guards often prevent, are passed over.
        """
        for action in self.model.actions:
            yield from self._actions[action.name].unguarded(state)

    def holds(self, prop: Property, state: State) -> bool:
        """The value of a property's (left) expression in a state.

        Of deadlock free: whether anything can happen, or else the run may end there.
        """
        if prop.kind is PropertyKind.DEADLOCK_FREE:
            return self.can_go_on(state) or self.may_end(prop, state)
        return self._properties[prop.name].holds(state)

    def may_end(self, prop: Property, state: State) -> bool:
        """Whether the deadlock property permits runs to end in a state. Raises ModelError.

        It is asked of states in which nothing can happen, and of no others.
        """
        return prop.expr is not None and self._properties[prop.name].holds(state)

    def goal(self, prop: Property, state: State) -> bool:
        """The value of the right side of a `leadsto` in a state."""
        return self._properties[prop.name].reached(state)

    def ask(self, prop: Property, state: State) -> None:
        """Evaluate all expressions of a property in a state, for the ModelError they may raise."""
        self.holds(prop, state)
        if prop.goal is not None:
            self.goal(prop, state)

    def condition(self, asked: Property) -> Callable[[State], bool]:
        """A function that evaluates a property, not necessarily of the model, in states."""
        return _Claim(asked, self.model, self.scope).holds

    def step_holds(self, prop: Property, before: State, step: Step, after: State) -> bool:
        """The value of a `step` property for a step."""
        return self._properties[prop.name].holds_of(before, step, after)

    def encode(self, state: State) -> bytes:
        """The canonical bytes of a state, equal for equal states only."""
        return b"".join([memo[value] for memo, value in zip(self._encoders, state, strict=True)])

    def decode(self, data: bytes) -> State:
        """The inverse of `encode`."""
        values = []
        at = 0
        for read in self._readers:
            value, at = read(data, at)
            values.append(value)
        return tuple(values)

    def says(self, action: Action, step: Step, state: State) -> str:
        """The action's sentence with values from the state before; its name without one."""
        sentence = self._actions[action.name].says(step, state) if action.says else None
        return self.name(step) if sentence is None else sentence

    def name(self, step: Step) -> str:
        """The step as text: `crash(b1)`, or with a choice `deliver | m = Vote(term = 1)`."""
        action = self._actions[step.action].action
        known = [show(p.type, v, self.scope) for p, v in zip(action.params, step.args, strict=False)]
        args = ", ".join([*known, "…"] if len(known) < len(action.params) else known)
        choices = ", ".join(f"{c.name} = {show(c.type, c.value, self.scope)}" for c in step.choices)
        return action.name + (f"({args})" if args else "") + (f" | {choices}" if choices else "")

    def why_not(self, action: str, args: Sequence[Value], state: State) -> Guard | None:
        """The first guard that refuses an action in a state; None if none does."""
        return self._actions[action].why_not(args, state)

    def assumption_failures(self) -> tuple[Assume, ...]:
        """The assumptions that are false for the configuration and sizes."""
        layout = FrameLayout(self.scope, 0)
        return tuple(a for a in self.model.assumes if not compiled(a.test, layout)([None] * a.slots))


class _Closures:
    """The compiled parts of a model within a scope."""

    def __init__(self, scope: Scope, parts: _CompiledParts) -> None:
        self.scope, self.parts = scope, parts
        self.actions = _OnDemand(lambda name: parts.action(name, scope))
        self.properties = _OnDemand(lambda name: parts.claim(name, scope))


class _CompiledParts:
    """The compiled parts of a model, for scopes that differ in their configurations alone.

    Configurations that agree on what a part reads share it.
    """

    def __init__(self, model: Model, sizes: Scope) -> None:
        self.model, self.sizes = model, sizes
        types = [variable.type for variable in model.variables]
        self.encoders = [encode(each, sizes) for each in types]
        self.readers = [reader(each, sizes) for each in types]
        self._in_use = {nat: values_in_state(types, nat) for nat in sizes.unbounded}
        self._read: dict[str, tuple[str, ...]] = {}
        self._made: dict[tuple[str, tuple[Value, ...]], Any] = {}

    def action(self, name: str, scope: Scope) -> _Action:
        """A compiled action."""
        action = self.model.action(name)
        made = partial(_Action, action, self.model, scope, self._in_use)
        return self._shared(name, partial(_of_action, action), scope, made)

    def claim(self, name: str, scope: Scope) -> _Claim:
        """A compiled property."""
        prop = self.model.property(name)
        asked = [each for each in (prop.expr, prop.goal) if each is not None]
        return self._shared(f"of {name}", lambda: asked, scope, partial(_Claim, prop, self.model, scope))

    def starts(self, scope: Scope, make: Callable[[], tuple[State, ...]]) -> tuple[State, ...]:
        """The initial states, which `make` computes."""
        return self._shared("the start", partial(_of_start, self.model), scope, make)

    def _shared(
        self, what: str, reading: Callable[[], Iterable[Expr]], scope: Scope, make: Callable[[], T]
    ) -> T:
        """What is made once for the values that the expressions it is made of read of a configuration."""
        if what not in self._read:
            parts = (part for expr in reading() for part in walk(expr))
            self._read[what] = tuple({part.name for part in parts if isinstance(part, Config)})
        key = (what, tuple([scope.config[name] for name in self._read[what]]))
        made: T | None = self._made.get(key)
        if made is None:
            made = make()
            if len(self._made) >= PARTS:
                self._made.clear()
            self._made[key] = made
        return made


def _of_action(action: Action) -> list[Expr]:
    """The expressions of an action, with those of its sentence."""
    return [*expressions_of(action), *(part for part in action.says or () if not isinstance(part, str))]


def _of_start(model: Model) -> list[Expr]:
    """The expressions by which a model starts."""
    inside = (expr for each in walk_statements(model.init) for expr in expressions(each))
    return [*(variable.init for variable in model.variables), *inside]


_KEPT: deque[_Closures] = deque(maxlen=MACHINES)
_SIZED: deque[_CompiledParts] = deque(maxlen=MACHINES)


def _closures(model: Model, scope: Scope) -> _Closures:
    """The compiled parts for a model and scope, shared between machines."""
    for each in tuple(_KEPT):  # another thread may add one meanwhile
        if each.parts.model is model and each.scope == scope:
            return each
    made = _Closures(scope, _parts(model, scope))
    _KEPT.append(made)
    return made


def _parts(model: Model, scope: Scope) -> _CompiledParts:
    """The compiled parts for a model and the sizes of a scope, shared between configurations."""
    sizes = replace(scope, config={})
    for each in tuple(_SIZED):
        if each.model is model and each.sizes == sizes:
            return each
    made = _CompiledParts(model, sizes)
    _SIZED.append(made)
    return made


class _OnDemand(dict[str, T]):
    """A mapping whose values are made at first use."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> T:
        found = self[name] = self._make(name)
        return found


class _Memo(dict[Value, bytes]):
    """A cache of the encodings of values."""

    def __init__(self, function: Callable[[Value], bytes]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, value: Value) -> bytes:
        if len(self) >= MEMO:
            self.clear()
        found = self[value] = self._function(value)
        return found


def _within_scope(evaluate: Evaluator, frame: Frame, expr: Expr) -> Value:
    """The value of a condition; an error of the model if it is cut."""
    try:
        return evaluate(frame)
    except Cut as cut:
        raise _start_is_cut(cut, expr.span) from None


def _start_is_cut(cut: Cut, span: Span) -> ModelError:
    """The error that the initial state is beyond the scope."""
    return ModelError("R0601", f"the initial state is already beyond the scope of {cut.limit}", span)


def _no_start(dead_ends: Sequence[DeadEnd]) -> ModelError:
    """The error that no branch of `init` has an end."""
    last = max(dead_ends, key=lambda each: each.choose.span.start)
    choose = last.choose
    if not last.is_empty and choose.where is not None:
        why, span = "no member satisfies the condition", choose.where.span
    else:
        why = "the set is empty" if choose.case is None else "the set has no member of that case"
        span = choose.domain.span
    return ModelError(NO_START, f"`choose {choose.name}` has no choice because {why}", span)


# --------------------------------------------------------------------- actions


class _Action:
    """A compiled action."""

    def __init__(
        self,
        action: Action,
        model: Model,
        scope: Scope,
        in_use: Mapping[str, InUse],
    ) -> None:
        self.action = action
        self._count = len(model.variables)
        types = [variable.type for variable in model.variables]
        self._layout = layout = FrameLayout(scope, self._count, in_use=in_use or None)
        self._params = [(self._count + p.slot, walked(p.domain, p.case, layout)) for p in action.params]
        self._head = [_head(part, layout, self._count) for part in action.head]
        self._body = body(action.body, layout, types)

    def steps(
        self, state: State, refused: set[tuple[str, int]] | None, only: tuple[Value, ...] | None
    ) -> Iterator[Taken | CutOff]:
        """The steps of the action: parameters × guards × choices."""
        start = fresh(state, self.action.slots)
        for args in self._bindings(start, (), only):
            if self._is_ready(start, args, refused):
                for frame in self._body(start.copy()):
                    yield self._result(frame, args)

    def passes(self, place: int, args: Sequence[Value], state: State) -> bool:
        """The value of the guard at a place in the head."""
        return bool(self._head[place][1](self._with(args, state)))

    def bindings(self, state: State) -> Iterator[tuple[tuple[Value, ...], int]]:
        """Each binding of the parameters, and the place in the head of what refuses it."""
        start = fresh(state, self.action.slots)
        for args in self._bindings(start, (), None):
            refused: set[tuple[str, int]] = set()
            self._is_ready(start, args, refused)
            yield args, next((place for _, place in refused), len(self._head))

    def unguarded(self, state: State) -> Iterator[Taken | CutOff]:
        """The steps of the action without its guards, except those that are errors."""
        start = fresh(state, self.action.slots)
        try:
            for args in self._bindings(start, (), None):
                for frame in self._regardless(start):
                    if not isinstance(frame[ENDED], ModelError):
                        yield self._result(frame, args)
        except ModelError:  # of the domain of a parameter: there are no more
            return

    def _bindings(
        self, frame: Frame, args: tuple[Value, ...], only: tuple[Value, ...] | None
    ) -> Iterator[tuple[Value, ...]]:
        """Every choice of parameters, each put into its slot."""
        index = len(args)
        if index == len(self._params):
            yield args
            return
        slot, walk = self._params[index]
        for value in self._of_step(walk, frame, args):
            if only is None or only[index : index + 1] == (value,):
                frame[slot] = value
                yield from self._bindings(frame, (*args, value), only)

    def _regardless(self, frame: Frame) -> list[Frame]:
        """The frames after the body without guards; none if a `let` of the head has no value."""
        try:
            for slot, evaluate in self._head:
                if slot >= 0:
                    frame[slot] = evaluate(frame)
        except ModelError:
            return []
        return self._body(frame.copy())

    def _is_ready(self, frame: Frame, args: tuple[Value, ...], refused: set[tuple[str, int]] | None) -> bool:
        """Whether all guards pass; records those that refuse."""
        try:
            for index, (slot, evaluate) in enumerate(self._head):
                value = evaluate(frame)
                if slot >= 0:
                    frame[slot] = value
                elif not value:
                    if refused is not None:
                        refused.add((self.action.name, index))
                    return False
        except ModelError as error:
            error.step = Step(self.action.name, args)
            raise
        return True

    def _of_step(
        self, walk: Callable[[Frame], Iterable[Value]], frame: Frame, args: tuple[Value, ...]
    ) -> Iterable[Value]:
        """The values of a parameter, restricted to those given."""
        try:
            return walk(frame)
        except ModelError as error:
            error.step = Step(self.action.name, args)
            raise

    def _result(self, frame: Frame, args: tuple[Value, ...]) -> Taken | CutOff:
        """The step that a frame after the body is."""
        step = Step(self.action.name, args, frame[CHOICES])
        match frame[ENDED]:
            case None:
                return Taken(step, tuple(frame[: self._count]), frame[BROKEN])
            case Cut(limit=limit):
                return CutOff(step, limit)
            case error:
                error.step = step
                raise error

    def why_not(self, args: Sequence[Value], state: State) -> Guard | None:
        """The first guard that is false for these parameters."""
        frame = self._with(args, state)
        for part, (slot, evaluate) in zip(self.action.head, self._head, strict=True):
            value = evaluate(frame)
            if slot >= 0:
                frame[slot] = value
            elif not value and isinstance(part, Guard):
                return part
        return None

    def says(self, step: Step, state: State) -> str | None:
        """The sentence with the values; None if one cannot be computed."""
        try:
            return sentence(self.action.says or (), self._layout, self._with(step.args, state))
        except ModelError:
            return None

    def _with(self, args: Sequence[Value], state: State) -> Frame:
        """The frame for parameters in a state."""
        frame = fresh(state, self.action.slots)
        for (slot, _), value in zip(self._params, args, strict=True):
            frame[slot] = value
        return frame


def _head(part: Guard | Bound, layout: FrameLayout, count: int) -> tuple[int, Evaluator]:
    """A `let`'s slot and evaluator; for a guard -1 and its condition."""
    if isinstance(part, Bound):
        return count + part.slot, compiled(part.value, layout)
    return -1, compiled(part.test, layout)


def sentence(says: Says, layout: FrameLayout, frame: Frame) -> str:
    """The text of a sentence with its values. Raises ModelError if one cannot be computed."""
    return "".join(
        part if isinstance(part, str) else show(part.type, compiled(part, layout)(frame), layout.scope)
        for part in says
    )


# ------------------------------------------------------------------ properties


class _Claim:
    """A compiled property."""

    def __init__(self, prop: Property, model: Model, scope: Scope) -> None:
        count = len(model.variables)
        before = count + prop.slots  # after the state and the slots: the state before the step, then the step
        self._slots: list[Value] = [None] * prop.slots
        layout = FrameLayout(scope, count, old=before, step=before + count)
        self._expr = None if prop.expr is None else compiled(prop.expr, layout)
        self._goal = None if prop.goal is None else compiled(prop.goal, layout)

    def holds(self, state: State) -> bool:
        """The value of the expression."""
        return bool(_asked(self._expr)([*state, *self._slots]))

    def reached(self, state: State) -> bool:
        """The value of the goal."""
        return bool(_asked(self._goal)([*state, *self._slots]))

    def holds_of(self, before: State, step: Step, after: State) -> bool:
        """The value for a step."""
        return bool(_asked(self._expr)([*after, *self._slots, *before, step]))


def _asked(expr: Evaluator | None) -> Evaluator:
    """The evaluator, which must exist."""
    if expr is None:
        raise TypeError("such a property is not asked of a state")
    return expr
