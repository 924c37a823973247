"""A run that a search without a bound has found, as one within bounds."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.certify import NotReplayable, certify
from counterexamples.trace import Erred, Trace, Trapped
from spec.meaning.evaluate import NOT_GREATEST
from spec.meaning.ranks import with_bounds
from spec.model.bounds import of_runs
from spec.model.values import ModelError

DOUBLINGS = 20  # of the room for values that only a step, or a way through `init`, makes


def bounded(trace: Trace) -> Trace:
    """The run in a scope with a bound for each nat, mostly the least that it needs.

    That is the greatest value in its states, and more where a step makes one that it does not keep.  There
    is none where the ending is about the lack of a bound: that `x + 1` is no new value, or that no
    continuation, however long, leads to a state.  Costs a replay.
    """
    scope, ending = trace.scope, trace.ending
    if not scope.unbounded:
        return trace
    if isinstance(ending, Trapped) or (isinstance(ending, Erred) and ending.code == NOT_GREATEST):
        return replace(trace, scope=of_runs(scope))
    own = with_bounds(trace.model, scope, trace.states)
    for more in (0, *(1 << doubling for doubling in range(DOUBLINGS))):
        nats = {name: most + more * (name in scope.unbounded) for name, most in own.nats.items()}
        within = replace(trace, scope=replace(own, nats=nats))
        try:
            return certify(within).trace
        except (NotReplayable, ModelError):
            continue
    return replace(trace, scope=own)  # it is no run of the model, which its own replay will show
