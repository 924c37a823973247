"""The parts of one line of a model file: pieces of declarations, statements, clauses of checks."""

from __future__ import annotations

from collections.abc import Sequence

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.formatting.documents import Doc, cat, flat, joined
from spec.formatting.expressions import binder, expression, type_
from spec.source import Node

CLAUSES = {
    s.ScopeClause: "scope",
    s.ConfigClause: "config",
    s.FaultsClause: "faults",
    s.RatesClause: "rates",
    s.OnlyClause: "only",
    s.ExpectClause: "expect",
}

Element = (
    s.Item
    | s.VariantItem
    | s.Stmt
    | s.VarDecl
    | s.FieldDecl
    | s.ShownDecl
    | s.CaseDecl
    | s.Clause
    | s.ConfigDefault
    | s.Text
    | se.Ident
)


def dotted(path: Sequence[se.Ident]) -> str:
    """Names joined by dots."""
    return ".".join(name.text for name in path)


def listed(names: Sequence[se.Ident]) -> str:
    """Names joined by commas."""
    return ", ".join(name.text for name in names)


def field_text(node: s.FieldDecl) -> str:
    """A field with its type as text."""
    return f"{node.name.text}: {flat(type_(node.type))}"


def case_text(node: s.CaseDecl) -> str:
    """A case of a union as text."""
    return f"{node.name.text}({', '.join(map(field_text, node.fields))})" if node.fields else node.name.text


def config_line(part: Element, word: str) -> str:
    """A line in the braces of a config entry as text."""
    match part:
        case s.ConfigDefault(version, value):
            return f'default "{version.text}" = {flat(expression(value))}'
        case s.Text(text):
            return f'{word}"{text}"'
        case _:
            raise AssertionError(part)


def definition(
    node: s.PropertyDecl | s.FunDecl | s.AssumeDecl | s.AddGuard | s.AssertStmt,
) -> tuple[str, s.Text | None, str, list[Doc]]:
    """The head, sentence, sign and expressions of an item that an expression defines."""
    match node:
        case s.PropertyDecl("deadlock free", says=says, expr=None):
            return "deadlock free", says, "", []
        case s.PropertyDecl("deadlock free", says=says, expr=Node() as expr):
            return "deadlock free", says, " unless", [expression(expr)]
        case s.PropertyDecl(kind, name, says, expr, goal):
            return f"{kind} {name.text}", says, ":", [expression(e) for e in (expr, goal) if e is not None]
        case s.AssertStmt(name, says, test):
            return f"assert {name.text}", says, ":", [expression(test)]
        case s.AssumeDecl(name, test):
            return f"assume {name.text}", None, ":", [expression(test)]
        case s.AddGuard(action, guard, test):
            return f"require {action.text}.{guard.text}", None, ":", [expression(test)]
        case s.FunDecl(name, params, result, body):
            shown = "" if params is None else f"({', '.join(map(field_text, params))})"
            return f"fun {name.text}{shown}: {flat(type_(result))}", None, " =", [expression(body)]


def one_line(element: Element) -> Doc:
    """The document of an element that is a single, possibly broken, line."""
    match element:
        case s.TypeDecl(name, of):
            return cat(f"type {name.text} = ", type_(of))
        case s.NetworkDecl(name, keys, mode, of, faults):
            channel = f"[{', '.join(flat(type_(key)) for key in keys)}]" if keys else ""
            tail = f" with {listed(faults)}" if faults else ""
            return cat(f"network {name.text}{channel}: {mode.text} of {flat(type_(of))}{tail}")
        case s.Drop(name, guard):
            return cat(f"drop {name.text}" + (f".{guard.text}" if guard else ""))
        case s.Restore(storage, sort, name):
            return cat(f"{storage} {sort.text}.{name.text}")
        case s.Require(_, test):
            return cat("require ", expression(test))
        case s.Do(call):
            return expression(call)
        case s.ChooseStmt(of, where):
            return cat("choose ", binder(of), *([] if where is None else [" where ", expression(where)]))
        case s.AssertStmt(name, None, test):
            return cat(f"assert {name.text}: ", expression(test))
        case s.MemberStmt(verb, of):
            return cat(f"{verb} ", expression(of))
        case _:
            return _clause(element)


def _clause(element: Element) -> Doc:
    """The document of a clause of a check."""
    match element:
        case s.SymmetryClause():
            return cat("symmetry")
        case s.OnlyClause(names):
            parts = [cat(name.text) for name in names]
        case (
            s.ScopeClause(items)
            | s.ConfigClause(items)
            | s.FaultsClause(items)
            | s.RatesClause(items)
            | s.ExpectClause(items)
        ):
            parts = [_clause_item(item) for item in items]
        case _:
            raise AssertionError(element)
    return cat(f"{CLAUSES[type(element)]:<6} ", joined([", "], parts))


def _clause_item(item: object) -> Doc:
    """The document of an item in a clause."""
    match item:
        case s.ScopeItem(name, value, is_exact):
            size = (
                "any" if value is None else str(value) if isinstance(value, int) else f"{{{listed(value)}}}"
            )
            return cat(f"{name.text} = {'exactly ' if is_exact else ''}{size}")
        case s.ConfigItem(name, value):
            return cat(f"{name.text} = ", expression(value))
        case s.FaultItem(kind, most):
            return cat(_fault(kind, most))
        case s.RateItem(action, times, every, unit):
            return cat(f"{action.text} = {times}/{'' if every is None else every}{unit.text}")
        case s.VerdictExpect():
            return cat(_verdict(item))
        case s.CountExpect("taken", se.Ident(action), count, _):
            return cat(f"taken {action} {count}")
        case s.CountExpect(what, _, count, faults):
            return cat(f"{what} {count}" + ("" if faults is None else f" within {_plural(faults, 'fault')}"))
        case _:
            raise AssertionError(item)


def _fault(kind: se.Ident | None, most: int | None) -> str:
    """A limit on faults as text."""
    if kind is None:
        return "any" if most is None else "none" if most == 0 else f"<= {most}"
    return f"{kind.text} any" if most is None else f"{kind.text} <= {most}"


def _verdict(item: s.VerdictExpect) -> str:
    """An expected verdict as text."""
    if item.holds:
        return f"{item.name.text} holds" + (" for any faults" if item.any_faults else "")
    faults = "" if item.faults is None else f" with {_plural(item.faults, 'fault')}"
    steps = "" if item.steps is None else f" in {_plural(item.steps, 'step')}"
    return f"{item.name.text} violated{faults}{steps}"


def _plural(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
