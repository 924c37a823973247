"""What is wrong with an input, as data; rendering it; the batch that is raised.

A diagnostic never prints itself and is never raised alone: passes collect
them, and the caller raises all of them at once as a
`SpecError`.  The registry of codes is `spec/codes.md`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import field

from spec.codes import CodeEntry, codes
from spec.frozen import frozen
from spec.source import Source, Span

WIDTH = 160  # a longer source line is shown in part, round the caret
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that would move or hide others
_CELLS = {"W": 2, "F": 2}  # East Asian wide and full-width characters; any other takes one column


@frozen
class Note:
    """A second place, with a text, that helps to understand a diagnostic."""

    source: Source
    span: Span
    message: str


@frozen
class Diagnostic:
    """A mistake at a place in the input: code, message, label and advice.

    `label` appears next to the caret and usually names a type or a value.
    `span` is None for a mistake of the whole input (an empty file).
    """

    code: str
    source: Source
    span: Span | None
    message: str
    label: str = ""
    help: str = ""
    notes: tuple[Note, ...] = field(default=())

    @property
    def entry(self) -> CodeEntry:
        """The registry's entry for this diagnostic's code."""
        return codes()[self.code]


class SpecError(Exception):
    """Raised for wrong input; `diagnostics` has every mistake in the order of the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        def place(d: Diagnostic) -> tuple[str, int]:
            return (d.source.name, d.span.start if d.span else -1)

        self.diagnostics = tuple(sorted(diagnostics, key=place))
        super().__init__("\n".join(render(d) for d in self.diagnostics))


def mistyped(option: str, text: str, message: str, help_: str = "", code: str = "R0903") -> SpecError:
    """The error about an option's value or an argument, marked as a whole."""
    return SpecError([Diagnostic(code, Source(option, text), Span(0, len(text)), message, help=help_)])


def suggest(name: str, known: Iterable[str], *, near_by: float = 0.6) -> str:
    """The help `did you mean …?` with the nearest known name; empty if none is that similar (0 to 1).

    >>> suggest("Replicas", ["Replica", "Epoch"])
    'did you mean `Replica`?'
    """
    near = nearest(name, known, near_by=near_by)
    return f"did you mean `{near}`?" if near else ""


def nearest(name: str, known: Iterable[str], *, near_by: float = 0.6) -> str:
    """The nearest known name; empty if none is similar by `near_by` (1 is equal).

    >>> nearest("Replicas", ["Replica", "Epoch"])
    'Replica'
    """
    import difflib  # noqa: PLC0415 - where there is a mistake

    others = sorted(set(known) - {name})
    near = [other for other in others if other.casefold() == name.casefold()]
    near += difflib.get_close_matches(name, others, n=1, cutoff=near_by)
    return near[0] if near else ""


def render(diagnostic: Diagnostic, *, level: str = "error") -> str:
    """The text of a diagnostic for people: place, code, message, line, caret, help.

    Starts with `file:line:column:` so that editors can jump there.  `level` is the
    first word: a mistake that does not stop anything is a "warning".
    """
    source, span = diagnostic.source, diagnostic.span
    head = f"{level}[{diagnostic.code}]: {diagnostic.message}"
    if span is None:
        lines = [f"{source.name}: {head}"]
    else:
        lines = [f"{source.at_place(span.start)}: {head}", *_excerpt(source, span, diagnostic.label)]
    for note in diagnostic.notes:
        lines += [f"{note.source.at_place(note.span.start)}: note: {note.message}"]
        lines += _excerpt(note.source, note.span, "")
    if diagnostic.help:
        lines.append(f"  help: {diagnostic.help}")
    return "\n".join(lines)


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic as JSON data."""
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        **_place(diagnostic.source, diagnostic.span),
        "label": diagnostic.label,
        "help": diagnostic.help,
        "notes": [{"message": note.message, **_place(note.source, note.span)} for note in diagnostic.notes],
    }


def _place(source: Source, span: Span | None) -> dict[str, object]:
    """A place as JSON data; only the file if the whole input is meant."""
    if span is None:
        return {"file": source.name}
    name, line, column = source.place(span.start)
    return {"file": name, "line": line, "column": column, "length": span.end - span.start}


def _excerpt(source: Source, span: Span, label: str) -> list[str]:
    """The line that a span starts on, and carets under the span.

    A span that starts at the end of its line, or of the text, has one caret just after it.
    """
    (whole, column), (_, number, _) = source.position(span.start), source.place(span.start)
    text = "".join(_shown(char) for char in source.line(whole))
    start = min(column - 1, len(text))
    end = min(start + span.end - span.start, len(text))
    first = max(0, min(start - WIDTH // 2, len(text) - WIDTH))
    last = min(len(text), first + WIDTH)
    before = ("…" if first > 0 else "") + text[first:start]
    under = text[start : min(end, last)]
    after = text[min(end, last) : last] + ("…" if last < len(text) else "")
    gutter = f"{number:>5} | "
    carets = " " * _cells(before) + "^" * max(1, _cells(under))
    return [
        f"{gutter}{before}{under}{after}",
        f"{'| ':>{len(gutter)}}{carets}" + (f" {label}" if label else ""),
    ]


def _shown(char: str) -> str:
    """The character, or a visible replacement for one that would move or hide text."""
    if char == "\t":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in _HIDDEN else char


def _cells(text: str) -> int:
    """The width of a text in a terminal's columns."""
    return sum(_CELLS.get(unicodedata.east_asian_width(char), 1) for char in text if not _joins(char))


def _joins(char: str) -> bool:
    """Whether a character is drawn over the one before it."""
    return unicodedata.category(char) in {"Mn", "Me"}
