"""What a run shows of a property, where the run itself does not record it."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Example,
    Lasso,
    Trace,
    Trapped,
)
from modelcheck.diagnosis.rerun import ReplayStage, RunPrefix
from spec.model.ir import Property, PropertyKind


def claim(trace: Trace, prop: Property) -> Trace | None:
    """The prefix of a trace that first violates a property, or reaches it; None if none does.

    A run that is to go round for ever does so if its last state is one where it was before.
    """
    stage = ReplayStage(replace(trace, ending=_ending(prop), property=prop.name))
    return stage.replay([RunPrefix(trace.states[0])], enumerate(trace.steps)).run


def _ending(prop: Property) -> Ending:
    """The ending that shows a property."""
    match prop.kind:
        case PropertyKind.INVARIANT | PropertyKind.LEMMA:
            return BadState()
        case PropertyKind.REACHABLE:
            return Example()
        case PropertyKind.STEP:
            return BadStep()
        case PropertyKind.ASSERT:
            return BadAssert()
        case PropertyKind.DEADLOCK_FREE:
            return Deadlocked()
        case PropertyKind.RECOVERABLE:
            return Trapped()
        case PropertyKind.LEADSTO | PropertyKind.ALWAYS_EVENTUALLY | PropertyKind.EVENTUALLY_ALWAYS:
            return Lasso(0)
        case _:
            assert_never(prop.kind)
