"""The best run found so far for each property, by faults and then by steps, and when none can be better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from spec.model.ir import Property

Cost = tuple[int, int]  # of a run: its faults, its steps


class Costly(Protocol):
    """A run that decides a property, or that ends in an error of the model."""

    @property
    def cost(self) -> Cost:
        """The cost that runs are compared by: faults, then steps."""
        ...


F = TypeVar("F", bound=Costly)


class Finds(Generic[F]):
    """The best run found for each property, and the best to an error of the model.

    A run with one more fault may be found before a better one; it is kept until
    the search has come so far that nothing better can follow.
    """

    def __init__(self, properties: Iterable[Property], tell: Callable[[str, F], None]) -> None:
        self.best: dict[str, F] = {}
        self.error: F | None = None
        self.names = {prop.name for prop in properties}
        self._tell = tell

    def better(self, name: str, find: F) -> None:
        """Record a find if it is better than the one known for the property."""
        if name not in self.best or find.cost < self.best[name].cost:
            self.best[name] = find
            self._tell(name, find)

    def decided(self, faults: int, depth: int, *, one: bool = False) -> bool:
        """Whether the best run is final for all properties (or `one`), as all shorter ones were searched."""
        reached, enough = (faults, depth), any if one else all
        return enough(name in self.best and self.best[name].cost <= reached for name in self.names)

    def has_erred(self, faults: int, depth: int) -> bool:
        """Whether the best of all runs is one to an error of the model."""
        return self.error is not None and self.error.cost <= (faults, depth)
