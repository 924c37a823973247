"""For searches of a review whose progress no test looks at."""

from __future__ import annotations

from modelcheck.contract.report import Silent


class Unwatched(Silent):
    """Shows nothing."""

    def begin(self, title: str) -> None:
        """Ignore that a search begins."""
