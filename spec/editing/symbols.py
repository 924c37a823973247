"""The symbols that a text declares, and the places of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum

from spec.frozen import frozen
from spec.source import Span


class SymbolKind(Enum):
    """The kinds of named things."""

    PROTOCOL = "protocol"
    SORT = "sort"
    NAT = "nat"
    ENUM = "enum"
    MEMBER = "member of an enum"
    TYPE = "type"
    RECORD = "record"
    UNION = "union"
    CASE = "case of a union"
    FIELD = "field"
    CONFIG = "config"
    VARIABLE = "variable"
    NETWORK = "network"
    FUNCTION = "function"
    ACTION = "action"
    GUARD = "guard"
    PROPERTY = "property"
    ASSUMPTION = "assumption"
    VARIANT = "variant"
    CHECK = "check"
    LOCAL = "bound name"


@frozen
class Symbol:
    """A named thing; `at` is its first declaration, `of` what it is part of."""

    kind: SymbolKind
    name: str
    at: Span
    of: str = ""
    whole: Span = field(default=Span(0, 0), compare=False)  # its declaration


@frozen
class Occurrence:
    """A place where a symbol is declared or used."""

    span: Span
    symbol: Symbol
    declares: bool


@frozen
class SymbolTable:
    """Every occurrence of a name in a text, in order."""

    every: tuple[Occurrence, ...]
    scopes: Mapping[str, Mapping[str, Symbol]]  # what may be named everywhere, in each model
    fields: Mapping[str, Mapping[str, Symbol]]  # by the sort, record or case that they are of
    members: Mapping[str, Mapping[str, Symbol]]  # by their enum
    guards: Mapping[str, Mapping[str, Symbol]]  # by their action
    bound: Mapping[int, Mapping[str, Symbol]]  # the names bound at the places that were asked for

    def at(self, offset: int) -> Occurrence | None:
        """The occurrence at an offset, or just before it."""
        touching = (each for each in self.every if each.span.start <= offset <= each.span.end)
        return max(touching, key=lambda each: each.span.start, default=None)

    def of(self, symbol: Symbol) -> tuple[Occurrence, ...]:
        """Every occurrence of a symbol."""
        return tuple(each for each in self.every if each.symbol == symbol)

    def declared(self, symbol: Symbol) -> tuple[Occurrence, ...]:
        """The declarations of a symbol; a variant may declare it again."""
        return tuple(each for each in self.of(symbol) if each.declares)

    def symbols(self) -> Iterator[Symbol]:
        """Every symbol once, in the order of the text."""
        yield from dict.fromkeys(each.symbol for each in self.every if each.declares)
