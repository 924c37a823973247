"""Where the passes over a text put what they find: what is wrong with it, and which types its parts have."""

from __future__ import annotations

import spec.model.types as t
from spec.diagnostics import Diagnostic, Note, SpecError
from spec.source import Source, Span

_SHORT = 30  # characters of a text that is worth repeating


class Problems:
    """Collects the diagnostics of one text, each once."""

    def __init__(self, source: Source, types: dict[Span, t.Type] | None = None) -> None:
        self.source = source
        self.types = types  # of expressions and bound names by their places, where they are asked for
        self.variant: tuple[Span, Span, str] | None = (
            None  # the one looked at: all of it, where it is named, its name
        )
        self.too_large = False  # whether it was reported that an expression is
        self._found: dict[tuple[str, Span], Diagnostic] = {}

    def add(
        self,
        code: str,
        span: Span,
        message: str,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 - the word users see
        notes: tuple[tuple[Span, str], ...] = (),
    ) -> None:
        """Add a diagnostic; one with the same code and place is a duplicate."""
        if self.variant is not None and not self.variant[0].start <= span.start < self.variant[0].end:
            notes = (
                *notes,
                (self.variant[1], f"in the variant `{self.variant[2]}`, which changes this part"),
            )
        others = tuple(Note(self.source, at, what) for at, what in notes)
        found = Diagnostic(code, self.source, span, message, label, help, others)
        self._found.setdefault((code, span), found)

    def ghost(self, span: Span, name: str, message: str) -> None:
        """Add the diagnostic (R0404) that the protocol reads a ghost."""
        help_ = (
            "ghosts are for properties, and for what is assigned to ghosts; if a replica can know it, "
            f"declare `{name.rpartition('.')[2]}` in `state`, or as a field of the process that does"
        )
        self.add("R0404", span, message, help=help_)

    def typed(self, span: Span, of: t.Type) -> None:
        """Record the type of the expression at a span; the last one counts."""
        if self.types is not None and of != t.UNKNOWN:
            self.types[span] = of

    def shown(self, span: Span) -> str:
        """The text of a span, to quote; `…` if it is long."""
        text = self.source.at(span)
        return text if len(text) <= _SHORT and "\n" not in text else "…"

    def __len__(self) -> int:
        return len(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def raise_if_any(self) -> None:
        """Raise SpecError if there are any diagnostics."""
        if self._found:
            raise SpecError(self._found.values())
