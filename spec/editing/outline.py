"""The declarations of a text as a tree, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.editing.symbols import SymbolKind
from spec.frozen import frozen
from spec.source import Span


@frozen
class OutlineEntry:
    """A declaration: its kind, its name with the name's place, its whole span, and its parts."""

    kind: SymbolKind
    name: str
    at: Span
    whole: Span
    detail: str = ""
    parts: tuple[OutlineEntry, ...] = ()


def outline(tree: s.Protocol | s.GoesOn) -> tuple[OutlineEntry, ...]:
    """The declarations of a tree."""
    return tuple(entry for item in tree.items for entry in _entries(item))


def _entries(item: s.VariantItem) -> Iterator[OutlineEntry]:  # noqa: C901 - a dispatch
    """The outline entries of an item."""
    whole = item.span
    match item:
        case s.SortDecl(names):
            yield from (OutlineEntry(SymbolKind.SORT, each.text, each.span, each.span) for each in names)
        case s.NatDecl(names):
            yield from (OutlineEntry(SymbolKind.NAT, each.text, each.span, each.span) for each in names)
        case s.EnumDecl(name, members):
            parts = tuple(
                OutlineEntry(SymbolKind.MEMBER, each.text, each.span, each.span) for each in members
            )
            yield _entry(SymbolKind.ENUM, name, whole, parts=parts)
        case s.TypeDecl(name):
            yield _entry(SymbolKind.TYPE, name, whole)
        case s.RecordDecl(name, fields):
            yield _entry(SymbolKind.RECORD, name, whole, parts=_fields(fields))
        case s.UnionDecl(name, cases):
            parts = tuple(_entry(SymbolKind.CASE, c.name, c.span, parts=_fields(c.fields)) for c in cases)
            yield _entry(SymbolKind.UNION, name, whole, parts=parts)
        case s.ConfigDecl(name):
            yield _entry(SymbolKind.CONFIG, name, whole)
        case s.StateDecl(ghost, fields):
            detail = "ghost" if ghost else ""
            yield from (_entry(SymbolKind.VARIABLE, each.name, each.span, detail) for each in fields)
        case s.ProcessDecl(sort, fields):
            yield _entry(SymbolKind.SORT, sort, whole, "process", _fields(fields))
        case s.NetworkDecl(name):
            yield _entry(SymbolKind.NETWORK, name, whole)
        case s.FunDecl(name):
            yield _entry(SymbolKind.FUNCTION, name, whole)
        case s.ActionDecl(_, kind, name):
            yield _entry(SymbolKind.ACTION, name, whole, kind)
        case s.PropertyDecl(kind, name):
            yield _entry(SymbolKind.PROPERTY, name, whole, kind)
        case s.AssumeDecl(name):
            yield _entry(SymbolKind.ASSUMPTION, name, whole)
        case s.VariantDecl(name, base, items):
            parts = tuple(entry for each in items for entry in _entries(each))
            yield _entry(SymbolKind.VARIANT, name, whole, f"of {base.text}", parts)
        case s.CheckDecl(name, of):
            yield _entry(SymbolKind.CHECK, name, whole, f"of {of.text}" if of else "")
        case s.Replace(inner):
            yield from _entries(inner)
        case s.AddGuard(_, guard):
            yield _entry(SymbolKind.GUARD, guard, whole)
        case s.InitDecl() | s.DisplayDecl() | s.Drop() | s.Restore():
            pass


def _entry(
    kind: SymbolKind, name: se.Ident, whole: Span, detail: str = "", parts: tuple[OutlineEntry, ...] = ()
) -> OutlineEntry:
    """An outline entry."""
    return OutlineEntry(kind, name.text, name.span, whole, detail, parts)


def _fields(fields: Iterable[s.FieldDecl | s.VarDecl]) -> tuple[OutlineEntry, ...]:
    """The outline entries of fields."""
    return tuple(_entry(SymbolKind.FIELD, each.name, each.span) for each in fields)
