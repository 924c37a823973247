"""What another language, or a solver, cannot express: every construct by name and place."""

from __future__ import annotations

from dataclasses import replace

from spec.frozen import frozen
from spec.source import Span


@frozen
class Construct:
    """A construct of a model, with its place if known."""

    what: str
    span: Span | None = None


class Inexpressible(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if a model has constructs that a target language or solver cannot express.

    All are in `constructs`; give a string for one whose place is not known.
    """

    def __init__(self, *constructs: Construct | str) -> None:
        self.constructs = tuple(Construct(each) if isinstance(each, str) else each for each in constructs)
        super().__init__(*self.constructs)

    def __str__(self) -> str:
        return ", ".join(each.what for each in self.constructs)

    def at(self, span: Span) -> Inexpressible:
        """The exception with this place for constructs that have none."""
        return Inexpressible(
            *(replace(each, span=span) if each.span is None else each for each in self.constructs)
        )
