"""A model within a scope as data for a page: its types, its parts that are drawn, its own words."""

from __future__ import annotations

from typing import Any, assert_never

import spec.model.ir as ir
import spec.model.types as t
from counterexamples.itf.write import about
from counterexamples.pictures.cast import dated
from counterexamples.pictures.entries import EPOCHS, dates
from counterexamples.pictures.roles import NamedPart, roles
from spec.model.bounds import bound_words
from spec.model.values import members, show
from spec.source import Node

Json = Any


class PageTypes:
    """The types that a page needs, each numbered once."""

    def __init__(self, scope: ir.Scope) -> None:
        self._scope = scope
        self._numbers: dict[t.Type, int] = {}
        self.data: list[Json] = []

    def number(self, of: t.Type) -> int:
        """The number of a type, which is added if it is new."""
        if of not in self._numbers:
            made = self._made(of)
            self._numbers[of] = len(self.data)
            self.data.append(made)
        return self._numbers[of]

    def _made(self, of: t.Type) -> Json:  # noqa: C901 - a dispatch over a union
        """A type as JSON data."""
        match of:
            case t.Bool():
                return {"is": "bool"}
            case t.Int() | t.Range() | t.Nat() | t.UnknownType():
                return {"is": "int", "dates": dates(of)}
            case t.Enum(_, names):
                return {"is": "enum", "names": names}
            case t.Sort(name):
                return {"is": "sort", "name": name, "names": self._scope.sorts[name]}
            case t.Option(inner):
                return {"is": "option", "of": self.number(inner)}
            case t.Record(name, fields):
                return {"is": "record", "name": name, "fields": self._fields(fields)}
            case t.Case(_, name, fields):
                return {"is": "case", "name": name, "fields": self._fields(fields)}
            case t.Union(_, cases):
                return {"is": "union", "cases": [self.number(case) for case in cases]}
            case t.Tuple(items):
                return {"is": "tuple", "items": [self.number(item) for item in items]}
            case t.Seq(inner):
                return {"is": "seq", "of": self.number(inner)}
            case t.Set(inner):
                return {"is": "set", "of": self.number(inner)}
            case t.Bag(inner):
                return {"is": "bag", "of": self.number(inner)}
            case t.Map(key, inner):
                keys = members(key, self._scope)
                return {"is": "map", "key": self.number(key), "keys": keys, "of": self.number(inner)}
            case _:
                assert_never(of)

    def _fields(self, fields: tuple[t.Field, ...]) -> Json:
        """Fields as JSON data."""
        return [[field.name, self.number(field.type)] for field in fields]


def described(model: ir.Model, check: ir.Check, types: PageTypes) -> Json:
    """The model of a check as JSON data for the page: texts, types, and roles in pictures."""
    scope, budget = check.scope, check.budget
    return {
        "model": model.name,
        "check": check.name,
        "says": check.says,
        "scope": [
            *(f"{name} = {len(names)} ({', '.join(names)})" for name, names in scope.sorts.items()),
            *(f"{name} = {limit}" for name, limit in bound_words(scope).items()),
        ],
        "config": [
            f"{entry.name} = {show(entry.type, scope.config[entry.name], scope)}" for entry in model.configs
        ],
        "faults": budget.total,
        "actions": {action.name: _action(model, action) for action in model.actions},
        "properties": [_property(model, check, prop) for prop in model.properties],
        "variables": [_variable(variable, types) for variable in model.variables],
        "cast": _cast(model, scope, types),
        "itf": about(model, scope, check.name, {"property": None, "ending": {"kind": "stops"}}),
    }


def _text(model: ir.Model, node: Node) -> str:
    """The text of a node of the model."""
    return " ".join(model.source.text[node.span.start : node.span.end].split())


def _action(model: ir.Model, action: ir.Action) -> Json:
    """An action as JSON data."""
    guards = {
        index: [part.name, _text(model, part.test)]
        for index, part in enumerate(action.head)
        if isinstance(part, ir.Guard)
    }
    sentence = None if action.says is None else [p if isinstance(p, str) else None for p in action.says]
    return {"kind": action.kind.value, "says": sentence, "guards": guards}


def _property(model: ir.Model, check: ir.Check, prop: ir.Property) -> Json:
    """A property as JSON data."""
    plain = prop.says is not None and all(isinstance(part, str) for part in prop.says)
    says = "".join(map(str, prop.says or ())) if plain else None
    text = None if prop.expr is None else _text(model, prop.expr)
    is_asked = check.only is None or prop.name in check.only
    return {"name": prop.name, "kind": prop.kind.value, "says": says, "text": text, "asked": is_asked}


def _variable(variable: ir.Variable, types: PageTypes) -> Json:
    """A variable as JSON data."""
    owner = variable.owner
    return {
        "name": variable.name,
        "type": types.number(variable.type),
        "owner": owner,
        "ghost": variable.ghost,
        "network": variable.network is not None,
    }


# ------------------------------------------------------------- what is drawn of a state


def _cast(model: ir.Model, scope: ir.Scope, types: PageTypes) -> Json:
    """The parts of the state with roles in pictures, as JSON data."""
    found = roles(model)
    played = {part.variable for part in found.fields.values()}
    switches = [
        index
        for index, variable in enumerate(model.variables)
        if variable.owner is not None
        and variable.type == t.Map(t.Sort(variable.owner), t.BOOL)
        and not (variable.ghost or index in played or (index, "") in found.hidden)
    ]
    return {
        "sorts": [
            {
                "name": sort,
                "members": scope.sorts[sort],
                "fields": {
                    role: _part(p, types)
                    for (owner, role), p in found.fields.items()
                    if owner == sort and (role != "log" or isinstance(p.type, t.Seq))
                },
                "switches": [
                    [index, model.variables[index].name.removeprefix(f"{sort}.")]
                    for index in switches
                    if model.variables[index].owner == sort
                ],
            }
            for sort in found.sorts
        ],
        "whole": {role: _part(part, types) for role, part in found.whole.items()},
        "label": found.label,
        "words": dict(found.words),
        "epochs": EPOCHS,
        "hidden": [[index, name] for index, name in sorted(found.hidden)],
    }


def _part(part: NamedPart, types: PageTypes) -> Json:
    """A part of the state as JSON data."""
    return {
        "name": part.name,
        "dated": dated(part),
        "variable": part.variable,
        "path": part.path,
        "type": types.number(part.type),
    }
