"""Lines of text whose pieces have a role: laid out once, then printed plain or in colour."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

ASCII = str.maketrans(
    {
        "→": "->",
        "·": ";",
        "−": "-",
        "×": "x",
        "…": "...",
        "✓": "ok",
        "✗": "x",
        "⚡": "! ",
        "✚": "+",
        "↻": "@",
        "—": "--",
        "★": "*",
        "☆": "?",
        "✕": "x",
    }
)
_MOVES = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that would move the cursor or hide text


class Role(Enum):
    """The kind of a piece of text; its value is the style (in rich's syntax) used with colour."""

    PLAIN = ""
    DIM = "dim"
    STRONG = "bold"
    PLACE = "cyan"
    FAULT = "bold red"
    REPAIR = "green"
    BAD = "bold bright_red"
    GOOD = "bold green"
    UNSURE = "bold yellow"


class Piece(NamedTuple):
    """A piece of text with its role."""

    text: str
    role: Role = Role.PLAIN


Line = tuple[Piece, ...]
BETWEEN = Piece(" · ", Role.DIM)  # between the items of a line


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 step", "10,000 steps".

    >>> count(1, "step"), count(10_000, "step")
    ('1 step', '10,000 steps')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def line(*parts: str | Piece) -> Line:
    """A line from texts and pieces."""
    return tuple(Piece(part) if isinstance(part, str) else part for part in parts)


def plain(lines: Iterable[Line], *, ascii_only: bool = False) -> str:
    """The lines as one text without colour."""
    return "".join(
        clean("".join(piece.text for piece in each), ascii_only=ascii_only).rstrip() + "\n" for each in lines
    )


def one_line(text: str) -> str:
    """The text with white space collapsed to single blanks.

    >>> one_line("a leader   is elected")
    'a leader is elected'
    """
    return " ".join(text.split())


def clean(text: str, *, ascii_only: bool = False) -> str:
    """The text safe to print: no control characters, and on request only ASCII.

    >>> clean("⚡ it crashes", ascii_only=True)
    '!  it crashes'
    """
    if not text.isprintable():
        text = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _MOVES else c for c in text)
    if ascii_only and not text.isascii():
        text = text.translate(ASCII).encode("ascii", "backslashreplace").decode()
    return text


def size(of: Iterable[Piece]) -> int:
    """The number of characters of the pieces."""
    return sum(len(piece.text) for piece in of)


def packed(label: Line, items: Sequence[Line], width: int, between: Piece) -> Iterator[Line]:
    """The items after a label, as many per line as fit; continuation lines are indented."""
    indent = Piece(" " * size(label))
    current: Line = label
    empty = True
    for item in items:
        if not empty and size(current) + len(between.text) + size(item) > width:
            yield current
            current, empty = (indent,), True
        current += item if empty else (between, *item)
        empty = False
    yield current


def wrapped(label: Line, text: str, width: int, role: Role = Role.PLAIN) -> Iterator[Line]:
    """The text after a label, wrapped between words; continuation lines are indented.

    >>> print(plain(wrapped(line("help: "), "write the name of a property", 26)), end="")
    help: write the name of a
          property
    """
    indent = size(label)
    for number, part in enumerate(textwrap.wrap(text, max(20, width - indent)) or [""]):
        yield (*(label if number == 0 else (Piece(" " * indent),)), Piece(part, role))
