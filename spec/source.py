"""A text with a name, and places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field
from functools import cached_property

from spec.frozen import frozen


@frozen(order=True)
class Span:
    """A part of a text, as character offsets from `start` to `end` (exclusive)."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other.

        >>> Span(3, 5).to(Span(9, 12))
        Span(start=3, end=12)
        """
        return Span(self.start, max(self.end, other.end))


@frozen(slots=False)
class Source:
    """A text with its name, usually a path as given.

    `is_file` is whether its lines have numbers that a reader can look up: not what a server answered.
    """

    name: str
    text: str
    parts: tuple[tuple[int, str], ...] = ()  # where texts of other files begin, and the names of these
    is_file: bool = True

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The offset of each line."""
        return line_starts(self.text)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def place(self, offset: int) -> tuple[str, int, int]:
        """The file of an offset (of several joined), and the line and column in it."""
        line, column = self.position(offset)
        start, name = max((part for part in self.parts if part[0] <= offset), default=(0, self.name))
        return name, line - self.position(start)[0] + 1, column

    def at_line(self, offset: int) -> str:
        """The place as text, without its column: `file:line`, or the name of what is no file."""
        return "{}:{}".format(*self.place(offset)[:2]) if self.is_file else self.name

    def at_place(self, offset: int) -> str:
        """The place as text: `file:line:column`, or the name of what is no file."""
        return "{}:{}:{}".format(*self.place(offset)) if self.is_file else self.name

    def line(self, number: int) -> str:
        """The text of a line, numbered from 1, without its end."""
        start = self._starts[number - 1]
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    def at(self, span: Span) -> str:
        """The text of a span.

        >>> Source("f.rsm", "protocol raft").at(Span(9, 13))
        'raft'
        """
        return self.text[span.start : span.end]


@frozen(kw_only=True)
class Node:
    """The base class of syntax tree nodes: they have a span, which equality ignores."""

    span: Span = field(compare=False, repr=False)


def line_starts(text: str, ends: str = "\n") -> tuple[int, ...]:
    """The offset at which each line of a text starts; `ends` is a regular expression for line ends.

    Costs one pass over the text.
    """
    return (0, *(found.end() for found in re.finditer(ends, text)))
