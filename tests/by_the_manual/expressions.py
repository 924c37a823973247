"""What an expression is: its type, and a function that gives its value.

The function takes an environment: the bound names, and under `STATE`, `OLD` and `DID` the state, the state
before the step, and the step.  Types are needed where the same text means two things: `size(x)` of an option
and of a set, a member of two enums, a tie of members of a sort.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.by_the_manual.expression_parser import Node
from tests.by_the_manual.operations import ALIKE, COMPARISONS, FUNCTIONS, OPERATORS, best, operation
from tests.by_the_manual.parser import Block
from tests.by_the_manual.squeezed import greatest, has_no_bound
from tests.by_the_manual.tokens import Refused
from tests.by_the_manual.values import (
    ANY,
    BOOL,
    COLLECTIONS,
    INT,
    Type,
    Value,
    Wrong,
    distinct,
    has_sort,
    join,
    members,
    some,
)

STATE, OLD, DID = ".state", ".old", ".did"
ORDINAL = {*COMPARISONS, "in", "count", "max", "min"}  # what a nat without a bound may be an operand of
Env = dict[str, Any]
Fun = Callable[[Env], Value]
Typed = tuple[Type, Fun]
Through = Callable[[Env], tuple[Value, ...]]
Each = Callable[[Env], Iterator[None]]


class Ambiguous(Refused):
    """A member of several enums, where nothing beside it decides."""


@dataclass(frozen=True)
class Scope:
    """The types of the bound names, and what tests have told of paths: "some", or the name of a case."""

    names: Mapping[str, Type] = field(default_factory=dict)
    known: Mapping[Node, str] = field(default_factory=dict)

    def bind(self, name: str, of: Type) -> Scope:
        """The same with one more name, of which nothing is known."""
        known = {path: told for path, told in self.known.items() if not _mentions(path, name)}
        return Scope({**self.names, name: of}, known)

    def knowing(self, test: Node, *, truth: bool = True) -> Scope:
        """The same behind a test that is true, or false."""
        return replace(self, known={**self.known, **learn(test, truth=truth)})


def root(path: Node) -> str:
    """The name that a path begins with, or nothing where it is no path."""
    if path[0] == "index" and not (path[2][0] == "number" or root(path[2])):
        return ""
    return root(path[1]) if path[0] in {"get", "index"} else str(path[1]) if path[0] == "name" else ""


def _mentions(path: Node, name: str) -> bool:
    return path == ("name", name) or any(isinstance(part, tuple) and _mentions(part, name) for part in path)


def learn(test: Node, *, truth: bool) -> dict[Node, str]:
    """What is known of paths when a test is true, or false."""
    match test, truth:
        case ("not", inner), _:
            return learn(inner, truth=not truth)
        case (("and", a, b), True) | (("or", a, b), False):
            return learn(a, truth=truth) | learn(b, truth=truth)
        case ("implies", a, b), False:
            return learn(a, truth=True) | learn(b, truth=False)
        case (("!=", path, ("none",)), True) | (("==", path, ("none",)), False):
            return {path: "some"} if root(path) else {}
        case ("is", path, name), True:
            return {path: name} if root(path) else {}
        case _:
            return {}


def before(env: Env) -> dict[str, Value]:
    """The state before the step; of a property of states that state itself, and of `init` none."""
    state: dict[str, Value] = env[OLD] if OLD in env else env.get(STATE, {})
    return state


class Expressions:
    """Compiles expressions over what a model declares, which those who build on this fill in."""

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self.cases: dict[str, tuple[Type, int]] = {}
        self.enums: dict[str, list[Type]] = {}
        self.constants: dict[str, Typed] = {}
        self.variables: dict[str, Type] = {}
        self.functions: dict[str, Node] = {}
        self._bodies: dict[str, tuple[tuple[tuple[str, Type], ...], Type, Fun]] = {}

    def type(self, node: Node) -> Type:
        """A type as written, with the bounds of the check."""
        raise NotImplementedError

    def possible(self, name: str, given: list[Fun]) -> Fun:
        """Whether parameters, of which the first are given, pass all guards of an action."""
        raise NotImplementedError

    # -------------------------------------------------------------- all

    def expr(self, node: Node, scope: Scope, want: Type = ANY) -> Typed:
        """The type of an expression and its value; `want` decides which enum a member is of."""
        kind, want = node[0], some(want)
        if kind in {"max", "min", "argmax", "argmin"}:
            kind = "best_value" if kind in {"max", "min"} else "best_member"
        made: Typed
        if kind in OPERATORS:
            made = self._strict(kind, node[1:], scope, want)
        else:
            made = getattr(self, f"_{kind}")(node, scope, want)
        told = scope.known.get(node)
        return (made[0] if told is None else self._narrowed(made[0], told)), made[1]

    def value(self, node: Node, scope: Scope, want: Type = ANY) -> Fun:
        """The value of an expression, of whatever type."""
        return self.expr(node, scope, want)[1]

    def _narrowed(self, of: Type, told: str) -> Type:
        of = some(of)
        return ("case", of, self.cases[told][1]) if told != "some" and of[0] == "union" else of

    def after_a_change(self, scope: Scope, changed: Collection[str] | None = None) -> Scope:
        """What is known of paths that read none of the changed variables; nothing of the state if None."""
        known = {}
        for path, told in scope.known.items():
            reads = self._reads(path, scope)
            if not (reads if changed is None else reads.intersection(changed)):
                known[path] = told
        return replace(scope, known=known)

    def _reads(self, path: Node, scope: Scope) -> set[str]:
        """The variables that a path reads; a field of a member of a sort is one, whichever member it is."""
        match path:
            case ("name", name):
                return set() if name in scope.names else {name}
            case ("index", whole, key):
                return self._reads(whole, scope) | (set() if key[0] == "number" else self._reads(key, scope))
            case ("get", whole, name):
                of = some(self.expr(whole, scope)[0])
                return self._reads(whole, scope) | ({f"{of[1]}.{name}"} if of[0] == "sort" else set())
            case _:
                raise Refused(f"no path: {path}")

    # -------------------------------------------------------------- operators and functions of the language

    def _strict(self, name: str, nodes: Node, scope: Scope, want: Type) -> Typed:
        """What evaluates all operands, from left to right; each may say what type another is."""
        if name == "the":  # an option stays one, whatever is known of it
            scope = replace(scope, known={p: told for p, told in scope.known.items() if p != nodes[0]})
        made: list[Typed | None] = []
        for node in nodes:
            try:
                made.append(self.expr(node, scope, _wanted(name, len(nodes), want)))
            except Ambiguous:
                made.append(None)
        known = [None if each is None else each[0] for each in made]
        typed = [
            each or self.expr(node, scope, _beside(name, at, known))
            for at, (node, each) in enumerate(zip(nodes, made, strict=True))
        ]
        if any(has_no_bound(of) for of, _ in typed) and name not in ORDINAL:
            return self._next(name, nodes, typed)
        of, operate = operation(name, [each for each, _ in typed])
        match [value for _, value in typed]:
            case [one]:
                return of, lambda env: operate(one(env))
            case [one, other]:
                return of, lambda env: operate(one(env), other(env))
            case _:
                raise Refused(f"{name} of {len(nodes)}")

    def _next(self, name: str, nodes: Node, typed: list[Typed]) -> Typed:
        """`x + 1` of a nat without a bound, where `x` is the greatest; anything else is refused."""
        one = ("number", 1)
        if name != "+" or one not in nodes:
            raise Refused(f"{name} of a nat without a bound")
        of, value = typed[1 if nodes[0] == one else 0]
        nat = of[1]

        def made(env: Env) -> Value:
            found = value(env)
            if found < greatest(nat, before(env), self.variables):
                raise Wrong("R0609")
            return found + 1

        return of, made

    # -------------------------------------------------------------- names and literals

    def _number(self, node: Node, _scope: Scope, _want: Type) -> Typed:
        return INT, lambda _env: node[1]

    def _bool(self, node: Node, _scope: Scope, _want: Type) -> Typed:
        return BOOL, lambda _env: node[1]

    def _none(self, _node: Node, _scope: Scope, _want: Type) -> Typed:
        return ("option", ANY), lambda _env: None

    def _name(self, node: Node, scope: Scope, want: Type) -> Typed:
        name = node[1]
        if name in scope.names:
            return scope.names[name], lambda env: env[name]
        if name in self.variables:
            return self.variables[name], lambda env: env[STATE][name]
        if name in self.constants:
            return self.constants[name]
        if name in self.enums:
            of = want if want in self.enums[name] else self.enums[name][0]
            if of != want and len(self.enums[name]) > 1:
                raise Ambiguous(f"{name} is a member of several enums")
            number = of.index(name) - 1
            return of, lambda _env: number
        if name in self.functions or name in self.cases:
            return self._call(("call", name, ()), scope, want)
        if name in self.types:
            of = self.types[name]
            every = members(of)
            return ("set", of, None), lambda _env: every
        raise Refused(f"nothing is called {name}")

    def _parts(self, nodes: Node, scope: Scope, wants: Collection[Type]) -> tuple[list[Type], Fun]:
        """The types and the tuple of the values of several expressions."""
        made = [self.expr(node, scope, want) for node, want in zip(nodes, wants, strict=True)]
        values = [value for _, value in made]
        return [of for of, _ in made], lambda env: tuple([value(env) for value in values])

    def _tuple(self, node: Node, scope: Scope, want: Type) -> Typed:
        wants = want[1:] if want[0] == "tuple" else [ANY] * len(node[1:])
        types, values = self._parts(node[1:], scope, wants)
        return ("tuple", *types), values

    def _seq(self, node: Node, scope: Scope, want: Type) -> Typed:
        of, inner = ANY, want[1] if want[0] in COLLECTIONS else ANY
        types, values = self._parts(node[1:], scope, [inner] * len(node[1:]))
        for each in types:
            of = join(of, each)
        return ("seq", of, None), values

    def _set(self, node: Node, scope: Scope, want: Type) -> Typed:
        (_, of, limit), values = self._seq(node, scope, want)
        return ("set", of, limit), lambda env: distinct(values(env))

    def _map(self, node: Node, scope: Scope, want: Type) -> Typed:
        _, name, key_node, body = node
        key = self.type(key_node)
        of, value = self.expr(body, scope.bind(name, key), want[2] if want[0] == "map" else ANY)
        every = members(key)

        def made(env: Env) -> Value:
            found = []
            for each in every:
                env[name] = each
                found.append(value(env))
            return tuple(found)

        return ("map", key, of), made

    # -------------------------------------------------------------- fields and cases

    def _get(self, node: Node, scope: Scope, want: Type) -> Typed:
        _, whole, name = node
        of, value = self.expr(whole, scope)
        match some(of):
            case ("sort", sort, _) if f"{sort}.{name}" in self.variables:
                key = f"{sort}.{name}"
                return self.variables[key][2], lambda env: env[STATE][key][value(env)]
            case ("record", _, fields):
                at = [each for each, _ in fields].index(name)
                return fields[at][1], lambda env: value(env)[at]
            case ("union", _, cases):
                return _of_case(cases, range(len(cases)), name, value, want)
            case ("case", (_, _, cases), number):
                return _of_case(cases, [number], name, value, want)
            case ("any",):
                return ANY, value  # of a member of `{}`, of which there is none
            case _:
                raise Refused(f"{name} is read of {of}")

    def _is(self, node: Node, scope: Scope, _want: Type) -> Typed:
        value, number = self.value(node[1], scope), self.cases[node[2]][1]
        return BOOL, lambda env: value(env)[0] == number

    # -------------------------------------------------------------- what evaluates no more than it needs

    def _and(self, node: Node, scope: Scope, _want: Type) -> Typed:
        a, b = self.value(node[1], scope), self.value(node[2], scope.knowing(node[1]))
        return BOOL, lambda env: a(env) and b(env)

    def _or(self, node: Node, scope: Scope, _want: Type) -> Typed:
        a, b = self.value(node[1], scope), self.value(node[2], scope.knowing(node[1], truth=False))
        return BOOL, lambda env: a(env) or b(env)

    def _implies(self, node: Node, scope: Scope, _want: Type) -> Typed:
        a, b = self.value(node[1], scope), self.value(node[2], scope.knowing(node[1]))
        return BOOL, lambda env: not a(env) or b(env)

    def _if(self, node: Node, scope: Scope, want: Type) -> Typed:
        _, test_node, then_node, else_node = node
        test, behind = self.value(test_node, scope), scope.knowing(test_node)
        otherwise = scope.knowing(test_node, truth=False)
        if want == ANY:
            try:
                want = self.expr(then_node, behind)[0]
            except Ambiguous:
                want = self.expr(else_node, otherwise)[0]
        (a, then), (b, other) = self.expr(then_node, behind, want), self.expr(else_node, otherwise, want)
        return join(a, b), lambda env: then(env) if test(env) else other(env)

    # -------------------------------------------------------------- bound names

    def _let(self, node: Node, scope: Scope, want: Type) -> Typed:
        _, name, value_node, body = node
        of, value = self.expr(value_node, scope)
        made, then = self.expr(body, scope.bind(name, of), want)

        def evaluated(env: Env) -> Value:
            env[name] = value(env)
            return then(env)

        return made, evaluated

    def binder(self, node: Node, scope: Scope) -> tuple[Scope, str, Through]:
        """What can be read behind it, the name, and the members that it goes through."""
        name, type_node, domain = node
        of = ANY if type_node is None else self.type(type_node)
        if domain is None:
            every = members(of)
            return scope.bind(name, of), name, lambda _env: every
        whole, value = self.expr(domain, scope, ("set", of, None))
        elements = tuple if whole[0] == "seq" else operation("elements", [whole])[1]
        number = of[2] if of[0] == "case" else None

        def through(env: Env) -> tuple[Value, ...]:
            return tuple([each for each in elements(value(env)) if number is None or each[0] == number])

        inner = whole[1] if len(whole) > 1 else ANY
        return scope.bind(name, inner if of == ANY else of), name, through

    def each(self, binders: Block, where: Node, scope: Scope) -> tuple[Scope, Each]:
        """Binds the names in the environment to all that the condition lets pass, one after the other."""
        if not binders:
            test = self.value(where, scope)

            def passes(env: Env) -> Iterator[None]:
                if test(env):
                    yield

            return scope.knowing(where), passes
        inner, name, through = self.binder(binders[0], scope)
        inner, rest = self.each(binders[1:], where, inner)

        def bound(env: Env) -> Iterator[None]:
            for value in through(env):
                env[name] = value
                yield from rest(env)

        return inner, bound

    def _every(self, node: Node, scope: Scope, want: Type = ANY) -> tuple[Type, Callable[[Env], list[Value]]]:
        """The values of the body for all that the condition lets pass: it looks at every member."""
        _, binders, where, body = node
        inner, each = self.each(binders, where, scope)
        of, value = self.expr(body, inner, want)
        return of, lambda env: [value(env) for _ in each(env)]

    def _forall(self, node: Node, scope: Scope, _want: Type) -> Typed:
        _, values = self._every(node, scope)
        return BOOL, lambda env: all(values(env))

    def _exists(self, node: Node, scope: Scope, _want: Type) -> Typed:
        _, values = self._every(node, scope)
        return BOOL, lambda env: any(values(env))

    def _sum(self, node: Node, scope: Scope, _want: Type) -> Typed:
        of, values = self._every(node, scope)
        if has_no_bound(of):
            raise Refused(f"a sum of {of[1]}, which has no bound")
        return INT, lambda env: sum(values(env))

    def _collect(self, node: Node, scope: Scope, want: Type) -> Typed:
        of, values = self._every(node, scope, want[1] if want[0] == "set" else ANY)
        return ("set", of, None), lambda env: distinct(values(env))

    def _best_value(self, node: Node, scope: Scope, want: Type) -> Typed:
        of, values = self._every(node, scope, want)
        which = max if node[0] == "max" else min
        return of, lambda env: best(which, values(env))

    def _best_member(self, node: Node, scope: Scope, _want: Type) -> Typed:
        kind, ((name, *_),), where, body = node
        inner, each = self.each(node[1], where, scope)
        value, of = self.value(body, inner), inner.names[name]
        which = max if kind == "argmax" else min

        def made(env: Env) -> Value:
            found = [(value(env), env[name]) for _ in each(env)]
            top = best(which, [worth for worth, _ in found])
            tied = distinct([one for worth, one in found if worth == top])
            if len(tied) > 1 and has_sort(of):
                raise Wrong("R0606")
            return tied[0]

        return of, made

    # -------------------------------------------------------------- calls

    def _call(self, node: Node, scope: Scope, want: Type) -> Typed:
        _, name, args = node
        if name in self.functions:
            return self._function(name, args, scope)
        if name in self.cases:
            union, number = self.cases[name]
            given = self._arguments(args, union[2][number][1], scope)
            return union, lambda env: (number, *given(env))
        if name in self.types:
            return self.types[name], self._arguments(args, self.types[name][2], scope)
        nodes = tuple(each for _, each in args)
        if name in FUNCTIONS:
            return self._strict(name, nodes, scope, want)
        made: Typed = getattr(self, f"_call_{name}")(nodes[0], scope, want)
        return made

    def _arguments(self, args: Node, fields: Node, scope: Scope) -> Fun:
        """The tuple of arguments in the order of the fields; they are given in order, or by name."""
        given = {name or fields[at][0]: node for at, (name, node) in enumerate(args)}
        wants = [of for _, of in fields]
        return self._parts(tuple(given[name] for name, _ in fields), scope, wants)[1]

    def _function(self, name: str, args: Node, scope: Scope) -> Typed:
        if name not in self._bodies:
            fields, of_node, body = self.functions[name]
            params, of = tuple((each, self.type(of)) for each, of in fields), self.type(of_node)
            self._bodies[name] = (params, of, self.value(body, Scope(dict(params)), of))
        params, of, value = self._bodies[name]
        given = self._arguments(args, params, scope)

        def called(env: Env) -> Value:
            inner = {key: env[key] for key in (STATE, OLD, DID) if key in env}
            inner.update(zip((each for each, _ in params), given(env), strict=True))
            return value(inner)

        return of, called

    def _call_flushed(self, node: Node, scope: Scope, _want: Type) -> Typed:
        of, member = self.expr(node[1], scope)
        key = f"{some(of)[1]}.{node[2]}#"
        return INT, lambda env: env[STATE][key][member(env)]

    def _call_old(self, node: Node, scope: Scope, want: Type) -> Typed:
        of, value = self.expr(node, self.after_a_change(scope), want)
        return of, lambda env: value({**env, STATE: env[OLD]})

    def _call_did(self, node: Node, scope: Scope, _want: Type) -> Typed:
        name, given = self._asked(node, scope)

        def did(env: Env) -> Value:
            action, params = env[DID]
            return action == name and params[: len(given)] == tuple([value(env) for value in given])

        return BOOL, did

    def _call_enabled(self, node: Node, scope: Scope, _want: Type) -> Typed:
        return BOOL, self.possible(*self._asked(node, scope))

    def _asked(self, node: Node, scope: Scope) -> tuple[str, list[Fun]]:
        """The name of an action, and the parameters that are given."""
        match node:
            case ("call", name, args):
                return name, [self.value(each, scope) for _, each in args]
            case ("method", (_, net), name, args):
                return f"{net}.{name}", [self.value(each, scope) for _, each in args]
            case ("get", (_, net), name):
                return f"{net}.{name}", []
            case _:
                return node[1], []


def _wanted(name: str, count: int, want: Type) -> Type:
    """What the place of an operation says of the types of its operands."""
    if name in {"+", "-", "&"} or (name in {"max", "min"} and count == 2):
        return want
    if name in {"max", "min", "the"}:
        return ("set", want, None)
    return want[1] if name == "subsets" and want[0] == "set" else ANY


def _beside(name: str, at: int, known: list[Type | None]) -> Type:
    """What the type of the other operand says of an operand. Raises Ambiguous."""
    other = known[1 - at] if len(known) == 2 else None
    if other is None:
        raise Ambiguous(f"an operand of {name} is a member of several enums")
    if name in ALIKE:
        return other
    if (name, at) in {("in", 1), ("count", 1)}:
        return ("set", other, None)
    inner: Type = some(other)[1]
    return inner


def _of_case(cases: Node, possible: Collection[int], name: str, value: Fun, want: Type) -> Typed:
    """A field of a case, of whichever of the possible ones the value is."""
    places = {n: i for n in possible for i, (each, _) in enumerate(cases[n][1]) if each == name}
    types = {cases[n][1][i][1] for n, i in places.items()}
    if len(types) != 1 and want not in types:
        raise Refused(f"{name} may be of several types")

    def read(env: Env) -> Value:
        whole = value(env)
        if whole[0] not in places:
            raise Wrong("R0607")
        return whole[places[whole[0]] + 1]

    return want if len(types) != 1 else next(iter(types)), read
