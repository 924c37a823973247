"""Whether two engines agree on a check: everything that findings promise to be the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

from counterexamples.trace import Erred, Lasso, Trace
from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Engine
from modelcheck.contract.result import Extent, Findings, Holds, Unknown, Verdict, Violated
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Check, Kind, Model
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.renaming import Renaming, rename_of
from spec.model.types import Sort
from spec.model.values import ModelError


@dataclass(frozen=True, slots=True)
class Found:
    """What one engine found: its findings, or the model's error before there was any state."""

    findings: Findings | None
    refused: str = ""

    @property
    def facts(self) -> Mapping[str, object]:
        """All on which engines must agree, by name."""
        if self.findings is None:
            return {"refused": self.refused}
        found, stats = self.findings, self.findings.stats
        facts: dict[str, object] = {
            "end": found.end,
            "states": stats.states,
            "transitions": stats.transitions,
            "levels": stats.levels,
            "layers": stats.layers,
            "taken": dict(stats.taken),
            "cut": dict(stats.cut),
            "unused": stats.unused,
            "unrefused": stats.unrefused,
            "untested": stats.untested,
            "error": None if found.error is None else cost(found.error),
        }
        for result in found.results:
            facts[result.property] = _said(result.verdict)
            facts[f"{result.property} by faults"] = result.by_faults
        return facts


def differences(a: Mapping[str, object], b: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Where two tables of facts differ, and on what."""
    return {name: (a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name)}


def up_to_renaming(model: Model, asked: Check) -> Check:
    """The check without the properties of fair runs, which no engine answers with symmetry."""
    names = [p.name for p in model.properties if asked.only is None or p.name in asked.only]
    only = tuple(name for name in names if model.property(name).kind not in OF_FAIR_RUNS)
    return replace(asked, only=only)


def cost(trace: Trace) -> tuple[int, int]:
    """The faults and steps of a run to an error, the one counted that makes it."""
    faults = {action.name for action in trace.model.actions if action.kind is Kind.FAULT}
    ending = trace.ending
    last = isinstance(ending, Erred) and ending.step is not None and ending.step.action in faults
    return trace.faults + last, len(trace.steps)


def orbits(model: Model, asked: Check, most: int = 2000) -> int | None:
    """How many states can be reached within any budget without faults, up to renamings; None when too many.

    By brute force: a plain search, and every renaming of the members of the symmetric sorts.
    """
    machine = Machine(model, asked.scope)
    actions = [action.name for action in model.actions if action.kind is not Kind.FAULT]
    states = list(machine.initial())
    seen = set(states)
    for state in states:
        for step in machine.steps(state, None, actions):
            if not isinstance(step, CutOff) and step.state not in seen:
                seen.add(step.state)
                states.append(step.state)
        if len(states) > most:
            return None
    return _orbits(machine, seen)


def _orbits(machine: Machine, seen: set[State]) -> int:
    """How many classes states fall into by every renaming of every symmetric sort."""
    model = machine.model
    sorts = symmetric_sorts(model)
    each = [list(permutations(range(len(machine.scope.sorts[name])))) for name in sorts]
    left, count = set(seen), 0
    while left:
        state = left.pop()
        count += 1
        for chosen in product(*each):
            other = state
            for name, renaming in zip(sorts, chosen, strict=True):
                other = _renamed(model, other, name, renaming)
            left.discard(other)
    return count


def _renamed(model: Model, state: State, sort: str, renaming: Renaming) -> State:
    renames = [rename_of(variable.type, Sort(sort)) for variable in model.variables]
    return tuple(v if one is None else one(v, renaming) for v, one in zip(state, renames, strict=True))


def found_by(model: Model, asked: Check, engine: str | Engine, **options: Any) -> Found | None:  # noqa: ANN401
    """What an engine finds, with the options of `check`; None where it cannot say."""
    try:
        found = check(model, asked, engine=engine, with_witnesses=True, **options)
    except Unsupported:
        return None
    except Unmet as unmet:
        return Found(None, str(unmet))
    except ModelError as error:
        return Found(None, error.code)
    return Found(found.findings)


def _said(verdict: Verdict) -> object:
    """What a verdict says, without its run but with its length."""
    match verdict:
        case Holds(extent, beyond, example, vacuous=vacuous, renamed=renamed):
            return (
                "holds, vacuously" if vacuous else "holds",
                _extent(extent),
                (beyond, renamed),
                None if example is None else (example.faults, len(example.steps)),
            )
        case Violated(extent, trace):
            return "violated", _extent(extent), None if trace is None else _length(trace)
        case Unknown(reason, extent):
            # with several errors, which is told depends on the order of the states
            return "unknown", reason.partition(":")[0], None if extent is None else _extent(extent)


def _length(trace: Trace) -> object:
    """The faults and steps of a run; of one without end those to where it stays or goes round for ever."""
    if isinstance(trace.ending, Lasso):
        return trace.faults, trace.ending.loop, trace.ending.loop == len(trace.steps)
    return trace.faults, len(trace.steps)


def _extent(extent: Extent) -> object:
    return extent.faults, None if extent.kinds is None else tuple(extent.kinds.items())
