"""Places as editors count them: lines and columns in units of an encoding, both from 0."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum
from functools import cached_property

from spec.frozen import frozen
from spec.source import Span, line_starts

_LINE_END = r"\r\n|\n|\r"  # as the Language Server Protocol has them


class Unit(Enum):
    """The unit of columns: UTF-8 bytes, UTF-16 code units, or characters."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@frozen(slots=False)
class Lines:
    """A text with conversions between offsets and editors' line and column.

    A place outside the text, or in the midst of a character, is the nearest one before it that is there.
    """

    text: str
    unit: Unit

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The offset of each line."""
        return line_starts(self.text, _LINE_END)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        return line, self._width(self.text[self._starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column."""
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        content = re.sub(_LINE_END, "", self.text[start:end])
        if self.unit is Unit.UTF32 or content.isascii():
            return start + max(0, min(column, len(content)))
        for index, char in enumerate(content):
            column -= self._width(char)
            if column < 0:
                return start + index
        return start + len(content)

    def _width(self, part: str) -> int:
        """The width of a text in the unit."""
        if self.unit is Unit.UTF32 or part.isascii():
            return len(part)
        if self.unit is Unit.UTF16:
            return sum(2 if char > "\uffff" else 1 for char in part)
        return len(part.encode("utf-8", "surrogatepass"))

    def changed(self, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
        """The text with the part between two positions replaced."""
        first, last = sorted((self.offset(*start), self.offset(*end)))
        return self.text[:first] + new + self.text[last:]


def word_at(text: str, offset: int) -> Span:
    """The span of the word at an offset, or just before it; empty if there is none."""
    start = end = offset
    while start > 0 and _is_in_word(text[start - 1]):
        start -= 1
    while end < len(text) and _is_in_word(text[end]):
        end += 1
    return Span(start, end)


def _is_in_word(char: str) -> bool:
    """Whether a character is part of a word."""
    return char == "_" or (char.isascii() and char.isalnum())
