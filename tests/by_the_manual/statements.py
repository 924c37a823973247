"""What a statement does to a branch of a step, and what a step is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tests.by_the_manual.expression_parser import Node
from tests.by_the_manual.expressions import OLD, STATE, Env, Expressions, Fun, Scope, Through
from tests.by_the_manual.parser import Action, Block
from tests.by_the_manual.tokens import Refused
from tests.by_the_manual.values import (
    Cut,
    Type,
    Value,
    Wrong,
    bag,
    beyond,
    common,
    copies,
    distinct,
    position,
    put,
    some,
    without,
)

State = dict[str, Value]
Run = Callable[["Branch"], list["Branch"]]
Behind = tuple[Scope, Run]  # what is known behind a statement, and what it does


@dataclass
class Branch:
    """A way through a body: the environment with the state, the asserts that failed, and how it ended."""

    env: Env
    failed: frozenset[str] = frozenset()
    end: Cut | Wrong | None = None


@dataclass
class Place:
    """Where a value is stored: in which variable, in which part of which part of it, and its type."""

    variable: str
    parts: tuple[Fun, ...]
    type: Type

    def find(self, env: Env) -> list[int]:
        """Where each part is in the one before; it is the same place, whatever changes then."""
        return [part(env) for part in self.parts]

    def get(self, env: Env, found: list[int]) -> Value:
        """What is there."""
        value = env[STATE][self.variable]
        for at in found:
            value = value[at]
        return value

    def put(self, env: Env, found: list[int], value: Value) -> None:
        """Another value in its stead."""
        for depth in reversed(range(len(found))):
            value = put(self.get(env, found[:depth]), found[depth], value)
        env[STATE] = {**env[STATE], self.variable: value}

    def part(self, at: Fun, of: Type) -> Place:
        """A part of what is there."""
        return Place(self.variable, (*self.parts, at), of)


@dataclass
class Step:
    """One step of an action; `end` where it is cut or an error."""

    action: str
    params: tuple[Value, ...]
    state: State
    failed: frozenset[str]
    end: Cut | Wrong | None


@dataclass
class Moves:
    """An action that can be taken: its parameters with their domains, its guards, its body."""

    name: str
    kind: str
    fair: str
    params: list[tuple[str, Through]]
    passes: Callable[[Env], bool]  # also binds what `let` names among the guards
    body: Run

    def bindings(self, env: Env, given: Sequence[Value] = (), done: int = 0) -> Iterator[None]:
        """Binds the parameters from left to right, each to a member of its domain; the first may be given."""
        if done == len(self.params):
            yield
            return
        name, through = self.params[done]
        for value in through(env):
            if done >= len(given) or value == given[done]:
                env[name] = value
                yield from self.bindings(env, given, done + 1)

    def steps(self, state: State) -> Iterator[Step]:
        """All steps from a state."""
        env: Env = {STATE: state, OLD: state}
        try:
            for _ in self.bindings(env):
                if self.passes(env):
                    params = tuple([env[name] for name, _ in self.params])
                    for end in self.body(Branch(dict(env))):
                        yield Step(self.name, params, end.env[STATE], end.failed, end.end)
        except Wrong as wrong:
            yield Step(self.name, (), state, frozenset(), wrong)


class Statements(Expressions):
    """Compiles statements, each by the method that has its name."""

    def __init__(self) -> None:
        super().__init__()
        self.storage: dict[str, str] = {}  # of variables, and of fields by `Sort.field`
        self.first: State = {}
        self.moves: dict[str, Moves] = {}
        self.asserts: list[str] = []
        self.changed: set[str] = set()  # the variables that what was compiled last may change

    def taken(self, action: Action) -> Moves:
        """An action as what can be taken."""
        scope, params, head = Scope(), [], list[tuple[str, Fun]]()
        for binder in action.params:
            scope, name, through = self.binder(binder, scope)
            params.append((name, through))
        for node in action.body[: guards(action.body)]:
            of, value = self.expr(node[2], scope)
            head.append((node[1] if node[0] == "let" else "", value))
            scope = scope.bind(node[1], of) if node[0] == "let" else scope.knowing(node[2])

        def passes(env: Env) -> bool:
            for name, value in head:
                found = value(env)
                if name:
                    env[name] = found
                elif not found:
                    return False
            return True

        body = self.block(action.body[guards(action.body) :], scope)
        return Moves(action.name, action.kind, action.fair, params, passes, body)

    def possible(self, name: str, given: list[Fun]) -> Fun:
        """Whether parameters, of which the first are given, pass all guards of an action."""

        def found(env: Env) -> Value:
            moves, inner = self.moves[name], {STATE: env[STATE]}
            values = [value(env) for value in given]
            passed = [moves.passes(inner) for _ in moves.bindings(inner, values)]
            return any(passed)

        return found

    # -------------------------------------------------------------- blocks

    def block(self, nodes: Block, scope: Scope) -> Run:
        """Statements in order, each in every branch that has not ended."""
        runs: list[Run] = []
        for node in nodes:
            scope, run = getattr(self, f"do_{node[0]}")(node, scope)
            runs.append(run)

        def run_all(branch: Branch) -> list[Branch]:
            branches = [branch]
            for run in runs:
                branches = [after for one in branches for after in _tried(run, one)]
            return branches

        return run_all

    def do_let(self, node: Node, scope: Scope) -> Behind:
        of, value = self.expr(node[2], scope)

        def run(branch: Branch) -> list[Branch]:
            branch.env[node[1]] = value(branch.env)
            return [branch]

        return scope.bind(node[1], of), run

    def do_assert(self, node: Node, scope: Scope) -> Behind:
        value = self.value(node[2], scope)
        self.asserts.append(node[1])

        def run(branch: Branch) -> list[Branch]:
            if not value(branch.env):
                branch.failed |= {node[1]}
            return [branch]

        return scope, run

    def do_if(self, node: Node, scope: Scope) -> Behind:
        test = self.value(node[1], scope)
        then, changed = self._noting(node[2], scope.knowing(node[1]))
        other, more = self._noting(node[3], scope.knowing(node[1], truth=False))
        behind = self.after_a_change(scope, changed | more)
        return behind, lambda branch: (then if test(branch.env) else other)(branch)

    def _noting(self, nodes: Block, scope: Scope) -> tuple[Run, set[str]]:
        """A block, and the variables that it may change."""
        before, self.changed = self.changed, set()
        run = self.block(nodes, scope)
        own, self.changed = self.changed, before | self.changed
        return run, own

    def do_for(self, node: Node, scope: Scope) -> Behind:
        inner, name, through = self.binder(node[1], scope)
        asserts = len(self.asserts)
        _, changed = self._noting(node[2], inner)
        del self.asserts[asserts:]
        body = self.block(node[2], self.after_a_change(inner, changed))  # one round comes after another

        def run(branch: Branch) -> list[Branch]:
            branches = [branch]
            for value in through(branch.env):
                for each in branches:
                    each.env[name] = value
                branches = [after for each in branches for after in _tried(body, each)]
            return branches

        return self.after_a_change(scope, changed), run

    def do_choose(self, node: Node, scope: Scope) -> Behind:
        inner, each = self.each((node[1],), node[2], scope)
        return inner, lambda branch: [Branch(dict(branch.env), branch.failed) for _ in each(branch.env)]

    # -------------------------------------------------------------- places

    def place(self, node: Node, scope: Scope) -> Place:
        """A variable, a field of a process or of a record, or the value of a map for a key."""
        match node:
            case ("name", name) if name in self.variables:
                return Place(name, (), self.variables[name])
            case ("get", whole, name):
                of, value = self.expr(whole, scope)
                if some(of)[0] == "sort":
                    key = f"{some(of)[1]}.{name}"
                    return Place(key, (value,), self.variables[key][2])
                if of[0] == "record":
                    at = [each for each, _ in of[2]].index(name)
                    return self.place(whole, scope).part(lambda _env: at, of[2][at][1])
            case ("index", whole, key):
                outer = self.place(whole, scope)
                where, of = self.value(key, scope, outer.type[1]), outer.type[1]
                return outer.part(lambda env: position(of, where(env)), outer.type[2])
            case _:
                pass
        raise Refused(f"no place: {node}")

    def _stored(self, node: Node, scope: Scope, make: Callable[[Value, Env], Value]) -> Behind:
        """A statement that puts what is made of the value at a place in its stead."""
        place = self.place(node, scope)
        flushed = replace(place, variable=f"{place.variable}#")
        cached = self.storage.get(place.variable) == "cached"

        def run(branch: Branch) -> list[Branch]:
            env, found = branch.env, place.find(branch.env)
            old = place.get(env, found)
            new = make(old, env)
            if beyond(new, place.type):
                raise Cut
            if cached:
                flushed.put(env, found, min(flushed.get(env, found), common(old, new)))
            place.put(env, found, new)
            return [branch]

        return self._behind(scope, place.variable, flushed.variable), run

    def _behind(self, scope: Scope, *changed: str) -> Scope:
        """What is known behind a statement that may change these variables."""
        self.changed |= {*changed}
        return self.after_a_change(scope, {*changed})

    def do_assign(self, node: Node, scope: Scope) -> Behind:
        value = self.value(node[2], scope, self.place(node[1], scope).type)
        return self._stored(node[1], scope, lambda _old, env: value(env))

    def do_method(self, node: Node, scope: Scope) -> Behind:
        _, whole, verb, ((_, arg),) = node
        kind, inner, *_ = self.place(whole, scope).type
        value = self.value(arg, scope, inner)

        def make(old: Value, env: Env) -> Value:
            one = value(env)
            match verb, kind:
                case "append" | "send", "seq":
                    return (*old, one)
                case "add" | "send", "set":
                    return distinct((*old, one))
                case "add" | "send", "bag":
                    return bag((*copies(old), one))
                case "receive", "seq" if one not in old:
                    raise Wrong("R0604")
                case "remove" | "receive", "bag":
                    return bag(without(copies(old), [one]))
                case "remove" | "receive", _:
                    return without(old, [one])
                case _:
                    raise Refused(f"{verb} of a {kind}")

        return self._stored(whole, scope, make)

    # -------------------------------------------------------------- members of a sort

    def do_flush(self, node: Node, scope: Scope) -> Behind:
        log = self.place(node[1], scope)
        flushed = replace(log, variable=f"{log.variable}#")

        def run(branch: Branch) -> list[Branch]:
            found = log.find(branch.env)
            flushed.put(branch.env, found, len(log.get(branch.env, found)))
            return [branch]

        return self._behind(scope, flushed.variable), run

    def do_wipe(self, node: Node, scope: Scope) -> Behind:
        of, value = self.expr(node[1], scope)
        fields = self._fields(some(of)[1])

        def run(branch: Branch) -> list[Branch]:
            member, state = value(branch.env), dict(branch.env[STATE])
            for key, storage in fields.items():
                if storage == "volatile":
                    state[key] = put(state[key], member, self.first[key][member])
            branch.env[STATE] = state
            return [branch]

        return self._behind(scope, *(key for key, storage in fields.items() if storage == "volatile")), run

    def do_lose(self, node: Node, scope: Scope) -> Behind:
        of, value = self.expr(node[1], scope)
        cached = [key for key, storage in self._fields(some(of)[1]).items() if storage == "cached"]
        behind, wipe = self.do_wipe(node, scope)

        def run(branch: Branch) -> list[Branch]:
            member = value(branch.env)
            wipe(branch)
            state, branches = branch.env[STATE], []
            kept = [range(state[f"{key}#"][member], len(state[key][member]) + 1) for key in cached]
            for sizes in product(*kept):
                after = dict(state)
                for key, size in zip(cached, sizes, strict=True):
                    after[key] = put(state[key], member, state[key][member][:size])
                    after[f"{key}#"] = put(state[f"{key}#"], member, size)
                branches.append(Branch({**branch.env, STATE: after}, branch.failed))
            return branches

        return self._behind(behind, *cached, *(f"{key}#" for key in cached)), run

    def _fields(self, sort: str) -> dict[str, str]:
        return {key: storage for key, storage in self.storage.items() if key.startswith(f"{sort}.")}


def guards(body: Block) -> int:
    """How many statements lead a body that are `require` or `let`."""
    return next((at for at, node in enumerate(body) if node[0] not in {"require", "let"}), len(body))


def _tried(run: Run, branch: Branch) -> list[Branch]:
    """What a statement makes of a branch that has not ended; it may end there."""
    if branch.end is not None:
        return [branch]
    try:
        return run(branch)
    except (Cut, Wrong) as end:
        branch.end = end
        return [branch]
