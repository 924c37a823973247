"""What is known of a text, in the words of the protocol: places, symbols, edits, diagnostics."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping

import lsprotocol.types as lsp

from modelcheck.commands.serve.lsp.marks import TextMark
from spec.diagnostics import Diagnostic
from spec.editing.completion import Completion, Suggestion
from spec.editing.described import about, explained
from spec.editing.manual import manual
from spec.editing.outline import OutlineEntry
from spec.editing.positions import Lines, word_at
from spec.editing.symbols import SymbolKind
from spec.editing.understood import Understood
from spec.source import Span

SOURCE = "modelcheck"
LinesOf = Callable[[str], tuple[str, Lines] | None]  # the address and the text of a file, by its name
SYMBOLS: Mapping[SymbolKind, lsp.SymbolKind] = {
    SymbolKind.PROTOCOL: lsp.SymbolKind.Module,
    SymbolKind.SORT: lsp.SymbolKind.Class,
    SymbolKind.NAT: lsp.SymbolKind.Number,
    SymbolKind.ENUM: lsp.SymbolKind.Enum,
    SymbolKind.MEMBER: lsp.SymbolKind.EnumMember,
    SymbolKind.TYPE: lsp.SymbolKind.Interface,
    SymbolKind.RECORD: lsp.SymbolKind.Struct,
    SymbolKind.UNION: lsp.SymbolKind.Interface,
    SymbolKind.CASE: lsp.SymbolKind.Constructor,
    SymbolKind.FIELD: lsp.SymbolKind.Field,
    SymbolKind.CONFIG: lsp.SymbolKind.Constant,
    SymbolKind.VARIABLE: lsp.SymbolKind.Variable,
    SymbolKind.NETWORK: lsp.SymbolKind.Array,
    SymbolKind.FUNCTION: lsp.SymbolKind.Function,
    SymbolKind.ACTION: lsp.SymbolKind.Method,
    SymbolKind.GUARD: lsp.SymbolKind.Boolean,
    SymbolKind.PROPERTY: lsp.SymbolKind.Property,
    SymbolKind.ASSUMPTION: lsp.SymbolKind.Property,
    SymbolKind.VARIANT: lsp.SymbolKind.Namespace,
    SymbolKind.CHECK: lsp.SymbolKind.Event,
    SymbolKind.LOCAL: lsp.SymbolKind.Variable,
}
ITEMS: Mapping[SymbolKind, lsp.CompletionItemKind] = {
    SymbolKind.SORT: lsp.CompletionItemKind.Class,
    SymbolKind.NAT: lsp.CompletionItemKind.Class,
    SymbolKind.ENUM: lsp.CompletionItemKind.Enum,
    SymbolKind.MEMBER: lsp.CompletionItemKind.EnumMember,
    SymbolKind.RECORD: lsp.CompletionItemKind.Struct,
    SymbolKind.CASE: lsp.CompletionItemKind.Constructor,
    SymbolKind.FIELD: lsp.CompletionItemKind.Field,
    SymbolKind.CONFIG: lsp.CompletionItemKind.Constant,
    SymbolKind.FUNCTION: lsp.CompletionItemKind.Function,
    SymbolKind.ACTION: lsp.CompletionItemKind.Method,
    SymbolKind.PROPERTY: lsp.CompletionItemKind.Property,
    SymbolKind.VARIANT: lsp.CompletionItemKind.Module,
    SymbolKind.PROTOCOL: lsp.CompletionItemKind.Module,
}


def range_of(lines: Lines, span: Span) -> lsp.Range:
    """A span as an LSP range."""
    start, end = (lsp.Position(*lines.position(offset)) for offset in (span.start, span.end))
    return lsp.Range(start, end)


# ------------------------------------------------------------------ diagnostics


def diagnostics(known: Understood, lines: Lines, others: LinesOf) -> Iterator[lsp.Diagnostic]:
    """The mistakes as LSP diagnostics; one in an imported file is at the `import`."""
    for each in known.diagnostics:
        span = known.reported_at(each)
        related = list(_related(known, each, others, is_far=span is None))
        yield lsp.Diagnostic(
            range_of(lines, span if span is not None else _head(known.source.text)),
            _message(each),
            severity=lsp.DiagnosticSeverity.Error,
            code=each.code,
            source=SOURCE,
            related_information=related or None,
        )


def _message(diagnostic: Diagnostic) -> str:
    """The message of a diagnostic with its advice."""
    label = f" ({diagnostic.label})" if diagnostic.label else ""
    help_ = f"\n{diagnostic.help}" if diagnostic.help else ""
    return diagnostic.message + label + help_


def _head(text: str) -> Span:
    """The span of the first word outside comments, for mistakes of the whole document."""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("//"):
            start = at + len(line) - len(line.lstrip())
            return Span(start, max(word_at(text, start).end, start))
        at += len(line)
    return Span(0, 0)


def _related(
    known: Understood, diagnostic: Diagnostic, others: LinesOf, *, is_far: bool
) -> Iterator[lsp.DiagnosticRelatedInformation]:
    """The notes of a diagnostic as related information."""
    places = [(note.source.text, note.source.name, note.span, note.message) for note in diagnostic.notes]
    if is_far and diagnostic.span is not None:
        places.insert(0, (diagnostic.source.text, diagnostic.source.name, diagnostic.span, "here"))
    for text, name, span, message in places:
        file, at = known.place(span) if text == known.whole.text else (name, span)
        found = others(file)
        if found is not None:
            location = lsp.Location(found[0], range_of(found[1], at))
            yield lsp.DiagnosticRelatedInformation(location, message)


def warnings(marks: Iterable[TextMark], lines: Lines) -> Iterator[lsp.Diagnostic]:
    """The unmet expectations as LSP diagnostics."""
    for mark in marks:
        if mark.is_wrong:
            severity = lsp.DiagnosticSeverity.Warning
            yield lsp.Diagnostic(range_of(lines, mark.span), mark.says, severity=severity, source=SOURCE)


# ------------------------------------------------------------------ names


def completions(found: Completion, lines: Lines) -> Iterator[lsp.CompletionItem]:
    """The completions as LSP items, names before keywords."""
    place = range_of(lines, found.span)
    for number, each in enumerate(found.suggestions):
        yield lsp.CompletionItem(
            each.text,
            kind=_item_kind(each),
            detail=each.what.value if isinstance(each.what, SymbolKind) else each.what,
            documentation=_documentation(each, found.known),
            sort_text=f"{number:04}",
            text_edit=lsp.TextEdit(place, each.text),
        )


def _item_kind(each: Suggestion) -> lsp.CompletionItemKind:
    """The LSP kind of a completion."""
    if isinstance(each.what, SymbolKind):
        return ITEMS.get(each.what, lsp.CompletionItemKind.Variable)
    is_function = each.what == "function of the language"
    return lsp.CompletionItemKind.Function if is_function else lsp.CompletionItemKind.Keyword


def _documentation(each: Suggestion, known: Understood | None) -> lsp.MarkupContent | None:
    """The documentation of a completion."""
    if each.symbol is not None and known is not None:
        text = "\n\n".join(about(known, each.symbol))
    else:
        text = "\n\n".join(f"{entry.written}\n\n{entry.says}" for entry in manual().get(each.text, ()))
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text) if text else None


def symbols(entries: Iterable[OutlineEntry], lines: Lines) -> list[lsp.DocumentSymbol]:
    """The declarations as LSP symbols."""
    return [
        lsp.DocumentSymbol(
            each.name,
            SYMBOLS[each.kind],
            range_of(lines, each.whole),
            range_of(lines, each.at),
            detail=each.detail or each.kind.value,
            children=symbols(each.parts, lines),
        )
        for each in entries
    ]


# ------------------------------------------------------------------ texts


def edits(lines: Lines, new: str) -> list[lsp.TextEdit]:
    """The line edits from the document's text to a new one."""
    old, made = lines.text.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, made, autojunk=False)
    return [
        lsp.TextEdit(range_of(lines, Span(starts[a], starts[b])), "".join(made[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def hints(marks: Iterable[TextMark], lines: Lines) -> Iterator[lsp.InlayHint]:
    """The marks as LSP inlay hints."""
    for mark in marks:
        place = lsp.Position(*lines.position(mark.span.end))
        yield lsp.InlayHint(place, mark.sign, tooltip=mark.says, padding_left=True)


def explained_code(code: str) -> lsp.MarkupContent:
    """The explanation of a diagnostic code as LSP markup."""
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, explained(code))
