"""A syntax error with the text round it, as the rules that explain it look at it, and what they answer."""

from __future__ import annotations

import re

from spec.frozen import frozen
from spec.source import Span

PATH = r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+|\[[^\[\]]*\])*"  # a name with its parts, as in `m[k].x`
_LONGEST = 500  # characters of a line before an error that rules look at: they take the square of it and more
_FAR = 200  # and behind it


@frozen
class SyntaxMistake:
    """The message, advice and place of a syntax error."""

    message: str
    help: str
    at: Span


@frozen
class ErrorPlace:
    """The context of a syntax error."""

    at: Span
    before: str  # the line's text before the error
    here: str  # the text from the error on
    found: str
    expected: frozenset[str]
    above: str  # the whole text before the error, for what is written on several lines

    def before_it(self, found: re.Match[str], group: int) -> Span:
        """The place of a group of a match in the text before, of the same line."""
        line = self.at.start - len(self.before)
        return Span(line + found.start(group), line + found.end(group))

    def from_it(self, start: int, behind: int) -> Span:
        """The place from an offset in the text before, of the same line, to one in the text behind."""
        return Span(self.at.start - len(self.before) + start, self.at.start + behind)

    def says(self, message: str, help_: str) -> SyntaxMistake:
        """The mistake at this place with a message and advice."""
        return SyntaxMistake(message, help_, self.at)


def error_place(text: str, at: Span, found: str, expected: frozenset[str]) -> ErrorPlace:
    """The context of a syntax error; of a long line the part near it."""
    before = text[text.rfind("\n", 0, at.start) + 1 : at.start]
    if len(before) > _LONGEST:
        before = f"…{before[1 - _LONGEST :]}"
    return ErrorPlace(at, before, text[at.start : at.start + _FAR], found, expected, text[: at.start])
