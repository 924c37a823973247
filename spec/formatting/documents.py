"""Documents that know where they may be broken, laid out within a width.

After Wadler 2003, "A prettier printer".
"""

from __future__ import annotations

from collections.abc import Iterable

from spec.frozen import frozen


@frozen
class TextPiece:
    """A document that is text without a line break."""

    text: str


@frozen
class LineBreak:
    """A document that is a possible line break: `flat` if its group fits on one line."""

    flat: str = " "


@frozen
class Cat:
    """A document that concatenates others."""

    parts: tuple[Doc, ...]


@frozen
class Nest:
    """A document whose lines are indented further."""

    by: int
    of: Doc


@frozen
class Group:
    """A document laid out on one line if that fits, else broken at each of its own line breaks."""

    of: Doc


Doc = TextPiece | LineBreak | Cat | Nest | Group

LINE = LineBreak()
SOFT = LineBreak("")


def cat(*parts: Doc | str) -> Doc:
    """The concatenation of documents and texts."""
    return Cat(tuple(TextPiece(part) if isinstance(part, str) else part for part in parts))


def joined(between: Iterable[Doc | str], parts: Iterable[Doc]) -> Doc:
    """The documents with a separator between each two."""
    made: list[Doc | str] = []
    for part in parts:
        if made:
            made += between
        made.append(part)
    return cat(*made)


def flat(doc: Doc) -> str:
    """The document on one line, of any length."""
    match doc:
        case TextPiece(text) | LineBreak(text):
            return text
        case Cat(parts):
            return "".join(map(flat, parts))
        case Nest(_, of) | Group(of):
            return flat(of)


def layout(doc: Doc, *, width: int, column: int = 0, indent: int = 0) -> str:
    """The document as text, from column `column` on, with further lines indented by `indent`."""
    made: list[str] = []
    todo: list[tuple[int, bool, Doc]] = [(indent, False, doc)]
    while todo:
        at, on_one_line, part = todo.pop()
        match part:
            case TextPiece(text):
                made.append(text)
                column += len(text)
            case LineBreak(text) if on_one_line:
                made.append(text)
                column += len(text)
            case LineBreak():
                made.append("\n" + " " * at)
                column = at
            case Cat(parts):
                todo += [(at, on_one_line, piece) for piece in reversed(parts)]
            case Nest(by, of):
                todo.append((at + by, on_one_line, of))
            case Group(of):
                todo.append((at, on_one_line or _fits(of, width - column, todo), of))
    return "".join(made)


def _fits(doc: Doc, room: int, after: list[tuple[int, bool, Doc]]) -> bool:
    """Whether a group fits on the line, with what follows up to the next possible break."""
    todo: list[tuple[bool, Doc]] = [(not_broken, part) for _, not_broken, part in after[-1:-4:-1]][::-1]
    todo.append((True, doc))
    while todo and room >= 0:
        on_one_line, part = todo.pop()
        match part:
            case TextPiece(text):
                room -= len(text)
            case LineBreak(text) if on_one_line:
                room -= len(text)
            case LineBreak():
                return True
            case Cat(parts):
                todo += [(on_one_line, piece) for piece in reversed(parts)]
            case Nest(_, of):
                todo.append((on_one_line, of))
            case Group(of):
                todo.append((on_one_line, of))
    return room >= 0
