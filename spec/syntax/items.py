"""The declarations of a text that may not parse, by the keywords that begin lines."""

from __future__ import annotations

import re

from spec.source import Span

MOST_BROKEN = 6  # declarations that are left out, so that the others are known
_ITEM = re.compile(
    r"^(?:sort|nat|enum|type|record|union|config|state|ghost|process|network|init|fun|fair|strong|action|fault"
    r"|repair|invariant|lemma|step|reachable|recoverable|leadsto|always|deadlock|assume|display|variant|check)\b",
    re.MULTILINE,
)
_HEAD = re.compile(r"\s*(?:(?://[^\n]*\n)\s*)*(?:protocol\s+\w+|import\s+(?:\w+|\"[^\"\n]*\"))")


def item_at(text: str, offset: int) -> Span:
    """The span of the declaration at an offset."""
    starts = [found.start() for found in _ITEM.finditer(text)]
    before = [start for start in starts if start <= offset]
    behind = [start for start in starts if start > offset]
    return Span(before[-1] if before else 0, behind[0] if behind else len(text))


def begins_item(text: str, offset: int) -> bool:
    """Whether a declaration begins at an offset."""
    return _ITEM.match(text, offset) is not None


def without_item(text: str, offset: int) -> str:
    """The text with the declaration at an offset blanked; the first line of a model stays."""
    span = item_at(text, offset)
    head = _HEAD.match(text)
    start = max(span.start, head.end() if head else 0)
    return text[:start] + re.sub(r"[^\n]", " ", text[start : span.end]) + text[span.end :]
