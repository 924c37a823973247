"""Short clauses that are false in one state and true in all reachable ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import spec.model.ir as ir
from modelcheck.asking.lemmas.clauses import Clause, excluding
from modelcheck.asking.lemmas.mixtures import Strength
from modelcheck.asking.lemmas.reached import Reached
from modelcheck.asking.lemmas.valuations import FrameValuations, columns_of
from modelcheck.asking.lemmas.vocabulary import Frame
from spec.frozen import frozen
from spec.meaning.semantics import State

MOST_LITERALS = 4
MOST_CHOICES = 400  # covers of one column that are looked at


@frozen
class ExcludedState:
    """A state of a scope, which is to be excluded."""

    scope: ir.Scope
    state: State


class Learner:
    """Finds clauses of a few frames that exclude a state, the shortest and of these the strongest first."""

    def __init__(
        self,
        model: ir.Model,
        frames: Sequence[Frame],
        found: Sequence[Reached],
        strength: Strength,
        literals: int = MOST_LITERALS,
    ) -> None:
        self._model, self._frames, self._literals, self._strength = model, frames, literals, strength
        self._valuations = FrameValuations(model, found)

    def best(
        self, place: ExcludedState, claims: Sequence[ir.Property], without: Collection[Clause]
    ) -> Clause | None:
        """A short and strong clause that excludes a state and is true in every reachable state known.

        It is none of `without`, and no part of it is true in all of those states.  Of the shortest clauses
        it is the one that excludes the most mixtures in which the claims are true (see `mixtures.py`), then
        the simplest.  None if no clause does.  Costs a search for small covers for each frame.
        """
        self._strength.assume(claims)
        columns = {
            frame: [*columns_of(self._model, place.scope, place.state, frame)] for frame in self._frames
        }
        for literals in range(1, self._literals + 1):
            found: dict[Clause, int] = {}
            for frame in self._frames:
                known = self._valuations.of(frame)
                for column in columns[frame]:
                    sets = [
                        0 if atom.is_rising and value else each
                        for atom, value, each in zip(frame.atoms, column, known.unlike(column), strict=True)
                    ]
                    for chosen in covers(sets, known.all, literals):
                        each = excluding(frame, column, chosen)
                        if each not in without and each not in found:
                            found[each] = self._strength.of(frame, column, chosen)
            if found:
                return max(found, key=lambda each: (found[each], *(-cost for cost in each.cost)))
        return None


def covers(sets: Sequence[int], every: int, size: int, most: int = MOST_CHOICES) -> Iterator[tuple[int, ...]]:
    """The smallest choices of `size` sets that together have every element, none of which can be left out.

    Sets are integers, a bit for each element.  Branches on an element that is in the fewest sets.
    """
    count = 0
    useful = [n for n, each in enumerate(sets) if each]

    def search(missing: int, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not missing:
            yield chosen
            return
        left = size - len(chosen)
        if left == 0:
            return
        if left == 1:
            options = [n for n in useful if not missing & ~sets[n]]
        else:
            element = missing & -missing
            options = [n for n in useful if sets[n] & element]
        for n in options:
            yield from search(missing & ~sets[n], (*chosen, n))

    seen = set[frozenset[int]]()
    for chosen in search(every, ()):
        key = frozenset(chosen)
        if len(key) != size or key in seen:
            continue
        seen.add(key)
        if _is_minimal(sets, every, chosen):
            count += 1
            yield chosen
            if count >= most:
                return


def _is_minimal(sets: Sequence[int], every: int, chosen: Sequence[int]) -> bool:
    """Whether no set of a cover can be left out."""
    for one in chosen:
        rest = 0
        for other in chosen:
            if other != one:
                rest |= sets[other]
        if not every & ~rest:
            return False
    return True
