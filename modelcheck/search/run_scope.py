"""The scope of a run that a search without a bound has found."""

from __future__ import annotations

from collections.abc import Iterable

from counterexamples.trace import Ending, Erred, Trapped
from spec.meaning.evaluate import NOT_GREATEST
from spec.meaning.ranks import with_bounds
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope
from spec.model.ordinals import of_runs


def scope_of_run(model: Model, scope: Scope, states: Iterable[State], ending: Ending) -> Scope:
    """The scope with a bound for each nat, in which a run with these states is one of the model.

    It has none where the ending is about the lack of a bound: that `x + 1` is no new value, or that no
    continuation, however long, leads to a state.
    """
    is_open = isinstance(ending, Trapped) or (isinstance(ending, Erred) and ending.code == NOT_GREATEST)
    return of_runs(scope) if is_open and scope.unbounded else with_bounds(model, scope, states)
