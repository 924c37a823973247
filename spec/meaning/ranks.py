"""States with the values of nats without a bound squeezed: the representatives of those that are alike.

Why a search of such states decides what a search of all would is in `spec/model/ordinals.py`, NOTE(ordinals).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import spec.model.types as t
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope
from spec.model.renaming import Renaming, rename_of
from spec.model.values_in_use import values_in_state


class Ranks:
    """Squeezes states: the values of each nat without a bound become 1, 2 … in their order, 0 stays.

    Costs a look at each value of such a nat, and a copy of the state where they have gaps.
    """

    def __init__(self, model: Model, scope: Scope) -> None:
        types = [variable.type for variable in model.variables]
        self._nats = [
            (values_in_state(types, nat), [rename_of(of, t.Nat(nat)) for of in types])
            for nat in sorted(scope.unbounded)
        ]

    def squeezed(self, state: State) -> State:
        """The representative of the states that are like this one."""
        for in_use, renames in self._nats:
            values = sorted({0, *in_use(state)})
            if values[-1] >= len(values):
                ranks = _ranks(values)
                state = tuple(
                    value if rename is None else rename(value, ranks)
                    for value, rename in zip(state, renames, strict=True)
                )
        return state


def _ranks(values: Sequence[int]) -> Renaming:
    """The rank of each of some ascending values, by the value."""
    ranks = [0] * (values[-1] + 1)
    for rank, value in enumerate(values):
        ranks[value] = rank
    return tuple(ranks)


def with_bounds(model: Model, scope: Scope, states: Iterable[State]) -> Scope:
    """The scope with the least bound that some states fit, for each nat without one."""
    if not scope.unbounded:
        return scope
    types, found = [variable.type for variable in model.variables], list(states)
    most = {}
    for nat in scope.unbounded:
        in_use = values_in_state(types, nat)
        most[nat] = max((number for state in found for number in in_use(state)), default=0)
    given = {**scope.nats, **most}  # in the order of the model, as in a run that is read from a file
    return replace(scope, nats={nat.name: given[nat.name] for nat in model.nats}, unbounded=frozenset())
