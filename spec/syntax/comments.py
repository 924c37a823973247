"""Comments of a text, which the parser skips and the formatter keeps."""

from __future__ import annotations

import re
from collections import deque

from spec.frozen import frozen
from spec.source import Source

_TOKENS = re.compile(r'"[^"\n]*"|//[^\n]*')


def without_comments(text: str) -> str:
    """The text without its comments.

    >>> without_comments('x == 1 // "one"')
    'x == 1 '
    """
    return _TOKENS.sub(lambda found: "" if found[0].startswith("//") else found[0], text)


@frozen
class Comment:
    """A comment: its offset, its text, and whether it is alone on its line."""

    start: int
    text: str
    alone: bool


class Comments:
    """The comments of a text in order; each can be taken once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        found = (m for m in _TOKENS.finditer(source.text) if m.group().startswith("//"))
        self._left = deque(Comment(m.start(), m.group().rstrip(), self._is_alone(m.start())) for m in found)

    def _is_alone(self, start: int) -> bool:
        """Whether a comment is alone on its line."""
        line, column = self._source.position(start)
        return not self._source.line(line)[: column - 1].strip()

    def before(self, offset: int) -> list[Comment]:
        """Take all comments before an offset."""
        taken = []
        while self._left and self._left[0].start < offset:
            taken.append(self._left.popleft())
        return taken

    def behind(self, offset: int, limit: int | None = None) -> Comment | None:
        """Take the comment later on the line of an offset (before `limit`), if any."""
        if not self._left:
            return None
        comment = self._left[0]
        if comment.start < offset or (limit is not None and comment.start >= limit):
            return None
        if comment.alone or "\n" in self._source.text[offset : comment.start]:
            return None
        return self._left.popleft()

    def any_within(self, start: int, end: int) -> bool:
        """Whether a comment not yet taken starts between two offsets."""
        return any(start <= comment.start < end for comment in self._left)
