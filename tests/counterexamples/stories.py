"""The four runs that a picture must tell well, as the search finds them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.result import Violated
from spec.load import load

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"
STORIES = {  # the model file and the check that finds it, and the property that is broken
    "jepsen": ("kafka", "jepsen", "acknowledged_survive"),
    "kip101": ("kafka", "kip101", "acknowledged_survive"),
    "kip279": ("kafka_log", "kip101_two_fast_elections", "weak_isr"),
    "last-replica": ("kafka", "last_replica_standing", "acknowledged_survive"),
}


@cache
def found(name: str) -> Trace:
    """The run of a story."""
    file, asked, prop = STORIES[name]
    models = load(PROTOCOLS / f"{file}.rsm")
    model, question = next((m, c) for m in models for c in m.checks if c.name == asked)
    results = check(model, question).findings.results
    verdict = next(result.verdict for result in results if result.property == prop)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace
