"""What a model says and another language, or a solver, cannot: every construct by name and place."""

from __future__ import annotations

from collections.abc import Iterable

from spec.frozen import frozen
from spec.source import Span


@frozen
class Refused:
    """A construct that cannot be said there: what it is, and where it stands."""

    what: str
    span: Span


class NotExportable(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Not all of a model can be said; `refused` names every such construct."""

    def __init__(self, refused: Iterable[Refused]) -> None:
        self.refused = tuple(refused)
        super().__init__(", ".join(each.what for each in self.refused))
