"""Of the runs with the fewest faults one with the mildest: a kill is a kill where nothing speaks for more."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from modelcheck.kafka.incident.explain_log.product import LOSES_DISK, ObservationProduct
from modelcheck.kafka.incident.explain_log.run_search import (
    EXACT,
    REFINED,
    ExplanationLimits,
    ExplanationResult,
    ExplanationSearch,
    OnProgress,
)

GRAVE = (LOSES_DISK, frozenset({"power_loss"}))  # faults that lose what was on a disk, the gravest first


def mildest(
    product: ObservationProduct,
    limits: ExplanationLimits,
    found: ExplanationResult,
    on_progress: OnProgress,
) -> ExplanationResult:
    """A run with as many faults as the one found, without a loss of disk or power if there is such a run.

    The one with the fewest steps may lose power where a kill and one more step explain as much.  Looks at
    `REFINED` points for each kind of fault, and returns what was found where they do not suffice.
    """
    for actions in GRAVE:
        if found.run is None or all(step.action not in actions for step in found.run.steps):
            continue
        without = copy(product)
        without.faults = product.faults - actions
        states = REFINED if limits.states is None else min(REFINED, limits.states)
        asked = replace(limits, states=states, faults=found.faults)
        other = ExplanationSearch(without, asked, on_progress, EXACT).run()
        if other.run is not None:
            product, found = without, replace(other, seen=other.seen + found.seen, least=found.least)
    return found
