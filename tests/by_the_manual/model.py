"""A model under one check: its declarations with the bounds of the check, and a variant as merged text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.by_the_manual.expression_parser import Node
from tests.by_the_manual.expressions import OLD, STATE, Fun, Scope
from tests.by_the_manual.parser import Action, Block, Check, Declaration, Text
from tests.by_the_manual.statements import Branch, Statements, guards
from tests.by_the_manual.tokens import Refused
from tests.by_the_manual.values import BOOL, INT, Type, Value, Wrong, beyond, members

OF_FAIR_RUNS = {"leadsto", "eventually", "stable"}
PROPERTIES = {"invariant", "lemma", "reachable", "recoverable", "deadlock", "step", *OF_FAIR_RUNS}
VARIABLES = {"variable", "field", "network"}


def merged(text: Text, variant: str) -> list[Declaration]:
    """The declarations of the protocol or a variant."""
    if variant in {"", text.name}:
        return list(text.declared)
    if variant not in text.variants:
        raise Refused(f"nothing is called {variant}")
    of, changes = text.variants[variant]
    found = merged(text, of)
    for change in changes:
        found = _changed(found, change)
    return found


def _changed(found: list[Declaration], change: Node) -> list[Declaration]:
    match change:
        case ("add", made):
            return [*found, *made]
        case ("replace", (made,)):
            return [made if (each.kind, each.name) == (made.kind, made.name) else each for each in found]
        case ("store", storage, name):
            return [_stored(each, storage) if each.name == name else each for each in found]
        case ("drop", name) if "." not in name:
            return [each for each in found if each.name != name]
        case ("drop", name):
            gone = ("require", name.split(".")[1])
            return _with_guards(found, name, lambda body: tuple([s for s in body if s[:2] != gone]))
        case ("guard", name, test):
            more = (("require", name.split(".")[1], test),)
            return _with_guards(found, name, lambda body: body[: guards(body)] + more + body[guards(body) :])
        case _:
            raise Refused(f"no change: {change[0]}")


def _stored(field: Declaration, storage: str) -> Declaration:
    return replace(field, parts=(*field.parts[:2], storage))


def _with_guards(found: list[Declaration], name: str, change: Callable[[Block], Block]) -> list[Declaration]:
    """The declarations, one action of them with another body."""
    of, made = ("action", name.split(".", maxsplit=1)[0]), []
    for each in found:
        parts = each.parts
        if (each.kind, each.name) == of:
            parts = (replace(each.parts[0], body=change(each.parts[0].body)),)
        made.append(replace(each, parts=parts))
    return made


class Model(Statements):
    """What a check asks about, ready to be asked."""

    def __init__(self, text: Text, check: Check) -> None:
        super().__init__()
        self.scope = check.scope
        self.properties: dict[str, tuple[str, list[Fun]]] = {}
        self._begins: list[tuple[str, Fun]] = []
        self._declared = merged(text, check.of)
        self._named = {each.name: each for each in self._of_kind("type", "sort", "nat")}
        self.functions = {each.name: each.parts for each in self._of_kind("fun")}
        self._constants(check.config)
        for each in self._of_kind(*VARIABLES):
            self._declare(each)
        for each in self._of_kind(*VARIABLES):
            self._begin(each)
        for each in self._of_kind("assume"):
            if not self.value(each.parts[0], Scope())({}):
                raise Refused(f"the check breaks {each.name}")
        self._init = [self.block(each.parts, Scope()) for each in self._of_kind("init")]
        actions = [each.parts[0] for each in self._of_kind("action")]
        for action in [*actions, *(fault for each in self._of_kind("network") for fault in _faults(each))]:
            self.moves[action.name] = self.taken(action)
        for each in self._of_kind(*PROPERTIES):
            self.properties[each.name] = (each.kind, [self.value(part, Scope()) for part in each.parts])
        self.properties |= {name: ("assert", []) for name in self.asserts}
        if check.only:
            self.properties = {name: self.properties[name] for name in check.only}
        for name, (kind, _) in self.properties.items():
            if kind in OF_FAIR_RUNS and None in self.scope.values():
                raise Refused(f"{name} is of fair runs, and a nat has no bound")

    def _of_kind(self, *kinds: str) -> list[Declaration]:
        return [each for each in self._declared if each.kind in kinds]

    def _constants(self, given: dict[str, Node]) -> None:
        """Enters types, and configs with their values."""
        for name in self._named:
            self.types[name] = self.type(("named", name))
            self._enter(self.types[name])
        for each in self._of_kind("config"):
            of = self.type(each.parts[0])
            self._enter(of)
            node = given[each.name] if each.name in given else each.parts[1]
            value = self.value(node, Scope(), of)({})
            self.constants[each.name] = (of, _always(value))

    # -------------------------------------------------------------- types

    def type(self, node: Node) -> Type:
        """A type as written, with the bounds of the check."""
        match node:
            case ("named", "bool"):
                return BOOL
            case ("named", "int"):
                return INT
            case ("named", name) if name in self.types:
                return self.types[name]
            case ("named", name) if name in self._named:
                each = self._named[name]
                return self.type(each.parts) if each.kind == "type" else (each.kind, name, self.scope[name])
            case ("named", name) if name in self.cases:
                return ("case", *self.cases[name])
            case ("option" | "map" | "tuple" as kind, *parts):
                return (kind, *map(self.type, parts))
            case ("set" | "bag" | "seq" as kind, inner, None):
                return (kind, self.type(inner), None)
            case ("set" | "bag" | "seq" as kind, inner, limit):
                by_number = isinstance(limit, int)
                return (kind, self.type(inner), (limit, False) if by_number else (self._size(limit), True))
            case ("record", name, fields):
                return ("record", name, self._typed(fields))
            case ("union", name, cases):
                return ("union", name, tuple((case, self._typed(fields)) for case, fields in cases))
            case ("range" | "enum", *_):
                return node
            case _:
                raise Refused(f"no type: {node}")

    def _size(self, nat: str) -> int:
        most = self.scope[nat]
        if most is None:
            raise Refused(f"a size up to {nat}, which has no bound")
        return most

    def _typed(self, fields: Node) -> Node:
        return tuple((name, self.type(of)) for name, of in fields)

    def _enter(self, of: Type) -> None:
        """Enters the members of enums and the cases of unions by name, also of those inside a type."""
        for name in of[1:] if of[0] == "enum" else ():
            enums = self.enums.setdefault(name, [])
            enums += [] if of in enums else [of]
        for number, (name, _) in enumerate(of[2]) if of[0] == "union" else ():
            self.cases[name] = (of, number)
        for part in of:
            if isinstance(part, tuple) and part:
                self._enter(part)

    # -------------------------------------------------------------- state

    def _declare(self, each: Declaration) -> None:
        """Enters a variable with its type: a field is a map from its sort, a network one to channels."""
        if each.kind == "network":
            keys, mode, inner, _ = each.parts
            of: Type = ({"fifo": "seq"}.get(mode, mode), self.type(inner), (self._size(each.name), True))
            for key in reversed(keys):
                of = ("map", self.type(key), of)
        else:
            of, self.storage[each.name] = self.type(each.parts[0]), each.parts[2]
        if each.kind == "field":
            of = ("map", self.types[each.name.split(".")[0]], of)
        self._enter(of)
        self.variables[each.name] = of

    def _begin(self, each: Declaration) -> None:
        """Compiles the first value of a variable; every member of a sort begins with the same."""
        of = self.variables[each.name]
        if each.kind == "network":
            self._begins.append((each.name, _always(_empty(of))))
        elif each.kind == "variable":
            self._begins.append((each.name, self.value(each.parts[1], Scope(), of)))
        else:
            count, value = of[1][2], self.value(each.parts[1], Scope(), of[2])
            self._begins.append((each.name, lambda env: (value(env),) * count))
            if each.parts[2] == "cached":  # how much of each is flushed
                self._begins.append((f"{each.name}#", _always((0,) * count)))

    def initial(self) -> list[Branch]:
        """The first values, then every end of `init`. Raises Wrong, also for what is beyond the scope."""
        for name, value in self._begins:
            self.first[name] = value({})
            if beyond(self.first[name], self.variables.get(name, INT)):
                raise Wrong("R0601")
        branches = [Branch({STATE: self.first, OLD: {}})]
        for run in self._init:
            branches = [after for each in branches for after in run(each)]
        for each in branches:
            if each.end is not None:
                raise each.end if isinstance(each.end, Wrong) else Wrong("R0601")
        if not branches:
            raise Wrong("R0608")
        return branches


def _always(value: Value) -> Fun:
    return lambda _env: value


def _empty(of: Type) -> Value:
    """No messages in any channel."""
    return (_empty(of[2]),) * len(members(of[1])) if of[0] == "map" else ()


def _faults(each: Declaration) -> list[Action]:
    """The faults of a network, as actions; in a queue they name a message by its offset."""
    keys, mode, _, faults = each.parts
    params: list[Node] = [(f".key{at}", key, None) for at, key in enumerate(keys)]
    net: Node = ("name", each.name)
    for name, *_ in params:
        net = ("index", net, ("name", name))
    one: Node = ("name", ".message")
    if mode != "fifo":
        bodies: dict[str, Node] = {
            "drop": ("method", net, "receive", (("", one),)),
            "duplicate": ("method", net, "send", (("", one),)),
        }
        domains = dict.fromkeys(bodies, net)
    else:
        behind, last = ("+", one, ("number", 1)), ("-", ("call", "size", (("", net),)), ("number", 1))
        before, after = ("upto", net, one), ("from", net, behind)
        bodies = {
            "drop": ("assign", net, ("+", before, after)),
            "duplicate": ("assign", net, ("+", ("upto", net, behind), ("from", net, one))),
            "reorder": ("assign", net, ("+", ("+", ("seq", ("index", net, one)), before), after)),
        }
        domains = {name: ("to", ("number", int(name == "reorder")), last) for name in bodies}
    return [
        Action(
            "fault", f"{each.name}.{name}", "", (*params, (".message", None, domains[name])), (bodies[name],)
        )
        for name in faults
    ]
