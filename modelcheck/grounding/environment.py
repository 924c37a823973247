"""The context of an expression in a step, with notes of what can go wrong there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from modelcheck.grounding.shapes import Shape
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.frozen import frozen


@dataclass(slots=True)
class Ends:
    """The conditions under which a step ends early: by leaving the scope, or by an error of the model."""

    cut: GroundTerm
    error: GroundTerm


@frozen
class GroundStep:
    """The step that a `step` property is evaluated on: its action and arguments."""

    action: str
    args: tuple[Shape, ...]


@frozen
class GroundEnv:
    """The context of an expression: the state, the bound names, and the condition (`path`) to evaluate it."""

    state: tuple[Shape, ...]
    slots: dict[int, Shape]
    path: GroundTerm
    ends: Ends
    old: tuple[Shape, ...] | None = None
    step: GroundStep | None = field(default=None)

    def bound(self, slot: int, value: Shape, path: GroundTerm | None = None) -> GroundEnv:
        """A copy of the context with one more name bound."""
        return replace(self, slots={**self.slots, slot: value}, path=path or self.path)

    def under(self, terms: Terms, test: GroundTerm) -> GroundEnv:
        """A copy of the context whose path condition also requires `test`."""
        return replace(self, path=terms.both(self.path, test))

    def error(self, terms: Terms, test: GroundTerm) -> None:
        """Record an error where the path condition and `test` are true and nothing ended before."""
        if test.constant != 0:
            first = terms.all((self.path, test, terms.no(self.ends.cut)))
            self.ends.error = terms.any((self.ends.error, first))

    def cut(self, terms: Terms, test: GroundTerm) -> None:
        """Record a cut where the path condition and `test` are true and nothing ended before."""
        if test.constant != 0:
            first = terms.all((self.path, test, terms.no(self.ends.error)))
            self.ends.cut = terms.any((self.ends.cut, first))


def of_state(terms: Terms, state: Sequence[Shape]) -> GroundEnv:
    """The context of an expression over a state without a step."""
    return GroundEnv(tuple(state), {}, terms.true, Ends(terms.false, terms.false))
