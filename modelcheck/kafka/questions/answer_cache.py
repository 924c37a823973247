"""Answers of earlier runs: what a search found, by model and question, so that no search is made twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from counterexamples.itf.read import document
from counterexamples.itf.write import write
from modelcheck.contract.result import Extent, Holds, Outcome, Verdict, Violated
from modelcheck.storage.cache import ANSWERS, Cache, sources
from spec.diagnostics import SpecError
from spec.frozen import frozen
from spec.model.ir import Check, Model, Scope

CODE = (
    "modelcheck.contract",
    "modelcheck.explicit",
    "modelcheck.kafka",
    "modelcheck.search",
    "counterexamples",
    "spec",
)


@frozen
class Found:
    """What a review needs of an outcome: the verdicts, how many states there were, and which limits cut."""

    verdicts: Mapping[str, Verdict]
    states: int
    cut: frozenset[str]


def found(outcome: Outcome) -> Found:
    """What a review needs of an outcome."""
    findings = outcome.findings
    verdicts = {result.property: result.verdict for result in findings.results}
    return Found(verdicts, findings.stats.states, frozenset(findings.stats.cut))


def question(model: Model, asked: Check) -> str:
    """The name under which an answer is kept: the same for equal models and checks, by the same code."""
    parts = (model.name, model.source.text, asked.scope, asked.budget, asked.only, sources(*CODE))
    return hashlib.sha256(repr(parts).encode()).hexdigest() + "-answer"


class Answers:
    """What was found for a `question` up to symmetry, as far as it is final.

    A run that was found is replayed before it is shown again.  What is damaged, or is of
    another version of the code or the model, is as if nothing were kept.  Of a search that
    was cut short it is kept how far it came, so that the next one is given more.
    Raises CannotStart where the answers may be somebody else's.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache(kept=ANSWERS)
        self._cache.insist()

    def get(self, key: str, model: Model, asked: Check) -> Found | None:
        """What was found, if the search came to its end."""
        kept = self._read(key)
        try:
            verdicts = {name: _verdict(model, asked, each) for name, each in kept["verdicts"].items()}
            return Found(verdicts, int(kept["states"]), frozenset(kept["cut"]))
        except (KeyError, TypeError, ValueError, AttributeError, SpecError):
            return None

    def has(self, key: str) -> bool:
        """Whether an answer is kept; it is not read."""
        return "verdicts" in self._read(key)

    def short(self, key: str) -> int:
        """How many states were not enough; 0 where nothing is known."""
        short = self._read(key).get("short")
        return short if isinstance(short, int) else 0

    def keep(self, key: str, outcome: Outcome) -> None:
        """Keep what is final, or how many states were not enough."""
        about = found(outcome)
        verdicts = {name: _kept(verdict) for name, verdict in about.verdicts.items()}
        if outcome.findings.end.partial or None in verdicts.values():
            kept: dict[str, object] = {"short": about.states}
        else:
            kept = {"verdicts": verdicts, "states": about.states, "cut": sorted(about.cut)}
        self._cache.put(key, json.dumps(kept).encode())

    def _read(self, key: str) -> dict[str, Any]:
        data = self._cache.get(key)
        try:
            kept = json.loads(data or b"{}")
        except (ValueError, RecursionError):
            return {}
        return kept if isinstance(kept, dict) else {}


def _kept(verdict: Verdict) -> dict[str, object] | None:
    """A verdict to be kept; None for one that more patience could change, or that has more to it."""
    match verdict:
        case Holds(extent, beyond, None, None, renamed=renamed):
            return {"holds": extent.faults, "beyond": beyond, "renamed": renamed}
        case Violated(extent, trace, True, None) if trace is not None:
            return {"violated": extent.faults, "run": write(trace)}
        case _:
            return None


def _verdict(model: Model, asked: Check, kept: Mapping[str, Any]) -> Verdict:
    """The verdict that was kept. Raises what is caught where it is damaged."""
    kinds = asked.budget.kinds
    if "holds" in kept:
        extent, renamed = Extent(asked.scope, _number(kept["holds"]), kinds), tuple(kept["renamed"])
        return Holds(extent, int(kept["beyond"]), renamed=renamed)
    own = (
        None if asked.scope.unbounded else asked.scope
    )  # a run has bounds of its own where the check has none
    run = document(kept["run"]).replayed(model, own).trace
    if not _is_within(run.scope, asked.scope):
        raise ValueError("the run is of another scope")
    return Violated(Extent(asked.scope, _number(kept["violated"]), kinds), run)


def _is_within(own: Scope, scope: Scope) -> bool:
    """Whether the scope of a run is the same, but for the nats that have no bound."""
    nats = {name: most for name, most in own.nats.items() if name in scope.nats}
    return replace(own, nats=nats, unbounded=scope.unbounded) == scope


def _number(kept: Any) -> int | None:  # noqa: ANN401 - any value in a file
    return None if kept is None else int(kept)
