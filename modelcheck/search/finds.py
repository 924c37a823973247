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
        """What makes one run better than another: fewer faults, then fewer steps."""
        ...


F = TypeVar("F", bound=Costly)


class Finds(Generic[F]):
    """The best find for each property, and the best of an error.

    A run with one more fault may be found before a better one; it is kept until
    the search has come so far that nothing better can follow.
    """

    def __init__(self, properties: Iterable[Property], tell: Callable[[str, F], None]) -> None:
        self.best: dict[str, F] = {}
        self.error: F | None = None
        self.names = {prop.name for prop in properties}
        self._tell = tell

    def better(self, name: str, find: F) -> None:
        """Take note of a find, if it is better than what was found for the property."""
        if name not in self.best or find.cost < self.best[name].cost:
            self.best[name] = find
            self._tell(name, find)

    def decided(self, faults: int, depth: int, *, one: bool = False) -> bool:
        """Whether no better run can be found for any property (or one), now that shorter ones are known."""
        reached, enough = (faults, depth), any if one else all
        return enough(name in self.best and self.best[name].cost <= reached for name in self.names)

    def has_erred(self, faults: int, depth: int) -> bool:
        """Whether an error of the model is the end of the best run of all."""
        return self.error is not None and self.error.cost <= (faults, depth)
