r"""Java's .properties format, as `java.util.Properties.load` reads it, with places.

Rules from the documentation of java.util.Properties: lines end at \n, \r or
\r\n; a comment starts with `#` or `!`; an odd number of backslashes before
the end of a line continues it, and the next line's leading blanks are dropped;
a key ends at the first unescaped `=`, `:` or blank; blanks at the end of a
value belong to the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.diagnostics import Diagnostic
from spec.frozen import frozen
from spec.source import Source, Span

_LINE = re.compile(r"[ \t\f]*([^\r\n]*)(\r\n|\r|\n|\Z)")
_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*(?:[=:][ \t\f]*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(u)|(.))", re.DOTALL)
_SPECIAL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@frozen
class Entry:
    """A key and its value, unescaped, with the place of each."""

    key: str
    value: str
    key_span: Span
    value_span: Span


@frozen
class Properties:
    """The entries of a .properties text in order, including repeated keys, and its errors."""

    entries: tuple[Entry, ...]
    problems: tuple[Diagnostic, ...] = ()

    def last(self) -> dict[str, str]:
        """The effective entries: for each key the last value, as in Java."""
        return {entry.key: entry.value for entry in self.entries}


@frozen
class _Logical:
    """A logical line (with continuations): its text, and where its pieces are in the source."""

    text: str
    pieces: tuple[tuple[int, int], ...]

    def place(self, index: int) -> int:
        """The index in the source of the character at `index`."""
        if len(self.pieces) == 1:  # nearly every line
            return self.pieces[0][1] + index
        line_start, source_start = next(p for p in reversed(self.pieces) if p[0] <= index)
        return source_start + index - line_start

    def span(self, start: int, end: int) -> Span:
        """The span in the source of a part of the line."""
        if start == end:
            return Span(self.place(start), self.place(start))
        return Span(self.place(start), self.place(end - 1) + 1)


def read_properties(source: Source) -> Properties:
    """The entries of a .properties text with their places.

    Costs time linear in the text.  A malformed Unicode escape, at which Java
    gives up, is a problem (R0709); everything else is some entry.
    """
    entries: list[Entry] = []
    problems: list[Diagnostic] = []
    for logical in _logical_lines(source.text):
        entry, bad = _entry(logical)
        entries.append(entry)
        problems += [_malformed(source, logical.span(i, min(i + 6, len(logical.text)))) for i in bad]
    return Properties(tuple(entries), tuple(problems))


def as_line(key: str, value: str) -> str:
    """A line from which Java reads this key and value."""
    head = "".join(_escaped(char, blanks=True) for char in key)
    start = len(value) - len(value.lstrip(" "))
    tail = "".join(_escaped(char, blanks=i < start) for i, char in enumerate(value))
    return f"{head}={tail}"


def _escaped(char: str, *, blanks: bool) -> str:
    """A character as .properties files escape it."""
    named = {special: letter for letter, special in _SPECIAL.items()}
    if char in named:
        return "\\" + named[char]
    if char in "\\=:#!" or (char == " " and blanks):
        return "\\" + char
    if " " <= char <= "~":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _logical_lines(text: str) -> Iterator[_Logical]:
    """The logical lines of a text, without comments."""
    pieces: list[tuple[int, int]] = []
    parts: list[str] = []
    length = 0
    continued = False
    position = 0
    while position < len(text):
        line = _LINE.match(text, position)
        assert line is not None  # the pattern matches the empty text
        position = line.end()
        body = line[1]
        if not continued and (not body or body[0] in "#!"):
            continue
        continued = (len(body) - len(body.rstrip("\\"))) % 2 == 1
        body = body[:-1] if continued else body
        pieces.append((length, line.start(1)))
        parts.append(body)
        length += len(body)
        if not continued:
            yield from _whole(parts, pieces)
            pieces, parts, length = [], [], 0
    yield from _whole(parts, pieces)


def _whole(parts: list[str], pieces: list[tuple[int, int]]) -> Iterator[_Logical]:
    """The logical line made of these pieces, unless it is blank."""
    if text := "".join(parts):
        yield _Logical(text, tuple(pieces))


def _entry(line: _Logical) -> tuple[Entry, list[int]]:
    """The entry in a line, and the indices of malformed escapes."""
    key = _KEY.match(line.text)
    assert key is not None  # the pattern matches the empty text
    separator = _SEPARATOR.match(line.text, key.end())
    assert separator is not None  # likewise
    start = separator.end()
    bad: list[int] = []
    entry = Entry(
        _unescaped(line.text[: key.end()], 0, bad),
        _unescaped(line.text[start:], start, bad),
        line.span(0, key.end()),
        line.span(start, len(line.text)),
    )
    return entry, bad


def _unescaped(text: str, offset: int, bad: list[int]) -> str:
    """A text with escapes resolved; indices of malformed ones are added to `bad`."""
    if "\\" not in text:
        return text

    def meant(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        if escape[2]:
            bad.append(offset + escape.start())
        return _SPECIAL.get(escape[3] or "", escape[3] or "")

    found = _ESCAPE.sub(meant, text)
    # Java's strings are UTF-16: two escapes may be the halves of one character.
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _malformed(source: Source, span: Span) -> Diagnostic:
    """The error of a malformed escape."""
    return Diagnostic(
        "R0709",
        source,
        span,
        "`\\u` needs four hexadecimal digits",
        help="a backslash itself is written `\\\\`, as in a Windows path",
    )
