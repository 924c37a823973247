"""Answers of earlier runs: what a search found, by model and question, so that no search is made twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from counterexamples.itf.read import document
from counterexamples.itf.write import write
from modelcheck.contract.result import Extent, Holds, Outcome, Verdict, Violated
from modelcheck.storage.cache import ANSWERS, Cache, sources
from spec.diagnostics import SpecError
from spec.frozen import This, frozen
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
    """The parts of an outcome that a review uses: verdicts, number of states, limits that cut steps."""

    verdicts: Mapping[str, Verdict]
    states: int
    cut: frozenset[str]


def found(outcome: Outcome) -> Found:
    """The parts of an outcome that a review uses."""
    findings = outcome.findings
    verdicts = {result.property: result.verdict for result in findings.results}
    return Found(verdicts, findings.stats.states, frozenset(findings.stats.cut))


def question(model: Model, asked: Check) -> str:
    """The cache key of a check of a model: equal for equal models and checks, and the same code."""
    parts = (_model_digest(This(model)), asked.scope, asked.budget, asked.only)
    return hashlib.sha256(repr(parts).encode()).hexdigest() + "-answer"


@lru_cache(maxsize=8)
def _model_digest(model: This[Model]) -> str:
    """The digest of a model's text, and of the code that answers."""
    parts = (model.value.name, model.value.source.text, sources(*CODE))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class Answers:
    """A cache on disk of conclusive results, under symmetry, by `question`.

    A run that was found is replayed before it is shown again.  What is damaged, or is of
    another version of the code or the model, is as if nothing were kept.  Of a search that
    was cut short it is kept how far it came, so that the next one is given more.
    Raises CannotStart where the answers may be somebody else's.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache(kept=ANSWERS)
        self._cache.insist()

    def get(self, key: str, model: Model, asked: Check) -> Found | None:
        """The cached result, if the search was complete."""
        kept = self._read(key)
        try:
            verdicts = {name: _verdict(model, asked, each) for name, each in kept["verdicts"].items()}
            return Found(verdicts, int(kept["states"]), frozenset(kept["cut"]))
        except (KeyError, TypeError, ValueError, AttributeError, SpecError):
            return None

    def has(self, key: str) -> bool:
        """Whether a result is cached, without reading it."""
        return "verdicts" in self._read(key)

    def short(self, key: str) -> int:
        """A number of states that was too small for a search; 0 if unknown."""
        short = self._read(key).get("short")
        return short if isinstance(short, int) else 0

    def keep(self, key: str, outcome: Outcome) -> None:
        """Store a conclusive result, or the number of states that was too small."""
        about = found(outcome)
        verdicts = {name: _kept(verdict) for name, verdict in about.verdicts.items()}
        if outcome.findings.end.partial or None in verdicts.values():
            kept: dict[str, object] = {"short": about.states}
        else:
            kept = {"verdicts": verdicts, "states": about.states, "cut": sorted(about.cut)}
        self._cache.put(key, json.dumps(kept).encode())

    def _read(self, key: str) -> dict[str, Any]:
        """The cached entry of a key; empty if there is none."""
        data = self._cache.get(key)
        try:
            kept = json.loads(data or b"{}")
        except (ValueError, RecursionError):
            return {}
        return kept if isinstance(kept, dict) else {}


def _kept(verdict: Verdict) -> dict[str, object] | None:
    """A verdict as JSON data; None for one that a longer search could change, or with more data."""
    match verdict:
        case Holds(extent, beyond, None, None, renamed=renamed):
            return {"holds": extent.faults, "beyond": beyond, "renamed": renamed}
        case Violated(extent, trace, True, None) if trace is not None:
            return {"violated": extent.faults, "run": write(trace)}
        case _:
            return None


def _verdict(model: Model, asked: Check, kept: Mapping[str, Any]) -> Verdict:
    """The verdict in a cached entry. Raises an error that `get` handles if it is damaged."""
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
    """A cached number, or None."""
    return None if kept is None else int(kept)
