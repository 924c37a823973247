"""A description, in Markdown, of what a reader points at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import spec.model.ir as ir
import spec.model.types as t
from spec.codes import codes
from spec.editing.manual import manual
from spec.editing.positions import word_at
from spec.editing.sizes import size_words, smallest
from spec.editing.symbols import Symbol, SymbolKind, SymbolTable
from spec.editing.understood import Understood, model_at
from spec.frozen import frozen
from spec.source import Source, Span
from spec.wording import listed

MOST_LINES = 6  # of a declaration that is shown
_VALUES = (SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.CONFIG, SymbolKind.LOCAL)
_TYPES = (
    SymbolKind.SORT,
    SymbolKind.NAT,
    SymbolKind.ENUM,
    SymbolKind.TYPE,
    SymbolKind.RECORD,
    SymbolKind.UNION,
    SymbolKind.CASE,
)


@frozen
class Described:
    """A stretch of the text with its description in Markdown."""

    span: Span
    text: str


def described(known: Understood, names: SymbolTable, offset: int) -> Described | None:
    """The description of the name or word at an offset; None if there is none."""
    parts: list[str] = []
    at = known.start + offset
    found = names.at(at)
    span = found.span if found else _word(known.whole.text, at)
    if found is not None:
        parts.append("\n\n".join(about(known, found.symbol, found.span)))
    elif span is not None:
        parts += _of_language(known.whole.text[span.start : span.end])
    if not parts and span is not None and (of := known.types.get(span)) is not None:
        parts.append(f"`{of}`")
    for each in known.diagnostics:
        place = known.reported_at(each)
        if place is not None and place.start <= offset <= max(place.end, place.start + 1):
            span = span or Span(place.start + known.start, place.end + known.start)
            parts.append(explained(each.code))
    own = known.own(span) if span else None
    return Described(own, "\n\n---\n\n".join(parts)) if own and parts else None


def explained(code: str) -> str:
    """The explanation of a diagnostic code."""
    entry = codes()[code]
    return f"**{entry.code}: {entry.title}**\n\n{entry.text}"


def about(known: Understood, symbol: Symbol, span: Span | None = None) -> Iterator[str]:
    """Paragraphs of Markdown about a symbol: declaration, kind, type with sizes, comment.

    `span` is a place where it is used, since its type there may be narrower than declared.
    """
    file, _ = known.place(symbol.at)
    yield f"```rsm\n{declaration(known, symbol)}\n```"
    yield _kind(symbol) + (f", declared in `{file}`" if file != known.source.name else "")
    if (of := _type(known, symbol, span)) is not None:
        yield f"of type `{of}`{_sizes(known, of, span or symbol.at)}"
    if comment := _comment(known.whole.text, symbol.whole.start or symbol.at.start):
        yield comment


def declaration(known: Understood, symbol: Symbol) -> str:
    """The first lines of a symbol's declaration."""
    whole = symbol.whole if symbol.whole.end else symbol.at
    lines = _dedented(known.whole, whole).splitlines()
    if symbol.kind in {SymbolKind.PROTOCOL, SymbolKind.VARIANT}:
        return f"{symbol.kind.value} {symbol.name}"
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"])


def _dedented(whole: Source, span: Span) -> str:
    """The text of a span without the indentation of its first line."""
    start = whole.text.rfind("\n", 0, span.start) + 1
    line = whole.text[start : span.start]
    indent = len(line) - len(line.lstrip())
    return re.sub(rf"\n[ \t]{{1,{indent}}}", "\n", whole.at(span)) if indent else whole.at(span)


def _kind(symbol: Symbol) -> str:
    """The kind of a symbol in words."""
    return f"{symbol.kind.value} of `{symbol.of}`" if symbol.of else symbol.kind.value


def _type(known: Understood, symbol: Symbol, span: Span | None) -> t.Type | None:
    """The type of a name at a place, which may be narrower than declared."""
    if (
        span is not None
        and span in known.types
        and symbol.kind in {*_VALUES, SymbolKind.FUNCTION, SymbolKind.MEMBER}
    ):
        return known.types[span]
    if symbol.at in known.types:
        return known.types[symbol.at]
    found = (of for model in known.models for of in _types_in(model, symbol))
    return next(found, None)


def _types_in(model: ir.Model, symbol: Symbol) -> Iterator[t.Type]:
    """The type of a declared symbol."""
    match symbol.kind:
        case SymbolKind.VARIABLE | SymbolKind.NETWORK:
            yield from (each.type for each in model.variables if each.name == symbol.name)
        case SymbolKind.CONFIG:
            yield from (each.type for each in model.configs if each.name == symbol.name)
        case SymbolKind.FIELD:
            name = f"{symbol.of}.{symbol.name}"
            for each in model.variables:
                if each.name == name and isinstance(each.type, t.Map):
                    yield each.type.value
            cases = (case for union in model.unions for case in union.cases)
            owners: tuple[t.Record | t.Case, ...] = (*model.records, *cases)
            for of in owners:
                if of.name == symbol.of:
                    yield from (field.type for field in of.fields if field.name == symbol.name)
        case _ if symbol.kind in _TYPES:
            named: tuple[t.Type, ...] = (
                *model.sorts,
                *model.nats,
                *model.enums,
                *model.records,
                *model.unions,
            )
            yield from (of for of in named if str(of) == symbol.name)
        case _:
            return


def _sizes(known: Understood, of: t.Type, span: Span) -> str:
    """The number of values of a type in the checks' scopes, as Markdown."""
    if (
        known.protocol is None
        or (check := smallest(known.models, model_at(known.protocol, span.start))) is None
    ):
        return ""
    try:
        number = size_words(of, check.scope)
    except KeyError:  # the check leaves a bound open, which is reported elsewhere
        return ""
    bounds = {name: len(members) for name, members in check.scope.sorts.items()} | dict(check.scope.nats)
    mentioned = [f"{name} = {bound}" for name, bound in bounds.items() if name in _mentioned(of)]
    within = f" ({listed(mentioned)})" if mentioned else ""
    return f": {number} values in the smallest scope, that of `{check.name}`{within}"


def _mentioned(of: t.Type) -> set[str]:
    """The names of the sorts and nats in a type."""
    every = [*t.walk_type(of)]
    limits = (part.limit for part in every if isinstance(part, t.Set | t.Bag | t.Seq))
    named = {limit.of for limit in limits if limit is not None and isinstance(limit.of, str)}
    return named.union(part.name for part in every if isinstance(part, t.Sort | t.Nat))


def _comment(text: str, offset: int) -> str:
    """The comment above a declaration, or at the end of its line."""
    start = text.rfind("\n", 0, offset) + 1
    lines: list[str] = []
    for line in reversed(text[:start].splitlines()):
        if not line.lstrip().startswith("//"):
            break
        lines.insert(0, line.strip().removeprefix("//").strip())
    if not lines and (behind := re.search(r"//(.*)", text[offset:].partition("\n")[0])):
        lines = [behind[1].strip()]
    return "\n".join(lines)


def _of_language(word: str) -> list[str]:
    """The manual's paragraphs on a keyword."""
    entries = manual().get(word, ())
    return (
        ["\n\n".join(f"{each.written}\n\n{each.says} *({each.chapter})*" for each in entries)]
        if entries
        else []
    )


def _word(text: str, offset: int) -> Span | None:
    """The span of the word at an offset, if there is one."""
    found = word_at(text, offset)
    return found if found.start < found.end else None
