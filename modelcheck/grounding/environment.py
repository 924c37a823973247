"""The context of an expression in a step, with notes of what can go wrong there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from modelcheck.grounding.shapes import Shape
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.frozen import frozen


@dataclass(slots=True)
class Ends:
    """When a step ends early: because it leaves the scope, or because the model makes an error."""

    cut: GroundTerm
    error: GroundTerm


@frozen
class GroundStep:
    """The step that a `step` property speaks of."""

    action: str
    args: tuple[Shape, ...]


@frozen
class GroundEnv:
    """The context of an expression: the state, the bound names, and when it is evaluated at all."""

    state: tuple[Shape, ...]
    slots: dict[int, Shape]
    path: GroundTerm
    ends: Ends
    old: tuple[Shape, ...] | None = None
    step: GroundStep | None = field(default=None)

    def bound(self, slot: int, value: Shape, path: GroundTerm | None = None) -> GroundEnv:
        """The same with a name bound."""
        return replace(self, slots={**self.slots, slot: value}, path=path or self.path)

    def under(self, terms: Terms, test: GroundTerm) -> GroundEnv:
        """The same where a test is true."""
        return replace(self, path=terms.both(self.path, test))

    def error(self, terms: Terms, test: GroundTerm) -> None:
        """Note that it is an error to get here when the test is true, and nothing ended before."""
        if test.constant != 0:
            first = terms.all((self.path, test, terms.no(self.ends.cut)))
            self.ends.error = terms.any((self.ends.error, first))

    def cut(self, terms: Terms, test: GroundTerm) -> None:
        """Note that a step leaves the scope when it gets here, the test is true, and nothing ended before."""
        if test.constant != 0:
            first = terms.all((self.path, test, terms.no(self.ends.error)))
            self.ends.cut = terms.any((self.ends.cut, first))


def of_state(terms: Terms, state: Sequence[Shape]) -> GroundEnv:
    """Where an expression is asked of a state alone."""
    return GroundEnv(tuple(state), {}, terms.true, Ends(terms.false, terms.false))
