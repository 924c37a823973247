"""Values with members of a sort renamed, or values of a nat renumbered, wherever these are in them."""

from __future__ import annotations

from collections.abc import Callable

import spec.model.types as t
from spec.model.ir import Value

Renaming = tuple[int, ...]  # the new number of each member, or of each value of a nat
Rename = Callable[[Value, Renaming], Value]


def renamed(of: t.Type, sort: str, value: Value, renaming: Renaming) -> Value:
    """A value of a type, with the members of a sort renamed."""
    rename = rename_of(of, t.Sort(sort))
    return value if rename is None else rename(value, renaming)


def rename_of(of: t.Type, named: t.Sort | t.Nat) -> Rename | None:
    """A function that renames the members of a sort, or the values of a nat, in values of a type.

    It takes a value and the new name of each member; None where values of the type name none.
    """
    match of:
        case t.Sort() | t.Nat():
            return (lambda value, renaming: renaming[value]) if of == named else None
        case t.Option(inner) | t.Set(inner) | t.Bag(inner, _) | t.Seq(inner, _):
            one = rename_of(inner, named)
            return None if one is None else _rename_inside(of, one)
        case t.Map(key, inner):
            return _rename_map(key, rename_of(inner, named), named)
        case t.Record(_, fields):
            return _rename_parts([rename_of(f.type, named) for f in fields])
        case t.Tuple(items):
            return _rename_parts([rename_of(item, named) for item in items])
        case t.Case(_, _, fields):  # a message that an action takes
            return _rename_parts([None, *(rename_of(f.type, named) for f in fields)])
        case t.Union(_, cases):
            return _rename_union([rename_of(each, named) for each in cases])
        case _:
            return None


def _rename_inside(of: t.Type, one: Rename) -> Rename:
    """How the values of an option, set, bag or sequence change with what is in them."""
    match of:
        case t.Option():
            return lambda value, renaming: None if value is None else one(value, renaming)
        case t.Set():
            return lambda value, renaming: frozenset([one(v, renaming) for v in value])
        case t.Bag():
            return lambda value, renaming: frozenset([(one(v, renaming), n) for v, n in value])
        case _:
            return lambda value, renaming: tuple([one(v, renaming) for v in value])


def _rename_map(key: t.Type, one: Rename | None, named: t.Sort | t.Nat) -> Rename | None:
    if key != named:
        return None if one is None else lambda value, renaming: tuple([one(v, renaming) for v in value])

    def rename(value: Value, renaming: Renaming) -> Value:
        moved = [None] * len(value)
        for old, new in enumerate(renaming):
            moved[new] = value[old] if one is None else one(value[old], renaming)
        return tuple(moved)

    return rename


def _rename_parts(parts: list[Rename | None]) -> Rename | None:
    if not any(parts):
        return None
    return lambda value, renaming: tuple(
        [v if one is None else one(v, renaming) for v, one in zip(value, parts, strict=True)]
    )


def _rename_union(cases: list[Rename | None]) -> Rename | None:
    if not any(cases):
        return None

    def rename(value: Value, renaming: Renaming) -> Value:
        one = cases[value[0]]
        return value if one is None else one(value, renaming)

    return rename
