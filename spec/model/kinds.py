"""The kinds of properties, by what decides one: a state alone, a step, or a whole run."""

from __future__ import annotations

from spec.model.ir import PropertyKind

INVARIANTS = frozenset({PropertyKind.INVARIANT, PropertyKind.LEMMA})  # claimed of every state
OF_STATES = INVARIANTS | {PropertyKind.REACHABLE}
OF_STEPS = frozenset({PropertyKind.STEP, PropertyKind.ASSERT})
OF_FAIR_RUNS = frozenset(
    {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY, PropertyKind.EVENTUALLY_ALWAYS}
)
OF_RUNS = OF_FAIR_RUNS | {PropertyKind.RECOVERABLE}
ASKED_OF_STATES = OF_STATES | OF_RUNS  # whose expressions are evaluated in every state
