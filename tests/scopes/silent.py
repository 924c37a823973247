"""A watcher of searches whose progress is not shown."""

from __future__ import annotations

from modelcheck.contract.report import Event


class Silent:
    """Shows nothing."""

    def begin(self, title: str) -> None:
        """Nothing is shown."""

    def tell(self, event: Event) -> None:
        """Nothing is shown."""
