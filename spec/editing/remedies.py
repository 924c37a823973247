"""What a diagnostic proposes, as a change of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.diagnostics import Diagnostic
from spec.frozen import frozen
from spec.source import Span


@frozen
class QuickFix:
    """A text edit that fixes a diagnostic."""

    says: str
    span: Span
    new: str


def remedies(diagnostic: Diagnostic) -> Iterator[QuickFix]:
    """The edits that fix a diagnostic: the replacement that `did you mean` suggests."""
    span = diagnostic.span
    meant = re.search(r"did you mean `([^`]+)`\?", diagnostic.help)
    if span is None or meant is None:
        return
    text = diagnostic.source.at(span)
    for wrong in (*re.findall(r"`([^`]+)`", diagnostic.message), text):
        places = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", text)]
        if len(places) == 1 and wrong:
            start = span.start + places[0]
            yield QuickFix(f"write `{meant[1]}`", Span(start, start + len(wrong)), meant[1])
            return
